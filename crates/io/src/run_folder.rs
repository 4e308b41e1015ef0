//! A run's folder: what it was made from and how it went.
//!
//! In: settings, and a row an epoch. Out: `recipe.toml`, `run.json`, `log.csv` and `result.json`, from
//! which the run can be repeated and drawn.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::prepare::{DataArgs, Split};
use patzer_data::Metadata;
use patzer_io as io;
use patzer_io::error::{Error, Result};

/// Checks that a folder is there or could be made, without making it.
///
/// # Errors
/// If a file stands where the folder or one above it has to be.
pub fn check(folder: &Path) -> Result<()> {
    match folder.ancestors().find(|path| path.exists()) {
        Some(file) if !file.is_dir() => {
            Err(Error::data(folder, format!("{} is not a folder", file.display())))
        }
        _ => Ok(()),
    }
}

/// Writes the resolved settings as `recipe.toml`, and version and data as `run.json`: the datasets that were read,
/// with the hashes of the games that they were made from, and what of them was held out.
///
/// # Errors
/// If the folder cannot be made or written.
pub fn write_settings(
    folder: &Path,
    settings: &impl Serialize,
    args: &DataArgs,
    split: Split,
    sources: &[(PathBuf, Metadata)],
) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let recipe = toml::to_string(settings).map_err(|e| Error::internal(e.to_string()))?;
    io::write(&folder.join("recipe.toml"), recipe.as_bytes())?;
    let run = serde_json::json!({
        "patzer": env!("CARGO_PKG_VERSION"),
        "data": sources.iter().map(|(path, about)| serde_json::json!({ "path": path, "made_from": about }))
            .collect::<Vec<_>>(),
        "filters": args.filter,
        "filter_set": args.filter_set,
        "resolved": !args.no_resolve,
        "split": split,
    });
    io::write(&folder.join("run.json"), format!("{run:#}\n").as_bytes())
}

/// Writes what a run came to as `result.json`: what `--json` prints.
///
/// # Errors
/// If it cannot be written.
pub fn write_result(folder: &Path, result: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(result).map_err(|e| Error::internal(e.to_string()))?;
    io::write(&folder.join("result.json"), format!("{text}\n").as_bytes())
}

/// The losses of each epoch, as `log.csv`.
pub struct Log {
    path: PathBuf,
    writer: csv::Writer<Vec<u8>>,
    failed: Option<csv::Error>,
}

impl Log {
    /// Starts the log; the file appears when it is finished.
    pub fn new(folder: &Path) -> Log {
        let mut log =
            Log { path: folder.join("log.csv"), writer: csv::Writer::from_writer(Vec::new()), failed: None };
        log.record(&["epoch", "train_loss", "validation_loss", "learning_rate"].map(String::from));
        log
    }

    /// Adds an epoch. A fault is kept until the end, so that progress callbacks need not fail.
    pub fn row(&mut self, epoch: usize, train: f64, validation: Option<f64>, learning_rate: f32) {
        let validation = validation.map_or(String::new(), |loss| loss.to_string());
        self.record(&[epoch.to_string(), train.to_string(), validation, learning_rate.to_string()]);
    }

    fn record(&mut self, fields: &[String; 4]) {
        if let Err(error) = self.writer.write_record(fields) {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes the file as it is so far, for whoever watches.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&mut self) -> Result<()> {
        self.writer.flush().map_err(|e| Error::io(&self.path, e))?;
        io::write(&self.path, self.writer.get_ref())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(Error::data(&self.path, error.to_string()));
        }
        let bytes = self.writer.into_inner().map_err(|e| Error::internal(e.to_string()))?;
        io::write(&self.path, &bytes)
    }
}
