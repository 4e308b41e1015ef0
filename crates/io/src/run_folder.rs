//! Folder of a run: `recipe.toml`, `run.json`, `log.csv` and `result.json`, from which it can be repeated and plotted.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate as io;
use crate::error::{Error, Result};

/// Checks that the folder can be written before a long run starts.
pub fn check(folder: &Path) -> Result<()> {
    match folder.ancestors().find(|path| path.exists()) {
        Some(file) if !file.is_dir() => {
            Err(Error::data(folder, format!("{} is not a folder", file.display())))
        }
        _ => Ok(()),
    }
}

/// Writes `recipe.toml` and `run.json`.
pub fn write_settings(folder: &Path, settings: &impl Serialize, inputs: &impl Serialize) -> Result<()> {
    let internal = |e: &dyn std::fmt::Display| Error::internal(e.to_string());
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let recipe = toml::to_string(settings).map_err(|e| internal(&e))?;
    io::write(&folder.join("recipe.toml"), recipe.as_bytes())?;
    // By way of a value, whose keys are sorted.
    let inputs = serde_json::to_value(inputs).map_err(|e| internal(&e))?;
    io::write(&folder.join("run.json"), format!("{inputs:#}\n").as_bytes())
}

/// Writes the result of a run as `result.json`, as `--json` prints it.
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
    /// A log that `save` writes as `log.csv` of the folder.
    pub fn new(folder: &Path) -> Log {
        let mut log =
            Log { path: folder.join("log.csv"), writer: csv::Writer::from_writer(Vec::new()), failed: None };
        log.record(&["epoch", "train_loss", "validation_loss", "learning_rate"].map(String::from));
        log
    }

    /// Adds an epoch. Errors are kept for [`Log::finish`], so that progress callbacks need not fail.
    pub fn row(&mut self, epoch: usize, train: f64, validation: Option<f64>, learning_rate: f32) {
        let validation = validation.map_or(String::new(), |loss| loss.to_string());
        self.record(&[epoch.to_string(), train.to_string(), validation, learning_rate.to_string()]);
    }

    fn record(&mut self, fields: &[String; 4]) {
        if let Err(error) = self.writer.write_record(fields) {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes the rows so far.
    pub fn save(&mut self) -> Result<()> {
        self.writer.flush().map_err(|e| Error::io(&self.path, e))?;
        io::write(&self.path, self.writer.get_ref())
    }

    /// Writes the remaining rows.
    pub fn finish(self) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(Error::data(&self.path, error.to_string()));
        }
        let bytes = self.writer.into_inner().map_err(|e| Error::internal(e.to_string()))?;
        io::write(&self.path, &bytes)
    }
}
