//! `patzer data shuffle`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Put the positions of datasets into a random order
#[derive(Debug, clap::Args)]
pub struct ShuffleArgs {}

pub fn run(_args: &ShuffleArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
