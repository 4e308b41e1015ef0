//! Results by opening, from the side of the first player of each pair.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use super::openings::Openings;
use super::record::PairEntry;
use super::tally::Tally;
use patzer_stats::{Pentanomial, Trinomial};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpeningTallies {
    counts: BTreeMap<usize, Tally>,
}

impl OpeningTallies {
    pub fn add(&mut self, entry: &PairEntry) {
        self.counts.entry(entry.opening).or_default().add(entry);
    }

    pub fn rows(&self, book: &Openings) -> Vec<OpeningResult> {
        let mut counts = BTreeMap::<usize, Tally>::new();
        for (opening, tally) in &self.counts {
            *counts.entry(opening % book.len().max(1)).or_default() += tally;
        }
        let row = |(&opening, tally): (&usize, &Tally)| {
            let Trinomial { wins, draws, losses } = tally.games;
            let fen = Fen::from_position(&book.get(opening, false), EnPassantMode::Legal).to_string();
            OpeningResult { opening: opening + 1, fen, wins, draws, losses, pentanomial: tally.pairs }
        };
        counts.iter().map(row).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpeningResult {
    pub opening: usize,
    /// After the book is used up, players without a clock start two random moves later.
    pub fen: String,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// LL, LD, WL + DD, WD, WW.
    pub pentanomial: Pentanomial,
}

pub fn write_table(f: &mut fmt::Formatter<'_>, rows: &[OpeningResult]) -> fmt::Result {
    write!(f, "\n\nopenings (number in their order, games, share of the first player, pairs)")?;
    for OpeningResult { opening, fen, wins, draws, losses, pentanomial } in rows {
        let games = Trinomial { wins: *wins, draws: *draws, losses: *losses };
        let (share, pairs) = (100.0 * games.share(), format!("{:?}", pentanomial.0));
        write!(f, "\n{opening:>6} {:>6} {share:>6.1} %  {pairs:<20}  {fen}", games.games())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openings::BookOptions;
    use crate::tally::tests::entry;

    #[test]
    fn an_opening_that_comes_again_is_the_same_one() {
        let book = Openings::load(BookOptions { most: Some(2), ..BookOptions::default() }).unwrap();
        let mut counts = OpeningTallies::default();
        for (pair, half_points) in [(1, [2, 1]), (2, [0, 1]), (3, [2, 2])] {
            counts.add(&entry(pair, [0, 1], half_points));
        }
        let rows = counts.rows(&book);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].opening, rows[0].wins, rows[0].draws, rows[0].losses), (1, 3, 1, 0));
        assert_eq!(rows[1].pentanomial, Pentanomial([0, 1, 0, 0, 0]));
        for (row, opening) in rows.iter().zip([0, 1]) {
            assert_eq!(patzer_chess::fen::position(&row.fen, false).unwrap(), book.get(opening, false));
        }
    }
}
