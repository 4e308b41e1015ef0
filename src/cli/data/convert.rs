//! `patzer data convert`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Convert between formats of positions
#[derive(Debug, clap::Args)]
pub struct ConvertArgs {}

pub fn run(_args: &ConvertArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
