//! `patzer uci`: arguments and wiring.

use std::path::PathBuf;

use crate::cli::{Status, Ui};
use crate::engine::uci::serve;
use crate::error::Result;
use crate::eval::Evaluation;

/// Speak UCI on standard input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer uci                     play with the embedded network\n  \
    patzer uci new.hce.toml        play with tuned weights\n  \
    printf 'go depth 8\\n' | patzer uci")]
pub struct UciArgs {
    /// Weights (.hce.toml) or network (.nnue) to play with [default: the embedded network]
    #[arg(value_name = "EVALFILE")]
    evaluation: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If the evaluation cannot be loaded or standard input cannot be read.
pub fn run(args: &UciArgs, _ui: &Ui) -> Result<Status> {
    serve(load(args.evaluation.as_deref())?)?;
    Ok(Status::Done)
}

/// The evaluation that a command names, or the embedded one.
pub(super) fn load(path: Option<&std::path::Path>) -> Result<Evaluation> {
    path.map_or_else(|| Ok(Evaluation::default()), Evaluation::load)
}
