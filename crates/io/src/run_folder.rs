//! Folder of a run: `recipe.toml`, `run.json`, `log.csv` and `result.json`, from which it can be repeated and plotted.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate as io;
use crate::error::{Error, Hint, Result};
use crate::tensorboard::Events;
use crate::{Earlier, Lock};

/// The state between two epochs of a network's training, from which a run is resumed.
pub const CHECKPOINT: &str = "checkpoint.bin";
const RESULT: &str = "result.json";
/// Inputs of a run.
pub const INPUTS: &str = "run.json";
/// The run's own copy of its network, since a later run may replace the output.
pub const NETWORK: &str = "network.nnue";
/// The run's own copy of its weights.
pub const WEIGHTS: &str = "weights.hce.toml";
/// The network of the least loss, where games chose another.
pub const LEAST_LOSS: &str = "least-loss.nnue";
/// The games between networks of a run, and their journal.
pub const RACE: [&str; 3] = ["race.pgn", "race.journal", "race.journal.ahead"];
/// Further files of a run, of which a user may have others of the same name.
const OTHERS: [&str; 7] =
    ["recipe.toml", "log.csv", Events::FILE, "weights.csv", "weights.diff", NETWORK, WEIGHTS];

/// A run's folder, locked as long as this lives.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    earlier: Earlier,
    lock: Option<Lock>,
    begun: bool,
}

impl RunFolder {
    /// Checks, before a long run starts and without a change, that the folder can be written and is free.
    ///
    /// # Errors
    /// Another process uses the folder, it holds an unfinished run, or it cannot be a folder.
    pub fn claim(path: &Path, earlier: Earlier) -> Result<RunFolder> {
        let there = path.ancestors().find(|path| path.exists());
        if let Some(file) = there.filter(|file| !file.is_dir()) {
            return Err(Error::data(path, format!("{} is not a folder", file.display())));
        }
        let lock = if path.is_dir() { Lock::take(path)? } else { None };
        if earlier == Earlier::Protect && is_unfinished(path) {
            let error = Error::data(path, "holds the checkpoint of an unfinished run");
            return Err(error.hint(Hint::ResumeOrOtherFolder));
        }
        let there = |name: &&str| path.join(name).exists();
        let is_run = [CHECKPOINT, RESULT, INPUTS].iter().any(there);
        if let (Earlier::Protect, false, Some(name)) =
            (earlier, is_run, OTHERS.iter().find(|name| there(name)))
        {
            let error = Error::data(path, format!("holds {name} and is no run's folder"));
            return Err(error.hint(Hint::OtherFolder(name.to_string())));
        }
        Ok(RunFolder { path: path.to_path_buf(), earlier, lock, begun: false })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder; moves a finished run aside and says so. Later calls do nothing.
    pub fn begin(&mut self) -> Result<Option<String>> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(None);
        }
        let path = &self.path;
        let mut note = None;
        if self.earlier == Earlier::Protect && path.join(RESULT).exists() {
            let aside = free_name(path)?;
            move_aside(path, &aside)?;
            note = Some(format!("moved aside: {} → {}", path.display(), aside.display()));
            self.lock = None;
        }
        std::fs::create_dir_all(path).map_err(|e| Error::io(path, e))?;
        if self.lock.is_none() {
            self.lock = Lock::take(path)?;
        }
        if self.earlier == Earlier::Overwrite {
            [CHECKPOINT, RESULT, NETWORK, WEIGHTS]
                .iter()
                .try_for_each(|name| io::remove_if_exists(&path.join(name)))?;
        }
        Ok(note)
    }
}

/// Tests whether a folder holds a training that goes on with `--resume`: a checkpoint without a result.
pub fn is_unfinished(folder: &Path) -> bool {
    folder.join(CHECKPOINT).exists() && !folder.join(RESULT).exists()
}

/// Renames the folder; where it has other files too, moves the run's files alone.
fn move_aside(folder: &Path, aside: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let names: Vec<_> =
        entries.map_err(|e| Error::io(folder, e))?.iter().map(std::fs::DirEntry::file_name).collect();
    let (own, others): (Vec<_>, Vec<_>) = names.iter().partition(|name| name.to_str().is_some_and(is_of_run));
    let moved = if others.is_empty() {
        std::fs::rename(folder, aside)
    } else {
        let mut own = own.into_iter();
        std::fs::create_dir(aside)
            .and_then(|()| own.try_for_each(|name| std::fs::rename(folder.join(name), aside.join(name))))
    };
    moved.map_err(|e| Error::io(folder, e))
}

fn is_of_run(name: &str) -> bool {
    let known =
        [CHECKPOINT, RESULT, INPUTS, LEAST_LOSS].into_iter().chain(OTHERS).chain(RACE).any(|own| own == name);
    known || is_numbered(name, "run.", ".json") || is_saved_network(name)
}

/// Tests whether a file of a run's folder is the network of an epoch, such as `epoch-0010.nnue`.
pub fn is_saved_network(name: &str) -> bool {
    is_numbered(name, "epoch-", ".nnue")
}

