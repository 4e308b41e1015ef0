use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::program::{NamedProgram, PositionLimitArgs, ProgramArgs, warn_of_restarts};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_experiments::puzzles::{Puzzle, PuzzleScore, SuiteScore, read, solve_by_program, solve_suite};
use patzer_io::number::{counted, grouped};
use patzer_io::printable;
use patzer_stats::interval::exact_proportion;

/// Measure how often an engine finds the right move
///
/// Reads Lichess puzzles (CSV with `FEN` and `Moves`, the first move is the opponent's) or EPD with `bm` or `am`,
/// plain or compressed. Every move of the solver is searched; a mate is right whether or not it is the solution's.
/// Suites that give points to moves, as STS does with `c0 "f5=100, Bf2=46"`, are counted in points, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer puzzles lichess_db_puzzle.csv.zst --count 1000\n  \
    patzer puzzles puzzles.csv --eval new.nnue --nodes 20000\n  \
    patzer puzzles wac.epd --engine ./myengine --movetime 1000\n  \
    patzer puzzles sts.epd --engine \"cmd=./myengine option.Threads=1\" --nodes 100000 --json")]
pub struct PuzzlesArgs {
    /// Files of puzzles
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL", conflicts_with = "engine")]
    eval: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,

    #[command(flatten)]
    limits: PositionLimitArgs,

    /// Transposition table of each search of the bundled engine, MiB [default: 4, with --movetime 64]
    #[arg(long, value_name = "MIB", conflicts_with = "engine", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: Option<u32>,

    /// Number of puzzles to take, the first ones [default: all]
    #[arg(long, value_name = "N")]
    count: Option<usize>,
}

#[derive(Serialize)]
struct PuzzlesResult {
    /// Program that was asked, by its own name; `None` for the bundled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// Limit of the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
    #[serde(flatten)]
    score: PuzzleScore,
    /// Exact 95 % interval of the share of puzzles solved.
    solved_interval: (f64, f64),
    accuracy: f64,
    puzzles_bad: usize,
    by_rating: Vec<Band>,
    unsolved: Vec<String>,
    /// Positions on which the program crashed, hung, or said no legal move; none of them counts as solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<usize>,
    /// Crashes and hangs of the program, after which it was started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<u64>,
}

#[derive(Serialize)]
struct Band {
    rating: u32,
    #[serde(flatten)]
    score: PuzzleScore,
    solved_interval: (f64, f64),
    accuracy: f64,
}

const NAMED: usize = 5;

impl fmt::Display for PuzzlesResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(engine), Some(limit)) = (&self.engine, &self.limit) {
            writeln!(f, "engine    {}, {limit}", printable(engine))?;
        }
        let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        let PuzzleScore { puzzles, solved, moves, moves_correct, points, points_most } = self.score;
        let (low, high) = self.solved_interval;
        let shares = [share(solved, puzzles), share(moves_correct, moves)];
        let [solved, puzzles, moves, moves_correct] = [solved, puzzles, moves, moves_correct].map(grouped);
        writeln!(
            f,
            "solved    {solved} of {puzzles} puzzles ({:.2} %, 95 % interval {:.2} to {:.2} %)",
            shares[0],
            100.0 * low,
            100.0 * high
        )?;
        writeln!(f, "moves     {moves_correct} of {moves} right ({:.2} %)", shares[1])?;
        if points_most > 0 {
            let share = share(points, points_most);
            let [points, most] = [points, points_most].map(grouped);
            writeln!(f, "points    {points} of {most} ({share:.2} %)")?;
        }
        if self.puzzles_bad > 0 {
            writeln!(f, "bad       {}", counted(self.puzzles_bad as u64, "puzzle"))?;
        }
        if let Some(failures @ 1..) = self.failures {
            writeln!(f, "failed    {}, not solved", counted(failures as u64, "position"))?;
        }
        if !self.by_rating.is_empty() {
            writeln!(f, "\n   rating  puzzles   solved  95 % interval  moves right")?;
        }
        for Band { rating, score, solved_interval: (low, high), accuracy } in &self.by_rating {
            let solved = share(score.solved, score.puzzles);
            let interval = format!("{:.1} to {:.1}%", 100.0 * low, 100.0 * high);
            let accuracy = 100.0 * accuracy;
            writeln!(
                f,
                "{rating:>9} {:>8} {solved:>7.1}% {interval:>14} {accuracy:>11.1}%",
                grouped(score.puzzles)
            )?;
        }
        Ok(())
    }
}

