pub mod args;
mod check;
mod header;
mod indices;
mod numeric;
pub mod patch;

use crate::{Result, Status, Ui};

/// Make traces of an engine's evaluation or check them, number its terms, put values into its source; `patzer tune
/// traces` fits
///
/// docs/traces.md says how an engine writes traces.
#[derive(Debug, clap::Args)]
pub struct TracesArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Check(check::CheckArgs),
    Header(header::HeaderArgs),
    Indices(indices::IndicesArgs),
    Numeric(numeric::NumericArgs),
    Patch(patch::PatchArgs),
}

pub fn run(args: &TracesArgs, ui: &Ui) -> Result<Status> {
    args.command.run(ui)
}
