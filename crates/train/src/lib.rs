#![doc = include_str!("../README.md")]
//!
//! # How it trains
//!
//! The loss compares expected results: output and score both go through a sigmoid. Weights are 32-bit floats
//! during training, bounded so that they can be quantised. On the CPU the bytes of a network depend on
//! positions, their order and settings alone; on a GPU also on the device.

mod backend;
mod checkpoint;
mod cpu_backend;
mod cpu_gradient;
mod device;
mod extract;
mod feature_table;
mod gpu;
mod learning_rate;
mod loader;
mod loss;
mod micro_batch;
mod model;
mod optimiser;
mod output_layers;
mod param_layout;
mod permutation;
mod position_weight;
mod pqr;
mod rounding;
mod run;
mod safetensors;
mod score_sources;
mod settings;
mod sparse_order;
mod start;
mod streaming;
mod td_lambda;
#[cfg(test)]
mod tests;
mod training_data;
mod wdl_loss;

use std::time::Instant;

use serde::Serialize;
use sha2::{Digest, Sha256};
use shakmaty::Color;

pub use checkpoint::{is_checkpoint, resume_point};
pub use device::{Compute, Device, ParseDeviceError};
pub use extract::Extractor;
pub use learning_rate::Phase;
pub use loader::{DataLoader, MemoryLoader, StreamLoader, StreamSender, Superbatch};
pub use loss::LossKind;
pub use micro_batch::Vectors;
pub use optimiser::OptimiserKind;
pub use permutation::permutation;
pub use settings::{Forward, Keep, RECIPES, Settings};
pub use start::Start;
pub use training_data::{FittedK, TrainingData};

use self::cpu_gradient::CpuGradient;
use self::loader::{SAMPLE, evenly};
use self::model::Model;
use self::run::Run;
use self::sparse_order::Zeros;
use patzer_chess::PackedBoard;
use patzer_eval::nnue::{About, Architecture, Network, Nnue, file};
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainItem {
    pub board: PackedBoard,
    pub turn: Color,
    /// The halfmove clock.
    pub halfmoves: u8,
    /// Score in centipawns from the side to move.
    pub score: Option<i16>,
    /// Result from White's side, ±[`WIN`]: of the game, or the mean of several.
    pub result: i16,
    /// Plies from the start of its game.
    pub ply: u16,
}

/// A won game in [`TrainItem::result`]; a power of two, so that game results are exact.
pub const WIN: i16 = 1 << 14;

impl TrainItem {
    #[inline]
    pub fn expected(&self) -> f32 {
        f32::from(self.result) * (0.5 / WIN as f32) + 0.5
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epoch {
    pub epoch: usize,
    pub train_loss: f64,
    pub validation_loss: Option<f64>,
    pub learning_rate: f32,
    pub positions_per_second: f64,
}

/// What the stages before have left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    pub stages: u64,
    /// K of all stages that name none, if one has fitted it.
    pub k: Option<f32>,
    pub weights: Vec<f32>,
    pub epochs: Vec<Epoch>,
}

#[derive(Debug, Clone)]
pub struct Outcome {
    pub network: Network,
    pub epochs: Vec<Epoch>,
    /// Epoch of the network kept, counted from 1: that with the lowest validation loss (else training loss), 0 if the
    /// start was better; or the last.
    pub best_epoch: usize,
    pub losses: Losses,
    pub quantisation: Quantisation,
    pub parameters: usize,
    pub device: String,
    model: Model,
}

impl Outcome {
    pub fn safetensors(&self) -> Vec<u8> {
        safetensors::safetensors(&self.model, &self.network.about().description)
    }

    /// What this stage and those before leave to the next.
    pub fn handover(&self, earlier: Earlier, k: Option<f32>) -> Earlier {
        let mut epochs = earlier.epochs;
        epochs.extend(&self.epochs);
        Earlier { stages: earlier.stages + 1, k, weights: self.model.parameters.clone(), epochs }
    }
}

/// Mean losses of the network that was kept, and what they compare with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// On positions trained on, evenly drawn from all.
    pub train: f64,
    pub validation: Option<f64>,
    pub start: Option<f64>,
    /// Loss of the mean target for every position, on the held-out positions if there are any.
    pub constant: f64,
}

/// Share of the validation loss by which the training loss may be lower before data count as few.
const GAP: f64 = 0.1;

