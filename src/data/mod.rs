mod convert;
mod merge;
mod moved;
mod show;
mod shuffle;
mod split;
mod stats;
mod traces;
mod validate;

use clap::Subcommand;

use crate::{Result, Status, Ui};

/// Convert, shuffle, split, merge, show, check and count datasets
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Convert(convert::ConvertArgs),
    Shuffle(shuffle::ShuffleArgs),
    Split(split::SplitArgs),
    Merge(merge::MergeArgs),
    Show(show::ShowArgs),
    Validate(validate::ValidateArgs),
    Stats(stats::StatsArgs),
}

pub fn run(args: &DataArgs, ui: &Ui) -> Result<Status> {
    match &args.command {
        Command::Convert(args) => convert::run(args, ui),
        Command::Shuffle(args) => shuffle::run(args, ui),
        Command::Split(args) => split::run(args, ui),
        Command::Merge(args) => merge::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Validate(args) => validate::run(args, ui),
        Command::Stats(args) => stats::run(args, ui),
    }
}
