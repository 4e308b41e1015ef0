use std::time::Duration;

use crate::perft::TreeArgs;
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_label::teacher;
use patzer_uci_client::perft_check::{PerftCheck, PerftError};
use patzer_uci_client::{Control, PlayerError};

/// Find what an engine's move generator gets wrong
///
/// The engine counts the leaves of trees by `go perft N`; where it differs, the moves are followed to the position in
/// which it has a move too many or too few. The exit code is then 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer engine perft ./myengine 4\n  \
    patzer engine perft ./myengine --suite fixtures/perft.epd --max-nodes 1000000\n  \
    patzer engine perft ./myengine 4 --command perft")]
pub struct PerftArgs {
    /// The engine: a program, or "cmd=./engine option.Hash=64" with the keys of `match --engine`
    #[arg(value_name = "ENGINE")]
    engine: String,

    #[command(flatten)]
    trees: TreeArgs,

    /// Command by which the engine counts, followed by the depth
    #[arg(long, value_name = "COMMAND", default_value = "go perft")]
    command: String,

    /// Seconds for one count of the engine
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    stall_timeout: u64,
}

/// Compares an engine's counts with patzer's; [`Status::Unsound`] if one differs.
pub fn run(args: &PerftArgs, ui: &Ui) -> Result<Status> {
    let (tasks, timeout) = (args.trees.tasks()?, Duration::from_secs(args.stall_timeout));
    let program = program::load("ENGINE", &args.engine, Control::default(), timeout)?;
    let started = teacher::start(&program, interrupt::flag());
    let mut analyst = started.map_err(|error| Error::data(&program.name, error.to_string()))?;
    let (threads, stop) = (rayon::current_num_threads(), interrupt::flag());
    let mut check = PerftCheck { analyst: &mut analyst, command: &args.command, timeout, threads, stop };
    let (checked, outcome) = ui.with_progress("counting", tasks.len() as u64, |bar| {
        check.run(&program.name, &tasks, &|| bar.inc(1))
    });
    // A crash in a later position takes nothing from what was compared.
    if checked.equal + checked.different > 0 {
        ui.result(&checked)?;
    }
    outcome.map_err(|PerftError { at, error }| match error {
        PlayerError::Stopped => Error::Interrupted("not all counts were compared"),
        error => Error::at(&program.name, at, error.to_string()),
    })?;
    Ok(if checked.different > 0 { Status::Unsound } else { Status::Done })
}
