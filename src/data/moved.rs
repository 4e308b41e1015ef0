use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use patzer_data::format::metadata::Account;

#[derive(Debug, Serialize)]
pub struct Written {
    pub output: PathBuf,
    pub positions: u64,
}

#[derive(Debug, Serialize)]
pub struct Moved {
    pub positions_read: u64,
    pub positions_written: u64,
    pub dropped: BTreeMap<String, u64>,
    pub outputs: Vec<Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    pub seconds: f64,
    pub positions_per_second: f64,
}

impl Moved {
    pub fn since(
        started: Instant,
        read: u64,
        dropped: BTreeMap<String, u64>,
        outputs: Vec<Written>,
    ) -> Moved {
        let seconds = started.elapsed().as_secs_f64();
        Moved {
            positions_read: read,
            positions_written: outputs.iter().map(|written| written.positions).sum(),
            dropped,
            outputs,
            account: None,
            seconds,
            positions_per_second: read as f64 / seconds.max(1e-9),
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{:>14}", "positions read", self.positions_read)?;
        for (reason, count) in &self.dropped {
            writeln!(f, "  {:<22}{count:>14}", format!("dropped: {reason}"))?;
        }
        for written in &self.outputs {
            let (label, path) = ("positions written", patzer_io::Printable(written.output.display()));
            writeln!(f, "{label:<24}{:>14}  → {path}", written.positions)?;
        }
        let speed = self.positions_per_second;
        write!(f, "{:<24}{:>14.2}  ({speed:.0} positions a second)", "seconds", self.seconds)
    }
}
