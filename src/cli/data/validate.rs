//! `patzer data validate`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Check that every record is sound
#[derive(Debug, clap::Args)]
pub struct ValidateArgs {}

pub fn run(_args: &ValidateArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
