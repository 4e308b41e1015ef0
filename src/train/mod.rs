//! Training of networks.
//!
//! In: positions with a score, a result or both, and [`Settings`]. Out: the quantised network of the best epoch.
//! The loss compares expected results: the output goes through a sigmoid as the score does. Weights are 32-bit floats
//! until the end; AdamW moves them, and they are kept small enough to quantise.
//!
//! `shape` says where the parameters of any architecture lie, `extract` which of them a position touches, `kernel` and
//! `head` compute, `cpu` spreads batches over threads.
//!
//! The bytes of the result depend on the positions, their order and the settings alone.

mod cpu;
mod extract;
mod head;
mod kernel;
mod loss;
mod model;
mod settings;
mod shape;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::Serialize;
use sha2::{Digest, Sha256};
use shakmaty::Color;

pub use settings::{RECIPES, Settings};

pub use loss::LossKind;

use self::cpu::{Cpu, Target};
use self::loss::Loss;
use self::model::Model;
use crate::chess::PackedBoard;
use crate::error::{Error, Result};
use crate::eval::nnue::{About, Architecture, Network, Nnue, file};
use crate::interrupt;
use crate::optim::{Adam, AdamSettings, Schedule};
use crate::rng::{Rng, mix};

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
}

impl Outcome {
    /// The best epoch itself.
    pub fn best(&self) -> &Epoch {
        &self.epochs[self.best_epoch - 1]
    }
}

/// By how much the quantised network differs from the one that was trained, in centipawns over a sample of the
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

/// Trains a network. After every epoch `progress` is told.
///
/// SIGINT ends it after the current batch with the best epoch so far.
///
/// # Errors
/// If a setting makes no sense, there is nothing to train on, the loss stops being a number, or the user stops
/// it before the first epoch is done.
pub fn fit(
    train: &[TrainItem],
    validation: &[TrainItem],
    settings: &Settings,
    progress: &mut dyn FnMut(&Epoch),
) -> Result<Outcome> {
    settings.validate()?;
    if train.is_empty() {
        return Err(Error::usage("there are no positions to train on"));
    }
    let count = u32::try_from(train.len())
        .map_err(|_| Error::usage(format!("{} positions are more than 2^32 - 1", train.len())))?;
    let mut run = Run::new(train, settings);
    let mut order: Vec<u32> = (0..count).collect();
    // Epochs are compared by one and the same target.
    let target = run.target(run.steps);
    let loss = settings.loss();
    let mut epochs: Vec<Epoch> = Vec::new();
    let mut best: Option<(f64, usize, Model)> = None;
    for epoch in 1..=settings.epochs {
        // From the same start each time, so that an epoch's order follows from the seed and its number.
        order.iter_mut().zip(0..).for_each(|(slot, i)| *slot = i);
        Rng::new(mix(settings.seed, epoch as u64)).shuffle(&mut order);
        let start = Instant::now();
        let Some(train_loss) = run.epoch(train, &order, epoch)? else { break };
        let seconds = start.elapsed().as_secs_f64();
        let validation_loss =
            (!validation.is_empty()).then(|| cpu::mean_loss(&run.model, loss, target, validation));
        let done = Epoch {
            epoch,
            train_loss,
            validation_loss,
            learning_rate: run.schedule.rate(run.step.saturating_sub(1)),
            positions_per_second: train.len() as f64 / seconds.max(1e-9),
        };
        let value = validation_loss.unwrap_or(train_loss);
        if best.as_ref().is_none_or(|(lowest, ..)| value < *lowest) {
            best = Some((value, epoch, run.model.clone()));
        }
        epochs.push(done);
        progress(&done);
    }
    let Some((_, best_epoch, model)) = best else {
        return Err(Error::usage("stopped before the first epoch was done; there is no network to keep"));
    };
    let network = model.quantise(about(train, settings))?;
    let sample = if validation.is_empty() { train } else { validation };
    let quantisation = compare(&model, &network, &sample[..sample.len().min(QUANTISATION_SAMPLE)]);
    let parameters = network.parameters();
    Ok(Outcome { network, epochs, best_epoch, quantisation, parameters })
}

/// A network with the random weights that training starts from.
///
/// # Errors
/// If no network has so many neurons.
pub fn random_network(hidden: usize, seed: u64) -> Result<Network> {
    Settings { hidden, seed, ..Settings::default() }.validate()?;
    let about = About { description: format!("random, seed {seed}"), training: String::new() };
    Model::random(&Architecture::plain(hidden), false, seed).quantise(about)
}

