pub mod args;
mod check;
mod indices;
pub mod patch;

use crate::{Result, Status, Ui};

/// Check traces of an engine's evaluation, number its terms, put values into its source; `patzer tune traces` fits
///
/// docs/traces.md says how an engine writes traces.
#[derive(Debug, clap::Args)]
pub struct TracesArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Check(check::CheckArgs),
    Indices(indices::IndicesArgs),
    Patch(patch::PatchArgs),
}

pub fn run(args: &TracesArgs, ui: &Ui) -> Result<Status> {
    args.command.run(ui)
}
