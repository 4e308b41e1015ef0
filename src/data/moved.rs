use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use crate::prepare::{InputFormat, ReadArgs};
use crate::{Result, Ui};
use patzer_data::{RowGroups, Target};
use patzer_formats::metadata::Account;
use patzer_formats::registry::{self, Format};
use patzer_io::number::{grouped, rate};

/// Formats of the files that a command reads and writes.
#[derive(Debug, clap::Args)]
pub struct FormatArgs {
    /// Format to write; `patzer data convert --help` lists them [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    pub format: Option<&'static Format>,

    #[command(flatten)]
    input: InputFormat,

    #[command(flatten)]
    reading: ReadArgs,

    /// Score, in centipawns, of positions without one, where the format needs one [default: leave them out]
    #[arg(long, value_name = "CP", allow_negative_numbers = true, hide_short_help = true)]
    pub no_score: Option<i16>,

    /// Level of zstd, 1 (fastest) to 22 (smallest), of a dataset or a `.zst` file [default: 1, and 3 of a `.zst` file]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i32).range(1..=22), hide_short_help = true)]
    pub compress: Option<i32>,
}

impl FormatArgs {
    pub fn target(&self, ui: &Ui) -> Target {
        Target {
            format: self.format,
            dialect: None,
            no_score: self.no_score,
            level: self.compress,
            notices: ui.notices.clone(),
            ..Target::default()
        }
    }

    pub fn open(&self, path: &Path, ui: &Ui) -> Result<RowGroups> {
        RowGroups::open_source(path, self.reading.options(self.input, ui))
    }

    /// Warns of what a file lost, and returns its counts.
    pub fn written(
        &self,
        path: &Path,
        written: patzer_data::Written,
        dropped: &mut BTreeMap<String, u64>,
        ui: &Ui,
    ) -> Result<Written> {
        if let Some(warning) = written.warning(path, self.target(ui).format(path)?) {
            ui.warn(warning);
        }
        for (reason, count) in &written.dropped {
            *dropped.entry(reason.to_string()).or_default() += count;
        }
        Ok(Written { output: path.to_path_buf(), positions: written.positions })
    }
}

#[derive(Debug, Serialize)]
pub struct Written {
    #[serde(serialize_with = "patzer_io::path_text")]
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
    /// Positions taken of each input, where not all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<Vec<(String, u64)>>,
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
            taken: None,
            seconds,
            positions_per_second: read as f64 / seconds.max(1e-9),
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{:>14}", "positions read", grouped(self.positions_read))?;
        for (path, taken) in self.taken.iter().flatten() {
            writeln!(f, "  {:<22}{:>14}  ← {}", "taken", grouped(*taken), patzer_io::Printable(path))?;
        }
        for (reason, count) in &self.dropped {
            writeln!(f, "  {:<22}{:>14}", format!("dropped: {reason}"), grouped(*count))?;
        }
        for written in &self.outputs {
            let (label, path) = ("positions written", patzer_io::Printable(written.output.display()));
            writeln!(f, "{label:<24}{:>14}  → {path}", grouped(written.positions))?;
        }
        let speed = rate(self.positions_per_second, "positions");
        write!(f, "{:<24}{:>14.2}  ({speed})", "seconds", self.seconds)
    }
}
