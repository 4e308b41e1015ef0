use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::engine::{EngineArgs, describe};
use super::make::warn_of_failures;
use crate::program::warn_of_restarts;
use crate::{Result, Status, Ui, interrupt};
use patzer_experiments::book::{BadEntry, BookSurvey, SCORE_BIN, SCORE_ENDS, survey};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_match::openings::entries;

/// Show what a book holds: positions, duplicates, plies, scores, and lines that cannot be played
///
/// Scores are those of the bundled engine's static evaluation, or of a search with --nodes, --depth or --engine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer book show UHO_4060_v4.epd.zip\n  \
    patzer book show 8moves_v3.pgn --nodes 5000\n  \
    patzer book show book.epd --engine cmd=stockfish --depth 12 --count 1000")]
pub struct ShowArgs {
    /// EPD or PGN, plain, compressed or in a ZIP archive
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Leave the games of a PGN after this many plies [default: at their end]
    #[arg(long, value_name = "N")]
    plies: Option<u32>,

    /// Apply the castling rules of Chess960; a book that needs them is recognised without this
    #[arg(long)]
    chess960: bool,

    /// Number of openings to score, evenly spread over the file [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    #[command(flatten)]
    engine: EngineArgs,
}

/// Bad entries that are printed; --json has all.
const NAMED: usize = 10;

#[derive(Serialize)]
struct Shown {
    #[serde(serialize_with = "patzer_io::path_text")]
    file: PathBuf,
    #[serde(flatten)]
    survey: BookSurvey,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let survey = &self.survey;
        let count = |count: usize| grouped(count as u64);
        write!(f, "positions  {} of {} entries", count(survey.positions), count(survey.entries))?;
        writeln!(f, ", {} duplicates, {} bad", count(survey.duplicates), count(survey.bad.len()))?;
        for BadEntry { place, reason } in survey.bad.iter().take(NAMED) {
            writeln!(f, "           {place}: {}", printable(reason))?;
        }
        if survey.bad.len() > NAMED {
            writeln!(f, "           and {} more", count(survey.bad.len() - NAMED))?;
        }
        writeln!(f, "to move    White in {:.1} %", 100.0 * survey.white_to_move)?;
        if !survey.plies.is_empty() {
            let plies: Vec<String> =
                survey.plies.iter().map(|(plies, count)| format!("{plies}: {}", grouped(*count))).collect();
            writeln!(f, "plies      {}", plies.join(", "))?;
        }
        writeln!(f, "scores     {} by {}", count(survey.scored), printable(&survey.engine))?;
        if survey.failed > 0 {
            writeln!(f, "           {} without a score", grouped(survey.failed))?;
        }
        let percentiles: Vec<String> =
            survey.percentiles.iter().map(|(share, score)| format!("{share} %: {score:+}")).collect();
        write!(f, "           {} centipawns for White", percentiles.join(", "))?;
        let most = survey.scores.values().copied().max().unwrap_or(1);
        for (from, count) in &survey.scores {
            let width = (40 * count).div_ceil(most) as usize;
            let from = match *from {
                least if least == -SCORE_ENDS => format!("<{:+}", least + SCORE_BIN),
                SCORE_ENDS => format!("≥{SCORE_ENDS:+}"),
                from => format!("{from:+}"),
            };
            write!(f, "\n{from:>9}  {:>9}  {}", grouped(*count), "█".repeat(width))?;
        }
        Ok(())
    }
}

pub fn run(args: &ShowArgs, ui: &Ui) -> Result<Status> {
    let read = entries(&args.file, args.plies, args.chess960)?;
    let participant = args.engine.participant()?;
    let scorer = args.engine.scorer(&participant, 0)?;
    let (mut survey, positions) = survey(read);
    survey.engine = describe(&scorer);
    let sample = args.count.map_or(positions.len(), |sample| positions.len().min(sample as usize));
    ui.with_progress("scoring", sample as u64, |bar| {
        survey.score(&positions, sample, &scorer, interrupt::flag(), &mut || bar.inc(1))
    })?;
    interrupt::check()?;
    warn_of_failures(&survey.failures, ui);
    warn_of_restarts(&participant, ui);
    ui.result(&Shown { file: args.file.clone(), survey })
}
