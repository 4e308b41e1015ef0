use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::prepare::{InputFormat, files_or_default};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::validate::{Checksums, FAULTS, Report, validate};
use patzer_io::Printable;
use patzer_io::number::grouped;

/// Check every record of a dataset
///
/// Checks that every position is legal, every move playable, every score, result, flag and distance consistent, and
/// games and plies in order, unless the file was shuffled; and checksums: those in a dataset, that of `FILE.sha256`
/// beside a file of another format. Exits with 1 if anything is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n{EXAMPLES}", faults()))]
pub struct ValidateArgs {
    /// Files of positions, in any format [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    #[command(flatten)]
    input: InputFormat,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data validate                       is positions.parquet sound?\n  \
    patzer data validate a.binpack b.csv.zst   files of other formats\n  \
    patzer data validate --json                counts and the first faults, for programs";

fn faults() -> String {
    let rows = FAULTS.iter().map(|(name, doc)| format!("  {name:<10} {doc}\n"));
    format!("Kinds of faults:\n{}", rows.collect::<String>())
}

pub fn run(args: &ValidateArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let mut outcome = Outcome { sound: true, positions: 0, files: Vec::new() };
    for file in files_or_default(&args.data)? {
        let report = ui.with_progress("validate", 0, |bar| {
            validate(&file, &ui.read_options(args.input.input_format), &|rows| bar.inc(rows))
        })?;
        if interrupt::requested() {
            return Err(Error::Interrupted("not everything was checked"));
        }
        outcome.sound &= report.is_sound();
        outcome.positions += report.positions;
        outcome.files.push(FileReport { file, report });
    }
    ui.result(&outcome)?;
    Ok(if outcome.sound { Status::Done } else { Status::Unsound })
}

#[derive(Serialize)]
struct Outcome {
    sound: bool,
    positions: u64,
    files: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    #[serde(serialize_with = "patzer_io::path_text")]
    file: PathBuf,
    #[serde(flatten)]
    report: Report,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for FileReport { file, report } in &self.files {
            let companion = patzer_io::companion_path(file);
            let (file, companion) = (Printable(file.display()), Printable(companion.display()));
            let verdict = if report.is_sound() { "sound" } else { "not sound" };
            writeln!(f, "{file}: {verdict}, {} positions", grouped(report.positions))?;
            for (fault, count) in &report.faults {
                writeln!(f, "  {fault:<10}{:>14}", grouped(*count))?;
            }
            for example in &report.examples {
                let place =
                    if example.place.is_empty() { String::new() } else { format!("{}, ", example.place) };
                let reason = Printable(&example.reason);
                writeln!(f, "  {}row {}: {}: {reason}", Printable(place), example.row, example.fault)?;
            }
            let all: u64 = report.faults.values().sum();
            if all > report.examples.len() as u64 {
                writeln!(f, "  … and {} more", grouped(all - report.examples.len() as u64))?;
            }
            match report.checksums {
                Checksums::Own => writeln!(f, "  every checksum in it was checked")?,
                Checksums::Companion => writeln!(f, "  checksum of {companion} matches")?,
                Checksums::None => {
                    writeln!(f, "  no checksums: damage that leaves legal positions goes unnoticed")?;
                }
            }
            if report.without_move > 0 {
                writeln!(f, "  {} positions have no move to check", grouped(report.without_move))?;
            }
            if report.ordered.is_none() {
                writeln!(
                    f,
                    "  games and plies are in no order (shuffled, or the format has none); not checked"
                )?;
            }
        }
        Ok(())
    }
}
