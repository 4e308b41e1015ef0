//! What commands report that read datasets and write datasets.
//!
//! In: counts. Out: the result for people and programs, in which every position that was read is accounted for.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use patzer_data::format::metadata::Account;

/// A dataset that was written.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Where it is.
    pub output: PathBuf,
    /// How many positions it holds.
    pub positions: u64,
}

/// The result for people and programs.
#[derive(Debug, Serialize)]
pub struct Moved {
    /// Positions read from the datasets.
    pub positions_read: u64,
    /// Positions written, to all datasets together.
    pub positions_written: u64,
    /// Positions that are in none, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// What was written.
    pub outputs: Vec<Written>,
    /// What became of everything that was ever read from the games, where the datasets say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Positions read in a second.
    pub positions_per_second: f64,
}

impl Moved {
    /// The result of work that started then.
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
            let (label, path) = ("positions written", written.output.display());
            writeln!(f, "{label:<24}{:>14}  → {path}", written.positions)?;
        }
        let speed = self.positions_per_second;
        write!(f, "{:<24}{:>14.2}  ({speed:.0} positions a second)", "seconds", self.seconds)
    }
}
