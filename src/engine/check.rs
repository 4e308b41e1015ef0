use std::time::Duration;

use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_match::compliance::{COUNT, Compliance, ComplianceReport};
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Control, PlayerError, Spec};

/// Time for `uciok`, and for every `readyok`.
const START: Duration = Duration::from_secs(10);

/// Check whether a UCI engine keeps the protocol
///
/// Its options, moves, limits, reports, and its end, as far as matches, labels and other programs rely on them. The exit
/// code is 1 if it has a fault.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer engine check ./myengine\n  \
    patzer engine check \"cmd=./myengine option.EvalFile=new.nnue\" --json")]
pub struct CheckArgs {
    /// The engine: a program, or "cmd=./engine option.Hash=64" with the keys of `match --engine`
    #[arg(value_name = "ENGINE")]
    engine: String,
}

pub fn run(args: &CheckArgs, ui: &Ui) -> Result<Status> {
    examine(&program::spec("ENGINE", &args.engine)?, ui)
}

/// Runs every check on an engine and shows how it did; [`Status::Unsound`] if it has a fault.
pub fn examine(spec: &Spec, ui: &Ui) -> Result<Status> {
    let mut defaults = Defaults::for_positions(Control::default(), START);
    defaults.timeouts.ready = START;
    let program = Participant::load(spec, &defaults)?;
    let checked = ui
        .with_progress("checking", COUNT as u64, |bar| program.compliance(interrupt::flag(), &|| bar.inc(1)));
    let Some(checked) = checked else {
        return Err(Error::data(&spec.cmd, "is an evaluation, not a UCI engine"));
    };
    let Compliance { name, findings } = match checked {
        Err(PlayerError::Stopped) => return Err(Error::Interrupted("not all checks ran")),
        checked => checked.map_err(|error| Error::data(&spec.cmd, error.to_string()))?,
    };
    let report = ComplianceReport::new(name.unwrap_or_else(|| program.name.clone()), findings);
    ui.result(&report)?;
    Ok(if report.faults > 0 { Status::Unsound } else { Status::Done })
}