impl Losses {
    /// Number of positions that would suffice, if these do not: the gap between validation and training loss falls
    /// about as 1 / positions, and has to be below a tenth.
    pub fn needed(&self, positions: usize) -> Option<usize> {
        let validation = self.validation?;
        let (gap, middle) = (validation - self.train, (validation + self.train) / 2.0);
        (gap > GAP * validation).then(|| (positions as f64 * gap / (GAP * middle)) as usize)
    }

    /// The kept network's loss, on held-out positions if there are any.
    pub fn kept(&self) -> f64 {
        self.validation.unwrap_or(self.train)
    }
}

/// Absolute difference of the quantised from the float network in centipawns, and its zeros, over validation positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantisation {
    pub mean_error: f64,
    pub max_error: f64,
    /// Share of the hidden layer's activations that are 0 in the quantised network.
    pub zero_activations: f64,
    /// Share of the blocks of four activations that are all 0, which a first further layer in bytes skips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_blocks: Option<f64>,
}

/// Callbacks of a training run. A closure that takes an [`Epoch`] is one.
pub trait TrainingCallbacks {
    /// Called after every epoch, and for the epochs of a resumed run.
    fn epoch(&mut self, epoch: &Epoch);

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Called if the GPU failed its check and the CPU trains instead.
    fn gpu_rejected(&mut self, _reason: &Error) {}

    /// Called if the checkpoint is of another device: the run continues within rounding, not to the byte.
    fn device_changed(&mut self, _from: &str, _to: &str) {}

    fn save_checkpoint(&mut self, _state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        Ok(())
    }

    /// Called after every epoch, before its checkpoint, with what makes the network of its weights.
    fn save_network(&mut self, _network: &mut dyn FnMut() -> Result<Network>) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&Epoch)> TrainingCallbacks for F {
    fn epoch(&mut self, epoch: &Epoch) {
        self(epoch);
    }
}

