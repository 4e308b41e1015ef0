use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::engine::{EngineArgs, describe};
use crate::prepare::check_new_output;
use crate::program::warn_of_restarts;
use crate::window::Window;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_chess::rng::{Rng, mix};
use patzer_experiments::book::{BookCounts, MakeOptions, Source, make, to_epd, to_pgn};
use patzer_io::number::{counted, grouped};
use patzer_io::{Printable, printable};
use patzer_label::selfplay::start::{Source as StartSource, Starts};
use patzer_match::openings::{Opening, entries};

const EXAMPLES: &str = "Examples:\n  \
    patzer book make --count 5000                              8 random plies, balanced within 50 centipawns\n  \
    patzer book make --random-plies 8 --window 90,140          White is better, as in UHO books\n  \
    patzer book make games.pgn --plies 16 --engine cmd=stockfish --depth 20 --count 1000\n  \
    patzer book make old.epd --window 20     -o balanced.pgn   the balanced lines of a book\n\n\
    Openings with one position, by whatever moves, come once. The same seed gives the same book, whatever the\n\
    concurrency.";

/// Make a book of openings whose scores lie in a window
///
/// Candidates are the openings of files, or random play from the start position; each is scored by an engine, by
/// default by the bundled one with 20,000 nodes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct MakeArgs {
    /// PGN games or EPD books, plain or compressed [default: random play]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Leave the games of a PGN after this many plies [default: 16]
    #[arg(long, value_name = "N", requires = "files", value_parser = clap::value_parser!(u32).range(1..=400))]
    plies: Option<u32>,

    /// Random plies of each opening, one more in half of them
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "files", value_parser = clap::value_parser!(u8).range(1..=100))]
    random_plies: u8,

    /// Begin random play from the start positions of Chess960; play openings of files by its rules
    #[arg(long)]
    chess960: bool,

    /// Scores that openings may have, in centipawns from White's side: CP is -CP,CP
    #[arg(long, value_name = "CP|LOW,HIGH|all", default_value = "50", allow_hyphen_values = true)]
    window: Window,

    /// Let the advantage be of either side: judge by the score without its sign
    #[arg(long)]
    either_side: bool,

    /// Number of openings of the book, at most [default: all of the files that fit, or 1000 of random play]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: Option<u64>,

    /// Seed of the order and of random play
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// File to write: .epd, or .pgn with the moves
    #[arg(short, long, value_name = "FILE", default_value = "book.epd")]
    output: PathBuf,

    #[command(flatten)]
    engine: EngineArgs,
}

const NODES: u64 = 20_000;
const PLIES: u32 = 16;
const RANDOM_COUNT: usize = 1000;

#[derive(Serialize)]
struct Made {
    engine: String,
    #[serde(flatten)]
    counts: BookCounts,
    /// Crashes and hangs of a UCI engine, after which it was started again.
    restarts: u64,
    /// Entries of files that cannot be read.
    bad: usize,
    seconds: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BookCounts { candidates, kept, repeated, below, above, failed } = self.counts;
        let count = |count: usize| grouped(count as u64);
        writeln!(f, "written    {} openings → {}", count(kept), Printable(self.output.display()))?;
        writeln!(f, "engine     {}", printable(&self.engine))?;
        write!(f, "candidates {}: {} repeated", count(candidates), count(repeated))?;
        write!(f, ", {} below and {} above the window", count(below), count(above))?;
        if failed > 0 {
            write!(f, ", {} without a score", count(failed))?;
        }
        if self.bad > 0 {
            write!(f, "\nbad        {} entries that cannot be read", count(self.bad))?;
        }
        write!(f, "\ntime       {:.1} s", self.seconds)
    }
}

