//! Check of the command line `ENGINE bench`, by which OpenBench knows a build.

use std::time::Duration;

use super::outcome::{CheckOutcome, Checked, Verdict};
use super::session::Session;
use crate::{Benched, PlayerError, Program};
use patzer_io::number::grouped;

/// Time for one benchmark.
const BENCH: Duration = Duration::from_secs(60);

/// Runs the benchmark twice.
pub fn bench(session: &mut Session) -> Checked {
    let started = session.program();
    let program = Program { args: [&started.args[..], &["bench".to_string()]].concat(), ..started.clone() };
    let twice = (0..2).map(|_| program.bench(BENCH, session.stop)).collect::<Result<Vec<Benched>, _>>();
    Ok(match twice {
        Ok(runs) if runs[0].nodes == runs[1].nodes => {
            CheckOutcome::good(format!("{} nodes, twice", grouped(runs[0].nodes)))
        }
        Ok(runs) => CheckOutcome::warning(format!(
            "{} nodes, then {}",
            grouped(runs[0].nodes),
            grouped(runs[1].nodes)
        )),
        Err(PlayerError::Stopped) => return Err(PlayerError::Stopped),
        Err(PlayerError::Unable(reason)) => CheckOutcome::new(Verdict::Absent, reason),
        Err(error) => CheckOutcome::warning(error.to_string()),
    })
}
