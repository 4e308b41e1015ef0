mod card;
pub mod convert;
mod games;
mod interleave;
mod merge;
mod moved;
mod show;
mod shuffle;
mod split;
mod stats;
mod traces;
mod validate;

pub use traces::check_terms;

use crate::{Result, Status, Ui};

/// Convert, shuffle, split, merge, interleave, show, validate, count and describe datasets, or write their games
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Convert(convert::ConvertArgs),
    Shuffle(shuffle::ShuffleArgs),
    Split(split::SplitArgs),
    Merge(merge::MergeArgs),
    Interleave(interleave::InterleaveArgs),
    Games(games::GamesArgs),
    Show(show::ShowArgs),
    Validate(validate::ValidateArgs),
    Stats(stats::StatsArgs),
    Card(card::CardArgs),
}

pub fn run(args: &DataArgs, ui: &Ui) -> Result<Status> {
    args.command.run(ui)
}
