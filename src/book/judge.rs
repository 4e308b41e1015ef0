use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Result, Status, Ui};
use patzer_experiments::book::{BookScores, OpeningScore, score_games};
use patzer_io::number::{counted, grouped};
use patzer_io::printable;
use patzer_stats::with_error;

/// Judge openings by games: draws, White's share, decided pairs, and how fast a test from them is
///
/// Openings are the positions of the tag FEN, or the moves that a runner marked as `book`. Normalised Elo is of the
/// stronger player of each pairing; a test's length goes with its inverse square. Several files are compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer book judge sprt.pgn\n  \
    patzer book judge with-uho.pgn with-8moves.pgn     which book tests fastest?\n  \
    patzer book judge match.pgn --plies 4 --count 50     by the first four plies")]
pub struct JudgeArgs {
    /// PGN of matches, plain or compressed, a file a book
    #[arg(value_name = "GAMES", required = true)]
    games: Vec<PathBuf>,

    /// Take the position after this many plies as the opening
    #[arg(long, value_name = "N")]
    plies: Option<u32>,

    /// Number of openings of the table, in the order of their normalised Elo; --json has all
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
}

#[derive(Serialize)]
struct BookComparison {
    books: Vec<BookScores>,
    #[serde(skip)]
    count: usize,
}

fn write_row(f: &mut fmt::Formatter<'_>, name: &str, score: &OpeningScore) -> fmt::Result {
    let nelo = match (score.nelo, score.nelo_error) {
        (Some(nelo), Some(error)) => with_error(nelo, error, 1),
        _ => "–".to_string(),
    };
    let efficiency =
        score.efficiency.map_or_else(|| "–".to_string(), |efficiency| format!("{efficiency:.2}"));
    let OpeningScore { games, draw_rate, white_share, decided, .. } = score;
    write!(
        f,
        "\n{games:>7} {:>6.1} % {:>6.1} % {:>6.1} %  {nelo:>16} {efficiency:>10}  {}",
        100.0 * draw_rate,
        100.0 * white_share,
        100.0 * decided,
        printable(name)
    )
}

const HEAD: &str = "  games    draws    White  decided   normalised Elo efficiency";

impl fmt::Display for BookComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HEAD}  book")?;
        for book in &self.books {
            write_row(f, &book.file, &book.all)?;
        }
        for book in &self.books {
            if let Some(pairs) = book.pairs_to_tell {
                let file = printable(&book.file);
                write!(
                    f,
                    "\n{file}: the players' difference passes its 95 % error after {}",
                    counted(pairs.ceil() as u64, "pair")
                )?;
            }
        }
        for book in &self.books {
            let (file, count) = (printable(&book.file), book.openings.len());
            write!(f, "\n\n{file}: {}", counted(count as u64, "opening"))?;
            for (count, what) in [
                (book.unpaired, "games without their other colour"),
                (book.unfinished, "games without a result"),
            ] {
                if count > 0 {
                    write!(f, ", {} {what}", grouped(count))?;
                }
            }
            write!(f, "\n{HEAD}  opening")?;
            for score in book.openings.iter().take(self.count) {
                write_row(f, &score.opening, score)?;
            }
            if count > self.count {
                write!(f, "\n        … {} more", grouped((count - self.count) as u64))?;
            }
        }
        Ok(())
    }
}

pub fn run(args: &JudgeArgs, ui: &Ui) -> Result<Status> {
    let scored = |path: &PathBuf| score_games(path, args.plies);
    let books: Vec<BookScores> = args.games.iter().map(scored).collect::<Result<_>>()?;
    // All openings of one pair alone have no normalised Elo.
    if books.iter().any(|book| book.openings.iter().all(|opening| opening.nelo.is_none())) {
        ui.note("an opening's normalised Elo needs two pairs of games at least");
    }
    ui.result(&BookComparison { books, count: args.count })
}
