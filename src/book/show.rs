use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;
use shakmaty::{Chess, Position};

use super::engine::{EngineArgs, describe};
use super::make::warn_of_failures;
use crate::program::warn_of_restarts;
use crate::{Result, Status, Ui, interrupt};
use patzer_experiments::book::score_all;
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_match::openings::{Entry, entries};

/// Show what a book holds: positions, duplicates, plies, scores, and lines that cannot be played
///
/// Scores are those of the bundled engine's static evaluation, or of a search with --nodes, --depth or --engine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer book show UHO_4060_v4.epd.zip\n  \
    patzer book show 8moves_v3.pgn --nodes 5000\n  \
    patzer book show book.epd --engine cmd=stockfish --depth 12 --sample 1000")]
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

    /// Openings to score, evenly spread over the file [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,

    #[command(flatten)]
    engine: EngineArgs,
}

/// Bad entries that are printed; --json has all.
const NAMED: usize = 10;
/// Width of a bar of the distribution, in centipawns.
const BIN: i32 = 25;
/// Where the first and the last bar begin, in centipawns; they hold all beyond.
const ENDS: i32 = 400;

#[derive(Serialize)]
struct BadEntry {
    place: String,
    reason: String,
}

#[derive(Serialize)]
struct Shown {
    #[serde(serialize_with = "patzer_io::path_text")]
    file: PathBuf,
    entries: usize,
    positions: usize,
    duplicates: usize,
    bad: Vec<BadEntry>,
    /// Share of the positions with White to move.
    white_to_move: f64,
    /// Positions by plies from the start of the game, where the entries say.
    plies: BTreeMap<u32, u64>,
    engine: String,
    scored: usize,
    failed: u64,
    /// Crashes and hangs of a UCI engine, after which it was started again.
    restarts: u64,
    /// Scores from White's side at these percentages of the scored positions.
    percentiles: BTreeMap<u8, i32>,
    /// Scored positions by centipawns, from each number on, 25 wide; the first and the last bar hold all beyond.
    scores: BTreeMap<i32, u64>,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |count: usize| grouped(count as u64);
        write!(f, "positions  {} of {} entries", count(self.positions), count(self.entries))?;
        writeln!(f, ", {} duplicates, {} bad", count(self.duplicates), count(self.bad.len()))?;
        for BadEntry { place, reason } in self.bad.iter().take(NAMED) {
            writeln!(f, "           {place}: {}", printable(reason))?;
        }
        if self.bad.len() > NAMED {
            writeln!(f, "           and {} more", count(self.bad.len() - NAMED))?;
        }
        writeln!(f, "to move    White in {:.1} %", 100.0 * self.white_to_move)?;
        if !self.plies.is_empty() {
            let plies: Vec<String> =
                self.plies.iter().map(|(plies, count)| format!("{plies}: {}", grouped(*count))).collect();
            writeln!(f, "plies      {}", plies.join(", "))?;
        }
        writeln!(f, "scores     {} by {}", count(self.scored), printable(&self.engine))?;
        if self.failed > 0 {
            writeln!(f, "           {} without a score", grouped(self.failed))?;
        }
        let percentiles: Vec<String> =
            self.percentiles.iter().map(|(share, score)| format!("{share} %: {score:+}")).collect();
        write!(f, "           {} centipawns for White", percentiles.join(", "))?;
        let most = self.scores.values().copied().max().unwrap_or(1);
        for (from, count) in &self.scores {
            let width = (40 * count).div_ceil(most) as usize;
            let from = match *from {
                least if least == -ENDS => format!("<{:+}", least + BIN),
                ENDS => format!("≥{ENDS:+}"),
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
    let (mut positions, mut bad, mut plies) = (Vec::<Chess>::new(), Vec::new(), BTreeMap::new());
    let entries = read.len();
    for Entry { place, opening, plies: after } in read {
        match opening {
            Ok(opening) => {
                positions.push(opening.position);
                after.into_iter().for_each(|plies_of| *plies.entry(plies_of).or_default() += 1);
            }
            Err(reason) => bad.push(BadEntry { place, reason }),
        }
    }
    let duplicates = positions.len() - positions.iter().collect::<HashSet<_>>().len();
    let white = positions.iter().filter(|position| position.turn().is_white()).count();
    let sample = args.sample.map_or(positions.len(), |sample| positions.len().min(sample as usize));
    let item = |number: usize| Some(((), positions[number * positions.len() / sample.max(1)].clone()));
    let (mut scores, mut failures) = (Vec::with_capacity(sample), BTreeMap::<String, u64>::new());
    ui.with_progress("scoring", sample as u64, |bar| {
        score_all(&scorer, 0..sample, &item, interrupt::flag(), &mut |scored| {
            bar.inc(1);
            match scored.score {
                Ok(score) => scores.push(score),
                Err(reason) => *failures.entry(reason).or_default() += 1,
            }
            Ok(ControlFlow::Continue(()))
        })
    })?;
    interrupt::check()?;
    warn_of_failures(&failures, ui);
    warn_of_restarts(&participant, ui);
    scores.sort_unstable();
    let mut bins = BTreeMap::new();
    for score in &scores {
        let from = score.div_euclid(BIN) * BIN;
        *bins.entry(from.clamp(-ENDS, ENDS)).or_default() += 1;
    }
    let at = |share: u8| {
        let place = (scores.len().saturating_sub(1)) * usize::from(share) / 100;
        scores.get(place).map(|score| (share, *score))
    };
    ui.result(&Shown {
        file: args.file.clone(),
        entries,
        positions: positions.len(),
        duplicates,
        bad,
        white_to_move: white as f64 / positions.len().max(1) as f64,
        plies,
        engine: describe(&scorer),
        scored: scores.len(),
        failed: failures.values().sum(),
        restarts: participant.restarts.count(),
        percentiles: [0, 5, 25, 50, 75, 95, 100].into_iter().filter_map(at).collect(),
        scores: bins,
    })
}
