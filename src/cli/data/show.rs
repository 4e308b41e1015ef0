//! `patzer data show`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Print positions as text
#[derive(Debug, clap::Args)]
pub struct ShowArgs {}

pub fn run(_args: &ShowArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
