use super::args::TermsArgs;
use crate::{Result, Status, Ui};

/// Print the index of each entry of a file of terms, as a struct of C whose offsets they are
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer traces indices --terms mine.toml > terms.h")]
pub struct IndicesArgs {
    #[command(flatten)]
    terms: TermsArgs,
}

pub fn run(args: &IndicesArgs, ui: &Ui) -> Result<Status> {
    ui.result(&args.terms.load()?.indices())
}
