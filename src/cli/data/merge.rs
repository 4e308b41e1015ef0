//! `patzer data merge`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Merge datasets into one
#[derive(Debug, clap::Args)]
pub struct MergeArgs {}

pub fn run(_args: &MergeArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
