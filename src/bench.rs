mod engines;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::{Error, Result, Status, Ui};
use patzer_engine::{bench, engine};

/// Search fixed positions and print the node count and speed; or compare the speeds of engines.
///
/// The node count is the same in every run of the same search and evaluation. With --engine each program runs its own
/// benchmark, `ENGINE bench` as OpenBench runs it, in turn with the others: the median of the ratios of single rounds
/// is robust on a busy machine, and its interval says whether a difference is real.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer bench                   ends with a line `N nodes M nps`\n  \
    patzer bench --depth 6 --json\n  \
    patzer bench --engine ./old --engine ./new                  did the change make it faster?\n  \
    patzer bench --engine ./new --engine \"cmd=./new name=deep args='bench 16'\" --runs 40")]
pub struct BenchArgs {
    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(value_name = "EVAL")]
    evaluation: Option<PathBuf>,

    /// The same, as `eval` and `puzzles` name it
    #[arg(long, value_name = "EVAL", conflicts_with = "evaluation")]
    eval: Option<PathBuf>,

    /// Depth of each search in plies
    #[arg(long, value_name = "N", default_value_t = bench::DEPTH, value_parser = clap::value_parser!(i32).range(1..=100))]
    depth: i32,

    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,

    /// A program to benchmark in place of the bundled engine: "./engine", or "cmd=./engine args='bench 16'"; several
    /// are compared with the first
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["evaluation", "eval", "depth", "hash"])]
    engine: Vec<String>,

    /// Runs of each program
    #[arg(long, value_name = "N", default_value_t = 20, requires = "engine", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,

    /// Seconds for one run of a program
    #[arg(long, value_name = "S", default_value_t = 600, requires = "engine", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub fn run(args: &BenchArgs, ui: &Ui) -> Result<Status> {
    if !args.engine.is_empty() {
        let timeout = Duration::from_secs(args.timeout);
        return engines::run(&args.engine, args.runs as usize, timeout, ui);
    }
    let evaluation = crate::evaluation::load(args.evaluation.as_deref().or(args.eval.as_deref()), ui)?;
    let mut engine =
        engine(&evaluation, args.hash as usize).map_err(|error| Error::Input(error.to_string()))?;
    ui.result(&ui.with_progress("searching", bench::positions().count() as u64, |bar| {
        let mut progress = |done| bar.set_position(done as u64);
        bench::run(&mut *engine, args.depth, &AtomicBool::new(false), &mut progress)
    }))
}
