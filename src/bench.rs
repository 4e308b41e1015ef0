use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::{Error, Result, Status, Ui};
use patzer_engine::{bench, engine};

/// Search fixed positions and print the node count and speed
///
/// The node count is the same in every run of the same search and evaluation. `patzer engine bench` compares the speeds
/// of programs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer bench                   ends with a line `N nodes M nps`\n  \
    patzer bench --depth 6 --json")]
pub struct BenchArgs {
    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL")]
    eval: Option<PathBuf>,

    /// Depth of each search in plies
    #[arg(long, value_name = "N", default_value_t = bench::DEPTH, value_parser = clap::value_parser!(i32).range(1..=100))]
    depth: i32,

    /// Size of the transposition table in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

pub fn run(args: &BenchArgs, ui: &Ui) -> Result<Status> {
    let evaluation = crate::evaluation::load(args.eval.as_deref(), ui)?;
    let mut engine =
        engine(&evaluation, args.hash as usize).map_err(|error| Error::Input(error.to_string()))?;
    ui.result(&ui.with_progress("searching", bench::positions().count() as u64, |bar| {
        let mut progress = |done| bar.set_position(done as u64);
        bench::run(&mut *engine, args.depth, &AtomicBool::new(false), &mut progress)
    }))
}