pub fn run(args: &MakeArgs, ui: &Ui) -> Result<Status> {
    check_new_output(&args.output, &args.files, "inputs")?;
    let write = form(&args.output)?;
    let participant = args.engine.participant()?;
    let scorer = args.engine.scorer(&participant, NODES)?;
    let (openings, bad) = args.openings(ui)?;
    let random = |number: usize| args.random(number);
    let files = !args.files.is_empty();
    let source = if files { Source::Openings(openings) } else { Source::Random(&random) };
    let count = args.count.map_or(if files { usize::MAX } else { RANDOM_COUNT }, |count| count as usize);
    let options = MakeOptions { window: args.window.0.clone(), either_side: args.either_side, count };
    let total = if count == usize::MAX { 0 } else { count as u64 };
    let (bar, begin) = (ui.progress("judging", total), Instant::now());
    let made = make(source, &options, &scorer, interrupt::flag(), &mut |counts| {
        bar.set_position(counts.kept as u64);
        bar.set_message(format!("{} candidates", counts.candidates));
    });
    bar.finish_and_clear();
    interrupt::check()?;
    let made = made?;
    warn_of_failures(&made.failures, ui);
    warn_of_restarts(&participant, ui);
    if made.openings.is_empty() {
        return Err(Error::input(format!("none of {} candidates is in the window", made.counts.candidates)));
    }
    if made.counts.kept < count && count != usize::MAX {
        ui.warn(format!("only {} openings fit, not {count}", made.counts.kept));
    }
    let mut text = String::new();
    for (number, (opening, score)) in (1..).zip(&made.openings) {
        text += &write(opening, number, *score);
    }
    patzer_io::write(&args.output, text.as_bytes())?;
    ui.result(&Made {
        engine: describe(&scorer),
        counts: made.counts,
        restarts: participant.restarts.count(),
        bad,
        seconds: begin.elapsed().as_secs_f64(),
        output: args.output.clone(),
    })
}

type Form = fn(&Opening, usize, i32) -> String;

fn form(path: &Path) -> Result<Form> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("epd") => Ok(|opening, _, score| to_epd(opening, score)),
        Some("pgn") => Ok(to_pgn),
        _ => Err(Error::data(path, "a book is written as .epd or .pgn")),
    }
}

pub fn warn_of_failures(failures: &BTreeMap<String, u64>, ui: &Ui) {
    for (reason, count) in failures {
        ui.warn(format!("{} without a score: {}", grouped(*count), printable(reason)));
    }
}

impl MakeArgs {
    /// Openings of the files in the order of the seed, and the number of bad entries.
    fn openings(&self, ui: &Ui) -> Result<(Vec<Opening>, usize)> {
        let (mut openings, mut bad, mut short) = (Vec::new(), 0, 0);
        for path in &self.files {
            for entry in entries(path, Some(self.plies.unwrap_or(PLIES)), self.chess960)? {
                match entry.opening {
                    Ok(opening) if self.is_short(&opening) => short += 1,
                    Ok(opening) => openings.push(opening),
                    Err(reason) => {
                        if bad == 0 {
                            ui.warn(format!("{}: {}: {}", path.display(), entry.place, printable(&reason)));
                        }
                        bad += 1;
                    }
                }
            }
        }
        if let (Some(plies), 1..) = (self.plies, short) {
            ui.note(format_args!("{} shorter than {plies} plies are left out", counted(short, "game")));
        }
        Rng::new(self.seed).shuffle(&mut openings);
        Ok((openings, bad))
    }

    /// Tests for a line of moves that ends before the plies asked for.
    fn is_short(&self, opening: &Opening) -> bool {
        let moves = opening.moves.len();
        moves > 0 && self.plies.is_some_and(|plies| moves < plies as usize)
    }

    /// The opening of a number by random play that gives nothing away.
    fn random(&self, number: usize) -> Option<Opening> {
        let source = if self.chess960 { StartSource::Chess960 } else { StartSource::StartPosition };
        let starts = Starts { source, plies: self.random_plies.into(), window: None };
        let mut rng = Rng::new(mix(self.seed, number as u64));
        let start = starts.find(number, &mut rng, &mut |_| Ok(Ok(0)), interrupt::flag()).ok()?;
        start.map(|start| Opening::from_position(start.position))
    }
}
