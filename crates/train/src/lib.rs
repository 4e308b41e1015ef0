//! Training of networks.
//!
//! In: positions with a score, a result or both, and [`Settings`]. Out: the quantised network of the best epoch.
//! The loss compares expected results: the output goes through a sigmoid as the score does. Weights are 32-bit floats
//! until the end, and are kept small enough to quantise.
//!
//! `shape` says where the parameters of any architecture lie, `extract` which of them a position touches, `table`,
//! `kernel` and `head` compute, `cpu` spreads batches over threads, `host` takes the steps. `gpu` does all of that on a GPU.
//! `backend` is all that a run knows of these, and `device` chooses.
//!
//! On the CPU the bytes of the result depend on the positions, their order and the settings alone; on a GPU on these and
//! the device.

mod backend;
mod checkpoint;
mod cpu;
mod device;
mod export;
mod extract;
mod gpu;
mod head;
mod host;
mod kernel;
mod loss;
mod model;
mod optimiser;
pub mod permutation;
mod rate;
mod returns;
mod run;
mod settings;
mod shape;
mod source;
pub mod successors;
mod table;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Serialize;
use sha2::{Digest, Sha256};
use shakmaty::Color;

pub use device::{Compute, Device};
pub use loss::LossKind;
pub use optimiser::OptimiserKind;
pub use rate::Phase;
pub use returns::{Played, returns};
pub use settings::{Forward, RECIPES, Settings};
pub use source::{Cut, Feeder, Memory, Source, Stream};

use self::model::Model;
use self::run::Run;
use patzer_chess::PackedBoard;
use patzer_eval::nnue::{About, Architecture, Network, Nnue, file};
use patzer_io::error::{Error, Result};

/// A position to learn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainItem {
    /// The pieces.
    pub board: PackedBoard,
    /// The side to move.
    pub turn: Color,
    /// The label in centipawns from the side to move, if there is one.
    pub score: Option<i16>,
    /// The result from White's side in parts of [`WIN`]: of the game, or the mean of several.
    pub result: i16,
}

/// A win as [`TrainItem::result`] counts it: a power of two, so that nothing of a game's result is rounded.
pub const WIN: i16 = 1 << 14;

impl TrainItem {
    /// The result from White's side, 0 to 1.
    #[inline]
    pub fn expected(&self) -> f32 {
        f32::from(self.result) * (0.5 / WIN as f32) + 0.5
    }
}

/// One pass over the training positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: usize,
    /// Mean loss over the pass, each batch before its step.
    pub train_loss: f64,
    /// Mean loss over the validation positions after the pass; `None` if there are none.
    pub validation_loss: Option<f64>,
    /// Learning rate of the last step.
    pub learning_rate: f32,
    /// Training positions a second, without the validation.
    pub positions_per_second: f64,
}

/// What a training run leaves.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The network of the best epoch, quantised.
    pub network: Network,
    /// Every epoch, in order.
    pub epochs: Vec<Epoch>,
    /// The epoch with the lowest validation loss (training loss if nothing is validated), counted from 1.
    pub best_epoch: usize,
    /// What quantising changed.
    pub quantisation: Quantisation,
    /// Number of weights and biases.
    pub parameters: usize,
    /// What trained it: `cpu`, or a GPU's name.
    pub device: String,
    model: Model,
}

impl Outcome {
    /// The best epoch's weights in floats, as the bytes of a safetensors file.
    pub fn safetensors(&self) -> Vec<u8> {
        export::safetensors(&self.model, &self.network.about().description)
    }

    /// The best epoch itself.
    pub fn best(&self) -> &Epoch {
        &self.epochs[self.best_epoch - 1]
    }
}

/// By how much the quantised network differs from the one that was trained, in centipawns over a record of the
/// validation positions (training positions if there are none).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantisation {
    /// Mean of the absolute difference.
    pub mean_error: f64,
    /// The largest.
    pub max_error: f64,
}

/// Positions over which the quantisation error is taken at most.
const QUANTISATION_SAMPLE: usize = 1 << 15;

/// What a run does besides training: it is told of every epoch, and keeps its state somewhere.
pub trait Watcher {
    /// After every epoch.
    fn epoch(&mut self, epoch: &Epoch);

    /// The state that an earlier run left, if this one is to go on from there.
    ///
    /// # Errors
    /// If it cannot be read.
    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Is told why the CPU trains and not the GPU that there is.
    fn set_aside(&mut self, reason: &Error) {
        let _ = reason;
    }

    /// Is told that an earlier state was left by another device, by name, so that what follows is not the same to the byte.
    fn moved(&mut self, from: &str, to: &str) {
        let _ = (from, to);
    }

    /// Keeps the state after an epoch.
    ///
    /// # Errors
    /// If it cannot be written, or had from the device.
    fn keep(&mut self, state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        let _ = state;
        Ok(())
    }
}

impl<F: FnMut(&Epoch)> Watcher for F {
    fn epoch(&mut self, epoch: &Epoch) {
        self(epoch);
    }
}