pub fn run(args: &PuzzlesArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let (mut puzzles, mut bad) = (Vec::new(), 0);
    for path in &args.files {
        let found = read(path)?;
        for (line, reason) in found.bad.iter().take(NAMED) {
            ui.warn(format!("{}: line {line}: {reason}", path.display()));
        }
        if found.bad.len() > NAMED {
            ui.warn(format!("{}: {} more are bad", path.display(), found.bad.len() - NAMED));
        }
        bad += found.bad.len();
        puzzles.extend(found.puzzles);
    }
    puzzles.truncate(args.count.unwrap_or(usize::MAX));
    if puzzles.is_empty() {
        return Err(Error::input(format!("no puzzles to solve ({bad} are bad)")));
    }
    let named = args.program.named(args.limits.control())?;
    let (limit, suite) = match &named {
        Some(named) => by_program(named, &puzzles, ui).map(|(limit, suite)| (Some(limit), suite))?,
        None => (None, by_bundled(args, &puzzles, ui)?),
    };
    let Some(SuiteScore { total, by_rating, unsolved, failures }) = suite else {
        return Err(Error::Interrupted("nothing was counted"));
    };
    for (puzzle, reason) in failures.iter().take(NAMED) {
        ui.warn(format!("puzzle {puzzle}: {reason}"));
    }
    if failures.len() > NAMED {
        let more = counted((failures.len() - NAMED) as u64, "more position");
        ui.warn(format!("the engine failed on {more}"));
    }
    named.iter().for_each(|named| warn_of_restarts(&named.program, ui));
    let interval = |score: &PuzzleScore| exact_proportion(score.solved, score.puzzles, 0.95);
    let band = |(rating, score): (u32, PuzzleScore)| Band {
        rating,
        solved_interval: interval(&score),
        accuracy: score.accuracy(),
        score,
    };
    ui.result(&PuzzlesResult {
        failures: named.as_ref().map(|_| failures.len()),
        restarts: named.as_ref().map(|named| named.program.restarts.count()),
        engine: named.map(|named| named.name),
        limit,
        solved_interval: interval(&total),
        accuracy: total.accuracy(),
        score: total,
        puzzles_bad: bad,
        by_rating: by_rating.into_iter().map(band).collect(),
        unsolved,
    })
}

fn by_bundled(args: &PuzzlesArgs, puzzles: &[Puzzle], ui: &Ui) -> Result<Option<SuiteScore>> {
    let evaluation = crate::evaluation::load(args.eval.as_deref(), ui)?;
    let limits = args.limits.limits();
    let hash = args.hash.unwrap_or(if limits.movetime.is_some() { 64 } else { 4 });
    ui.with_progress("solving", puzzles.len() as u64, |bar| {
        solve_suite(puzzles, &evaluation, hash as usize, &limits, interrupt::flag(), &|| bar.inc(1))
    })
}

/// The limit of the program, and what it solved.
fn by_program(named: &NamedProgram, puzzles: &[Puzzle], ui: &Ui) -> Result<(String, Option<SuiteScore>)> {
    let NamedProgram { program, threads, .. } = named;
    let control = &program.time_settings.control;
    let suite = ui.with_progress("solving", puzzles.len() as u64, |bar| {
        solve_by_program(puzzles, program, control, *threads, interrupt::flag(), &|| bar.inc(1))
    })?;
    Ok((control.to_string(), suite))
}