/// The state of a run between batches.
struct Run {
    model: Model,
    adam: Adam,
    cpu: Cpu,
    limits: Vec<f32>,
    schedule: Schedule,
    loss: Loss,
    /// The target at the first step and at the last.
    targets: [Target; 2],
    batches: usize,
    step: u64,
    steps: u64,
}

impl Run {
    fn new(train: &[TrainItem], settings: &Settings) -> Run {
        let model = Model::start(&settings.architecture(), settings.factorised(), settings.seed);
        let batches = train.len().div_ceil(settings.batch);
        let adam = AdamSettings {
            beta1: settings.beta1,
            beta2: settings.beta2,
            epsilon: 1e-8,
            weight_decay: settings.weight_decay,
        };
        let steps = (batches * settings.epochs) as u64;
        Run {
            adam: Adam::new(model.parameters.len(), adam),
            cpu: Cpu::new(&model, settings.batch.min(train.len())),
            limits: model.shape.limits(),
            loss: settings.loss(),
            targets: [settings.wdl, settings.final_wdl.unwrap_or(settings.wdl)]
                .map(|wdl| Target { wdl, k: settings.k.unwrap_or(1.0) }),
            schedule: Schedule {
                start: settings.learning_rate,
                end: settings.final_learning_rate,
                decay: settings.schedule,
                // A short run still has most of its steps at the full rate.
                warmup: settings.warmup.min(steps / 10),
                steps,
            },
            model,
            batches,
            step: 0,
            steps,
        }
    }

    /// The target at a step.
    fn target(&self, step: u64) -> Target {
        let [start, end] = self.targets;
        let done = step as f32 / self.steps.max(1) as f32;
        Target { wdl: start.wdl + (end.wdl - start.wdl) * done, ..start }
    }

    /// One pass in the given order. The mean loss, or `None` if the user stopped it.
    fn epoch(&mut self, train: &[TrainItem], order: &[u32], epoch: usize) -> Result<Option<f64>> {
        let mut total = 0.0;
        for i in 0..self.batches {
            if interrupt::requested() {
                return Ok(None);
            }
            // Batches of equal size: a short last one would move the weights as far as a whole one.
            let batch = &order[i * order.len() / self.batches..(i + 1) * order.len() / self.batches];
            let target = self.target(self.step);
            let (loss, gradient) = self.cpu.gradient(&self.model, self.loss, target, train, batch);
            if !loss.is_finite() {
                return Err(Error::usage(format!(
                    "the loss of batch {} of epoch {epoch} is {loss}; try a lower learning rate",
                    i + 1
                )));
            }
            total += loss;
            self.adam.step(&mut self.model.parameters, gradient, self.schedule.rate(self.step));
            for (weight, limit) in self.model.parameters.iter_mut().zip(&self.limits) {
                *weight = weight.clamp(-limit, *limit);
            }
            self.step += 1;
        }
        Ok(Some(total / order.len() as f64))
    }
}

/// What the network will say of itself: a line, and a hash of all that it follows from.
fn about(train: &[TrainItem], settings: &Settings) -> About {
    let mut hash = Sha256::new();
    // A flat struct of numbers always has a TOML form.
    hash.update(toml::to_string(settings).unwrap_or_default());
    for item in train {
        hash.update(item.board.0);
        hash.update([item.turn.is_black().into(), item.score.is_some().into(), item.result as u8]);
        hash.update(item.score.unwrap_or(0).to_le_bytes());
    }
    let description = format!(
        "trained by patzer {} on {} positions, {} epochs, seed {}",
        env!("CARGO_PKG_VERSION"),
        train.len(),
        settings.epochs,
        settings.seed
    );
    About { description, training: file::hex(&hash.finalize()) }
}

fn compare(model: &Model, network: &Network, items: &[TrainItem]) -> Quantisation {
    let floats = cpu::centipawns(model, items);
    let mut nnue = Nnue::new(network.clone().into());
    let (mut sum, mut max, mut count) = (0.0, 0.0f64, 0);
    for (item, float) in items.iter().zip(floats) {
        let Some(board) = item.board.board() else { continue };
        let error = (f64::from(nnue.evaluate_board(&board, item.turn, 0)) - f64::from(float)).abs();
        (sum, max, count) = (sum + error, max.max(error), count + 1);
    }
    Quantisation { mean_error: sum / f64::from(count.max(1)), max_error: max }
}
