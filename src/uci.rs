use std::path::PathBuf;

use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_engine::uci::{serve, serve_with};

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

pub fn run(args: &UciArgs, ui: &Ui) -> Result<Status> {
    let served = match &args.evaluation {
        Some(file) => serve_with(file.display().to_string(), load(Some(file), ui)?),
        None => serve(),
    };
    served.map_err(|e| Error::io("standard input", e))?;
    Ok(Status::Done)
}