/// Trains a network on positions in memory, on the CPU. SIGINT ends the run with the best epoch so far.
pub fn fit(
    train: &[TrainItem],
    validation: &[TrainItem],
    settings: &Settings,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<Outcome> {
    settings.validate()?;
    fit_from(&mut MemoryLoader::new(train, settings)?, validation, settings, Compute::cpu(), callbacks)
}

/// Trains a network on batches of any loader, on any device; see [`fit`].
pub fn fit_from(
    loader: &mut dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    compute: Compute,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<Outcome> {
    fit_stage(loader, validation, settings, &Earlier::default(), compute, callbacks)
}

/// Trains on from the weights of the stages before; see [`fit_from`].
fn fit_stage(
    loader: &mut dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    earlier: &Earlier,
    compute: Compute,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<Outcome> {
    settings.validate()?;
    // A later stage has its weights, and only describes the file, which may be gone.
    let file = if earlier.stages == 0 { settings.start()? } else { settings.start().ok().flatten() };
    let start = file.as_ref().filter(|_| earlier.stages == 0).map(|start| &start.network);
    let layout = file.as_ref().and_then(|start| start.raw.as_ref()).map(|(_, layout)| *layout);
    let about = about(loader, validation, settings, start, layout, earlier);
    let mut run = Run::new(loader, settings, start, earlier, compute, callbacks)?;
    let start_loss = run.begin(validation)?;
    if let Some(bytes) = callbacks.resume()? {
        let device = run.restore(&bytes, &about.training)?;
        if device != run.backend.device() {
            callbacks.device_changed(&device, run.backend.device());
        }
        run.epochs.iter().for_each(|epoch| callbacks.epoch(epoch));
    }
    // All epochs are validated against the same target.
    let target = run.target(run.steps);
    while run.epochs.len() < settings.epochs && !run.patience_is_over(settings.patience) {
        let epoch = run.epochs.len() + 1;
        let start = Instant::now();
        let Some(train_loss) = run.epoch(loader, epoch)? else { break };
        let seconds = start.elapsed().as_secs_f64();
        let validation_loss = (!validation.is_empty())
            .then(|| run.backend.mean_loss(run.loss, target, validation))
            .transpose()?;
        let done = Epoch {
            epoch,
            train_loss,
            validation_loss,
            learning_rate: run.rate.at(run.step.saturating_sub(1)),
            positions_per_second: loader.positions() as f64 / seconds.max(1e-9),
        };
        run.finish(done)?;
        callbacks.epoch(&done);
        callbacks.save_network(&mut || {
            let model = Model { parameters: run.backend.validated_weights()?, layout: run.layout.clone() };
            network(&model, about.clone(), run.loss.k, &loader.sample())
        })?;
        callbacks.save_checkpoint(&mut || Ok(run.checkpoint(&about.training)?.to_bytes()))?;
    }
    let (Some((best_loss, best_epoch, parameters)), Some(_)) = (run.best.take(), run.epochs.first()) else {
        return Err(Error::input("stopped before the first epoch was done; there is no network to keep"));
    };
    let model = Model { parameters, layout: run.layout.clone() };
    let trained = loader.sample();
    let network = network(&model, about, run.loss.k, &trained)?;
    let judged = if validation.is_empty() { &trained[..] } else { validation };
    let losses = Losses {
        train: CpuGradient::once(&model, settings).mean_loss(&model, run.loss, target, &trained),
        validation: start_loss.map(|_| best_loss),
        start: start_loss,
        constant: run.loss.of_constant(target, judged, settings.position_weight.as_ref()),
    };
    let judged: Vec<TrainItem> = evenly(judged, 1, SAMPLE / 2).copied().collect();
    let floats = cpu_gradient::centipawns(&model, &judged, false, run.loss.k);
    let quantisation = compare(&floats, &network, &judged);
    let parameters = network.parameters();
    let device = run.backend.device().to_string();
    Ok(Outcome { network, epochs: run.epochs, best_epoch, losses, quantisation, parameters, device, model })
}

/// The network of trained weights; `trained` are some of the positions.
fn network(model: &Model, about: About, k: f32, trained: &[TrainItem]) -> Result<Network> {
    sparse_order::in_order_of_zeros(model.quantise(about)?.with_wdl_k(k.into()), trained)
}

pub fn random_network(hidden: usize, seed: u64) -> Result<Network> {
    random_network_of(&Architecture::plain(hidden), seed)
}

pub fn random_network_of(architecture: &Architecture, seed: u64) -> Result<Network> {
    architecture.check().map_err(|error| Error::usage(error.to_string()))?;
    let about = About { description: format!("random, seed {seed}"), training: String::new() };
    Model::random(architecture, false, seed).quantise(about)
}

/// Description of a trained network, and a hash of everything that determines it.
fn about(
    loader: &dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    start: Option<&Network>,
    layout: Option<&str>,
    earlier: &Earlier,
) -> About {
    let mut hash = Sha256::new();
    // The positions count, not where they come from.
    let settings = &Settings {
        data: Vec::new(),
        filter: Vec::new(),
        filter_set: Vec::new(),
        validation_data: Vec::new(),
        ..settings.clone()
    };
    hash.update(toml::to_string(settings).unwrap_or_default());
    if let Some(network) = start {
        hash.update(network.body());
    }
    earlier.weights.iter().for_each(|weight| hash.update(weight.to_le_bytes()));
    loader.hash(&mut hash);
    // They choose the epoch that is kept.
    loader::hash_items(&mut hash, validation);
    let (version, positions) = (env!("CARGO_PKG_VERSION"), loader.positions());
    let Settings { epochs, seed, .. } = settings;
    let stage = if earlier.stages > 0 { format!(", stage {}", earlier.stages + 1) } else { String::new() };
    let from = layout.map_or(String::new(), |layout| format!(", from raw weights in the layout {layout}"));
    let description = format!(
        "trained by patzer {version} on {positions} positions, {epochs} epochs, seed {seed}{stage}{from}"
    );
    About { description, training: file::hex(&hash.finalize()) }
}

fn compare(floats: &[f32], network: &Network, items: &[TrainItem]) -> Quantisation {
    let mut nnue = Nnue::new(network.clone().into());
    let (mut sum, mut max, mut count) = (0.0, 0.0f64, 0);
    let shape = network.architecture();
    let mut zeros = Zeros::default();
    for (item, float) in items.iter().zip(floats) {
        let Some(board) = item.board.board() else { continue };
        let error =
            (f64::from(nnue.evaluate_board(&board, item.halfmoves, item.turn, 0)) - f64::from(*float)).abs();
        (sum, max, count) = (sum + error, max.max(error), count + 1);
        let active = nnue.hidden_activations(&board, item.halfmoves, item.turn);
        zeros.count(&active, shape.outputs_per_perspective());
    }
    Quantisation {
        mean_error: sum / f64::from(count.max(1)),
        max_error: max,
        zero_activations: zeros.share_of_activations(),
        zero_blocks: shape.in_bytes().then(|| zeros.share_of_blocks()),
    }
}
