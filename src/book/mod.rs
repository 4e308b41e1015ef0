mod engine;
mod judge;
mod make;
mod show;

use crate::{Result, Status, Ui, interrupt};

/// Opening books: make one by an engine's judgement, show one, or judge one by games
#[derive(Debug, clap::Args)]
pub struct BookArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Make(make::MakeArgs),
    Show(show::ShowArgs),
    Judge(judge::JudgeArgs),
}

pub fn run(args: &BookArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    args.command.run(ui)
}