fn is_numbered(name: &str, start: &str, end: &str) -> bool {
    let number = name.strip_prefix(start).and_then(|name| name.strip_suffix(end));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The first of NAME.1, NAME.2 and so on that does not exist.
fn free_name(folder: &Path) -> Result<PathBuf> {
    let name = folder.file_name().ok_or_else(|| {
        Error::data(folder, "holds a finished run and cannot be moved aside").hint(Hint::Overwrite)
    })?;
    let numbered = (1..).map(|number| folder.with_file_name(format!("{}.{number}", name.to_string_lossy())));
    let mut free = numbered.filter(|path| std::fs::symlink_metadata(path).is_err());
    free.next().ok_or_else(|| Error::internal("no free number"))
}

/// Writes `recipe.toml`, and `run.json` or, from the second stage on, `run.2.json` and so on.
pub fn write_settings(
    folder: &Path,
    stage: u64,
    settings: &impl Serialize,
    inputs: &impl Serialize,
) -> Result<()> {
    let internal = |e: &dyn std::fmt::Display| Error::internal(e.to_string());
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    let recipe = toml::to_string(settings).map_err(|e| internal(&e))?;
    io::write(&folder.join("recipe.toml"), recipe.as_bytes())?;
    // By way of a value, whose keys are sorted.
    let inputs = serde_json::to_value(inputs).map_err(|e| internal(&e))?;
    let name = if stage > 1 { format!("run.{stage}.json") } else { "run.json".to_string() };
    io::write(&folder.join(name), format!("{inputs:#}\n").as_bytes())
}

/// Writes the result of a run as `result.json`, as `--json` prints it.
pub fn write_result(folder: &Path, result: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(result).map_err(|e| Error::internal(e.to_string()))?;
    io::write(&folder.join(RESULT), format!("{text}\n").as_bytes())
}

/// The losses of each epoch, as `log.csv` and as events of TensorBoard.
pub struct Log {
    path: PathBuf,
    writer: csv::Writer<Vec<u8>>,
    failed: Option<csv::Error>,
    events: Events,
}

impl Log {
    /// A log that `save` writes as `log.csv` of the folder.
    pub fn new(folder: &Path) -> Log {
        let (path, writer) = (folder.join("log.csv"), csv::Writer::from_writer(Vec::new()));
        let mut log = Log { path, writer, failed: None, events: Events::default() };
        log.record(&["epoch", "train_loss", "validation_loss", "learning_rate"].map(String::from));
        log
    }

    /// Adds an epoch. Errors are kept for [`Log::finish`], so that progress callbacks need not fail.
    pub fn row(&mut self, epoch: usize, train: f64, validation: Option<f64>, learning_rate: f32) {
        let losses = [Some(("loss/train", train)), validation.map(|loss| ("loss/validation", loss))];
        let scalars = losses.into_iter().flatten().chain([("learning_rate", learning_rate.into())]);
        self.events.scalars(epoch as u64, &scalars.collect::<Vec<_>>());
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
        io::write(&self.path, self.writer.get_ref())?;
        self.save_events()
    }

    fn save_events(&mut self) -> Result<()> {
        self.path.parent().map_or(Ok(()), |folder| self.events.save(folder))
    }

    /// Writes the remaining rows.
    pub fn finish(mut self) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(Error::data(&self.path, error.to_string()));
        }
        self.save_events()?;
        let bytes = self.writer.into_inner().map_err(|e| Error::internal(e.to_string()))?;
        io::write(&self.path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_run_is_kept_a_finished_one_is_moved_aside_and_a_folder_has_one_user() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new");
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        let mut run = RunFolder::claim(&path, Earlier::Protect).unwrap();
        assert!(!path.exists(), "nothing is made before there is something to write");
        assert_eq!(run.begin().unwrap(), None);
        for earlier in [Earlier::Protect, Earlier::Overwrite, Earlier::Resume] {
            assert!(RunFolder::claim(&path, earlier).unwrap_err().to_string().contains("in use by"));
        }
        drop(run);
        write(CHECKPOINT, "state");
        let error = RunFolder::claim(&path, Earlier::Protect).unwrap_err();
        assert!(matches!(error, Error::Hinted(_, Hint::ResumeOrOtherFolder)), "{error:?}");
        assert!(RunFolder::claim(&path, Earlier::Resume).unwrap().begin().unwrap().is_none());
        assert_eq!(std::fs::read(path.join(CHECKPOINT)).unwrap(), b"state");
        write(RESULT, "{}");
        for number in 1..3 {
            let mut run = RunFolder::claim(&path, Earlier::Protect).unwrap();
            let note = run.begin().unwrap().unwrap();
            assert!(note.contains(&format!("new.{number}")), "{note}");
            assert!(Lock::take(&path).is_err(), "the new folder is locked");
            write(RESULT, "{}");
        }
        assert_eq!(std::fs::read(place.path().join("new.1").join(CHECKPOINT)).unwrap(), b"state");
        write(CHECKPOINT, "state");
        assert!(RunFolder::claim(&path, Earlier::Overwrite).unwrap().begin().unwrap().is_none());
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn files_that_are_no_runs_stay_where_and_what_they_are() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("mine");
        std::fs::create_dir(&path).unwrap();
        let write = |name: &str| std::fs::write(path.join(name), name).unwrap();
        write("games.parquet");
        assert!(RunFolder::claim(&path, Earlier::Protect).is_ok());
        for name in OTHERS {
            write(name);
            let error = RunFolder::claim(&path, Earlier::Protect).unwrap_err().to_string();
            assert!(error.contains(&format!("holds {name} and is no run's folder")), "{error}");
            std::fs::remove_file(path.join(name)).unwrap();
        }
        for name in [INPUTS, "run.2.json", RESULT, "recipe.toml", "epoch-0002.nnue"] {
            write(name);
        }
        let note = RunFolder::claim(&path, Earlier::Protect).unwrap().begin().unwrap().unwrap();
        assert!(note.contains("mine.1"), "{note}");
        let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
        assert_eq!(count(&place.path().join("mine.1")), 5);
        assert!(count(&path) == 1 && path.join("games.parquet").exists());
    }
}
