//! `patzer data stats`: arguments and wiring.

use crate::cli::{Status, Ui};
use crate::error::{Error, Result};

/// Count what is in datasets
#[derive(Debug, clap::Args)]
pub struct StatsArgs {}

pub fn run(_args: &StatsArgs, _ui: &Ui) -> Result<Status> {
    Err(Error::usage("not written"))
}
