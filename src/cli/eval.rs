//! `patzer eval`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// To come.
#[derive(Debug, clap::Args)]
pub struct EvalArgs {}

/// Runs the command.
///
/// # Errors
/// Always, until it is built.
pub fn run(_args: &EvalArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::internal("not built yet"))
}