/// Trains a network on positions in memory, on the CPU.
///
/// SIGINT ends it after the current batch with the best epoch so far.
///
/// # Errors
/// If a setting makes no sense, there is nothing to train on, the loss stops being a number, an earlier state is not of
/// this run, or the user stops it before the first epoch is done.
pub fn fit(
    train: &[TrainItem],
    validation: &[TrainItem],
    settings: &Settings,
    watcher: &mut dyn Watcher,
) -> Result<Outcome> {
    settings.validate()?;
    fit_from(&mut Memory::new(train, settings)?, validation, settings, Compute::cpu(), watcher)
}

/// Trains a network on the positions of any source, on any device.
///
/// # Errors
/// As [`fit`], and if positions cannot be read, or the device fails or has too little memory.
pub fn fit_from(
    source: &mut dyn Source,
    validation: &[TrainItem],
    settings: &Settings,
    compute: Compute,
    watcher: &mut dyn Watcher,
) -> Result<Outcome> {
    settings.validate()?;
    let start = settings.start()?;
    let about = about(source, settings, start.as_ref());
    let mut run = Run::new(source, settings, start.as_ref(), compute, watcher)?;
    if let Some(bytes) = watcher.resume()? {
        let device = run.restore(&bytes, &about.training)?;
        if device != run.backend.device() {
            watcher.moved(&device, run.backend.device());
        }
        run.epochs.iter().for_each(|epoch| watcher.epoch(epoch));
    }
    // Epochs are compared by one and the same target.
    let target = run.last_target();
    while run.epochs.len() < settings.epochs && !run.patience_is_over(settings.patience) {
        let epoch = run.epochs.len() + 1;
        let start = Instant::now();
        let Some(train_loss) = run.epoch(source, epoch)? else { break };
        let seconds = start.elapsed().as_secs_f64();
        let validation_loss =
            if validation.is_empty() { None } else { Some(run.validate(target, validation)?) };
        let done = Epoch {
            epoch,
            train_loss,
            validation_loss,
            learning_rate: run.learning_rate(),
            positions_per_second: source.positions() as f64 / seconds.max(1e-9),
        };
        run.finish(done)?;
        watcher.epoch(&done);
        watcher.keep(&mut || Ok(run.checkpoint(&about.training)?.to_bytes()))?;
    }
    let Some((_, best_epoch, parameters)) = run.best.take() else {
        return Err(Error::usage("stopped before the first epoch was done; there is no network to keep"));
    };
    let model = Model { parameters, shape: run.shape.clone() };
    let network = model.quantise(about)?;
    let record = if validation.is_empty() { source.record() } else { validation };
    let record = &record[..record.len().min(QUANTISATION_SAMPLE)];
    let quantisation = compare(&cpu::centipawns(&model, record), &network, record);
    let parameters = network.parameters();
    let device = run.backend.device().to_string();
    Ok(Outcome { network, epochs: run.epochs, best_epoch, quantisation, parameters, device, model })
}

/// A plain network with the random weights that training starts from.
///
/// # Errors
/// If no network has so many neurons.
pub fn random_network(hidden: usize, seed: u64) -> Result<Network> {
    random_network_of(&Architecture::plain(hidden), seed)
}

/// A network of any shape with random weights.
///
/// # Errors
/// If the shape makes no sense.
pub fn random_network_of(architecture: &Architecture, seed: u64) -> Result<Network> {
    architecture.check().map_err(|error| Error::usage(error.to_string()))?;
    let about = About { description: format!("random, seed {seed}"), training: String::new() };
    Model::random(architecture, false, seed).quantise(about)
}

/// What the network will say of itself: a line, and a hash of all that it follows from.
fn about(source: &dyn Source, settings: &Settings, start: Option<&Network>) -> About {
    let mut hash = Sha256::new();
    // A flat struct of numbers always has a TOML form.
    hash.update(toml::to_string(settings).unwrap_or_default());
    if let Some(network) = start {
        hash.update(network.body());
    }
    source.hash(&mut hash);
    let description = format!(
        "trained by patzer {} on {} positions, {} epochs, seed {}",
        env!("CARGO_PKG_VERSION"),
        source.positions(),
        settings.epochs,
        settings.seed
    );
    About { description, training: file::hex(&hash.finalize()) }
}

/// Evaluations before and after.
fn compare(floats: &[f32], network: &Network, items: &[TrainItem]) -> Quantisation {
    let mut nnue = Nnue::new(network.clone().into());
    let (mut sum, mut max, mut count) = (0.0, 0.0f64, 0);
    for (item, float) in items.iter().zip(floats) {
        let Some(board) = item.board.board() else { continue };
        let error = (f64::from(nnue.evaluate_board(&board, item.turn, 0)) - f64::from(*float)).abs();
        (sum, max, count) = (sum + error, max.max(error), count + 1);
    }
    Quantisation { mean_error: sum / f64::from(count.max(1)), max_error: max }
}
