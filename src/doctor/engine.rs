//! `doctor --engine`, and fastchess's `-compliance`: whether a UCI engine keeps the protocol.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::{Error, Result, Status, Ui, interrupt};
use patzer_io::printable;
use patzer_match::compliance::{COUNT, Compliance, Finding, Verdict};
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Control, PlayerError, Spec};

/// Time for `uciok`, and for every `readyok`.
const START: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Examined {
    engine: String,
    good: usize,
    absent: usize,
    warnings: usize,
    faults: usize,
    findings: Vec<Finding>,
}

impl fmt::Display for Examined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Examined { engine, good, absent, warnings, faults, findings } = self;
        writeln!(f, "{}", printable(engine))?;
        let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
        for Finding { check, verdict, value, matters } in findings {
            writeln!(f, "{:8} {check:width$}  {}", word(*verdict), printable(value))?;
            if let Some(matters) = matters {
                writeln!(f, "{:8} {:width$}  → {matters}", "", "")?;
            }
        }
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let (checks, warning_s, fault_s) = (findings.len(), s(*warnings), s(*faults));
        write!(
            f,
            "{checks} checks: {good} good, {absent} absent, {warnings} warning{warning_s}, {faults} fault{fault_s}"
        )
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::Absent => "absent",
        Verdict::Warning => "warning",
        Verdict::Fault => "fault",
    }
}

/// Runs every check on an engine and shows how it did; [`Status::Unsound`] if it has a fault.
pub fn examine(spec: &Spec, ui: &Ui) -> Result<Status> {
    interrupt::listen();
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
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let [good, absent, warnings, faults] =
        [Verdict::Good, Verdict::Absent, Verdict::Warning, Verdict::Fault].map(count);
    let engine = name.unwrap_or_else(|| program.name.clone());
    ui.result(&Examined { engine, good, absent, warnings, faults, findings })?;
    Ok(if faults > 0 { Status::Unsound } else { Status::Done })
}
