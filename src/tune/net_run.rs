//! State of a training run between its stages: progress, log, checkpoint, saved networks.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::NetArgs;
use crate::live::clock;
use crate::ui::LINES;
use crate::{Error, Result, Ui};
use patzer_eval::nnue::Network;
use patzer_io::Limit;
use patzer_io::run_folder::{CHECKPOINT, Log, RunFolder, is_saved_network};
use patzer_train::{Compute, Epoch, TrainingCallbacks, is_checkpoint};

pub(super) struct Run {
    pub(super) bar: indicatif::ProgressBar,
    /// Positions of an epoch.
    pub(super) positions: u64,
    /// Epochs of the stage.
    pub(super) epochs: usize,
    /// Time of the last line where there is no bar.
    line: Instant,
    pub(super) log: Log,
    /// Rows of the log, over all stages.
    rows: usize,
    /// The run's folder, and how many epochs go from one network saved there to the next; 0 for none.
    folder: PathBuf,
    save_every: usize,
    pub(super) checkpoint: PathBuf,
    /// The checkpoint to go on from, until a stage has taken it.
    pub(super) resume: Option<Vec<u8>>,
    /// Opened before the data are read, until the first stage takes it.
    pub(super) compute: Option<Compute>,
    /// The recipe for few positions is taken.
    pub(super) small: bool,
    ui: Ui,
}

impl Run {
    pub(super) fn new(args: &NetArgs, folder: &RunFolder, ui: &Ui) -> Result<Run> {
        let compute = Some(Compute::open(args.device.unwrap_or_default())?);
        let checkpoint = folder.path().join(CHECKPOINT);
        let kind = |head: &[u8]| is_checkpoint(head).then_some(Limit::CHECKPOINT);
        let resumes = args.resume && checkpoint.exists();
        let resume = resumes.then(|| patzer_io::read_as(&checkpoint, kind)).transpose()?;
        let (bar, log) = (indicatif::ProgressBar::hidden(), Log::new(folder.path()));
        Ok(Run {
            bar,
            positions: 0,
            epochs: 0,
            line: Instant::now(),
            log,
            rows: 0,
            folder: folder.path().to_path_buf(),
            save_every: args.save_every.unwrap_or(0) as usize,
            checkpoint,
            resume,
            compute,
            small: false,
            ui: ui.clone(),
        })
    }

    pub(super) fn row(&mut self, epoch: &Epoch) {
        self.rows += 1;
        self.log.row(self.rows, epoch.train_loss, epoch.validation_loss, epoch.learning_rate);
    }
}

impl TrainingCallbacks for Run {
    fn epoch(&mut self, epoch: &Epoch) {
        self.bar.inc(self.positions);
        let loss = epoch.validation_loss.unwrap_or(epoch.train_loss);
        // Overfitting shows where only the training loss falls.
        let train =
            epoch.validation_loss.map_or(String::new(), |_| format!(", train {:.6}", epoch.train_loss));
        let rate = epoch.positions_per_second / 1e6;
        self.bar.set_message(format!("epoch {}: loss {loss:.6}{train}, {rate:.2} M/s", epoch.epoch));
        if self.bar.is_hidden() && self.line.elapsed() >= LINES {
            self.line = Instant::now();
            let rest = self.epochs.saturating_sub(epoch.epoch) as u64 * self.positions;
            let left = clock(rest as f64 / epoch.positions_per_second.max(1.0));
            let (epoch, epochs) = (epoch.epoch, self.epochs);
            self.ui.note(format!(
                "epoch {epoch} of {epochs}: loss {loss:.6}{train}, {rate:.2} M/s, {left} left"
            ));
        }
        self.row(epoch);
    }

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.resume.take())
    }

    fn gpu_rejected(&mut self, reason: &Error) {
        self.bar.suspend(|| self.ui.warn(format!("the CPU trains: {reason}")));
    }

    fn device_changed(&mut self, from: &str, to: &str) {
        let text = format!(
            "the checkpoint is one of {from}; on {to} the run goes on within rounding, not to the byte"
        );
        self.bar.suspend(|| self.ui.warn(text));
    }

    fn save_checkpoint(&mut self, state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        self.log.save()?;
        patzer_io::write(&self.checkpoint, &state()?)
    }

    fn save_network(&mut self, network: &mut dyn FnMut() -> Result<Network>) -> Result<()> {
        if self.save_every == 0 || !self.rows.is_multiple_of(self.save_every) {
            return Ok(());
        }
        patzer_io::write(&self.folder.join(format!("epoch-{:04}.nnue", self.rows)), &network()?.to_bytes())
    }
}

/// The networks that --save-every wrote to a run's folder.
pub(super) fn saved_networks(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_saved_network);
    files.filter(named).collect()
}
