//! The command line: one file a command, each with its arguments and its wiring and nothing else.
//!
//! In: the arguments. Out: one command run, its [`Status`], or an error. Global options are read here and turned
//! into a [`Ui`] and a thread pool before any work starts.

mod bench;
mod elo;
mod eval;
mod extract;
mod label;
mod net;
mod perft;
mod prepare;
mod run_folder;
mod sprt;
mod tune;
mod uci;
mod ui;
mod wdl;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};
pub use ui::Ui;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Done,
    /// A sequential test rejected the alternative.
    H0,
    /// A sequential test ended without a verdict.
    Undecided,
}

impl Status {
    /// The process exit code: 0 done or H1 accepted, 10 for H0 accepted, 11 for undecided.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::H0 => 10,
            Status::Undecided => 11,
        }
    }
}

/// Turn an engine's games into a stronger evaluation, with proof.
#[derive(Debug, Parser)]
#[command(name = "patzer", version, max_term_width = 110, propagate_version = true)]
#[command(after_help = "Examples:\n  \
    patzer extract games.pgn            positions with filters applied → positions.parquet\n  \
    patzer tune --filter unique         train a network on them → new.nnue\n  \
    patzer sprt new.nnue base.nnue      is it stronger? exit 0 yes, 10 no, 11 undecided")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print the result as one JSON object on stdout
    #[arg(long, global = true)]
    json: bool,

    /// No progress and no notes; errors and warnings stay
    #[arg(long, short, global = true)]
    quiet: bool,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Parse PGN games into a dataset of positions
    Extract(extract::ExtractArgs),
    /// Resolve positions to the quiet leaf of a search
    Label(label::LabelArgs),
    /// Fit the sigmoid that turns centipawns into an expected result
    Wdl(wdl::WdlArgs),
    /// Fit a network, or the weights of the hand-crafted evaluation
    Tune(tune::TuneArgs),
    /// Test sequentially whether A is stronger than B
    Sprt(sprt::SprtArgs),
    /// Work out Elo, normalised Elo and LLR from the counts of a match
    Elo(elo::EloArgs),
    /// Make, inspect and convert networks
    Net(net::NetArgs),
    /// Show the evaluation of a position with its parts
    Eval(eval::EvalArgs),
    /// Speak UCI on standard input
    Uci(uci::UciArgs),
    /// Search fixed positions and print the node count and speed
    Bench(bench::BenchArgs),
    /// Count the leaves of the tree of legal moves
    Perft(perft::PerftArgs),
}

/// Runs the command that the arguments name.
///
/// # Errors
/// Whatever the command reports.
pub fn run(cli: &Cli) -> Result<Status> {
    let ui = Ui::new(cli.json, cli.quiet);
    if cli.threads == Some(0) {
        return Err(Error::usage("--threads 0: at least one thread is needed"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.threads.unwrap_or(0))
        .build_global()
        .map_err(|e| Error::internal(format!("no thread pool: {e}")))?;
    match &cli.command {
        Command::Extract(args) => extract::run(args, &ui),
        Command::Label(args) => label::run(args, &ui),
        Command::Wdl(args) => wdl::run(args, &ui),
        Command::Tune(args) => tune::run(args, &ui),
        Command::Sprt(args) => sprt::run(args, &ui),
        Command::Elo(args) => elo::run(args, &ui),
        Command::Net(args) => net::run(args, &ui),
        Command::Eval(args) => eval::run(args, &ui),
        Command::Uci(args) => uci::run(args, &ui),
        Command::Bench(args) => bench::run(args, &ui),
        Command::Perft(args) => perft::run(args, &ui),
    }
}
