//! `patzer data split`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Split a dataset by game into train, validation and test
#[derive(Debug, clap::Args)]
pub struct SplitArgs {}

pub fn run(_args: &SplitArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
