//! Elo of generation on generation: the tests of a file against its predecessor, added up.

use std::fmt;

use serde::Serialize;

use super::{Book, Entry};
use patzer_io::printable;
use patzer_stats::with_error;

/// A test of one file against the one before it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link {
    /// Identity of the test.
    pub id: String,
    /// Begin of the test.
    pub time: String,
    /// Name of the file as a player.
    pub player: String,
    /// Name of its predecessor.
    pub opponent: String,
    /// Elo over the predecessor.
    pub elo: f64,
    /// Half the width of the 95 % interval.
    pub error: f64,
    /// Elo over the first generation.
    pub sum: f64,
    /// Half the width of its 95 % interval: the root of the sum of the squares.
    pub sum_error: f64,
}

/// The tests of a chain, the first generation's first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chain {
    /// Tests, each of the opponent that the one before had as its player.
    pub links: Vec<Link>,
}

/// The last test of two in which a player of this digest came first, with its Elo and error.
fn last_test<'a>(book: &'a Book, digest: &str) -> Option<(&'a Entry, f64, f64)> {
    let of = |entry: &'a Entry| {
        let result = entry.results.first()?;
        let first = entry.players.len() == 2 && entry.players[0].digest == digest;
        // A test that was stopped has an estimate free of the stopping.
        let adjusted = result["adjusted"]["elo"].as_f64().map(|elo| {
            let ends = ["low", "high"].map(|end| result["adjusted"][end].as_f64().unwrap_or(f64::NAN));
            (elo, (ends[1] - ends[0]) / 2.0)
        });
        let plain = || Some((result["elo"].as_f64()?, result["elo_error"].as_f64().unwrap_or(f64::INFINITY)));
        let (elo, error) = adjusted.filter(|(_, error)| error.is_finite()).or_else(plain)?;
        first.then_some((entry, elo, error))
    };
    book.entries.iter().rev().find_map(of)
}

/// Follows a file by its digest from test to test, each against its predecessor.
pub fn chain(book: &Book, digest: &str) -> Chain {
    let (mut links, mut seen, mut now) = (Vec::new(), Vec::new(), digest.to_string());
    while let Some((entry, elo, error)) = last_test(book, &now).filter(|_| !seen.contains(&now)) {
        let [player, opponent] = [0, 1].map(|at| entry.players[at].name.clone());
        let (id, time) = (entry.id.clone(), entry.time.clone());
        links.push(Link { id, time, player, opponent, elo, error, sum: 0.0, sum_error: 0.0 });
        seen.push(std::mem::replace(&mut now, entry.players[1].digest.clone()));
    }
    links.reverse();
    let (mut sum, mut squares) = (0.0, 0.0);
    for link in &mut links {
        sum += link.elo;
        squares += link.error * link.error;
        (link.sum, link.sum_error) = (sum, squares.sqrt());
    }
    Chain { links }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.links.first() else {
            return f.write_str("no test in the book has it as the first player");
        };
        write!(f, "{}", printable(&first.opponent))?;
        for link in &self.links {
            let (own, sum) = (with_error(link.elo, link.error, 1), with_error(link.sum, link.sum_error, 1));
            write!(
                f,
                "\n{}  {own} over {}, {sum} in all  ({})",
                printable(&link.player),
                printable(&link.opponent),
                link.id
            )?;
        }
        Ok(())
    }
}
