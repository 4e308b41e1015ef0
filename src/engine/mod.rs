mod bench;
pub mod check;
mod perft;

use crate::{Result, Status, Ui, interrupt};

/// UCI engines: check one, compare the speeds of several, or find faults of a move generator
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    #[command(subcommand)]
    command: Command,
}

commands! {
    Check(check::CheckArgs),
    Bench(bench::BenchArgs),
    Perft(perft::PerftArgs),
}

pub fn run(args: &EngineArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    args.command.run(ui)
}
