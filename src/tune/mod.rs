//! Tuning of the hand-crafted evaluation to results of games.
//!
//! In: boards with the results to predict, split into a part to fit and a part to validate on, and weights to
//! start from. Out: the weights of least validation loss, with the losses before and after. Source: Österlund,
//! "Texel's Tuning Method" (2014), with exact gradients and Adam (Kingma and Ba, 2015) as Grant's "Evaluation &
//! Tuning in Chess Engines" (2020) has them.

mod loss;
mod settings;
mod traces;

use std::time::Instant;

use rayon::prelude::*;
use shakmaty::Color;

use crate::chess::PackedBoard;
use crate::error::{Error, Result};
use crate::eval::hce::{COUNT, Weights};
use crate::optim::{Adam, AdamSettings};
use crate::rng::{self, Rng};
use crate::wdl;
use traces::{BLOCK, Block};

pub use settings::Settings;

/// A position to tune on.
#[derive(Debug, Clone, Copy)]
pub struct TuneItem {
    /// The pieces, of a quiet position: usually the leaf of a quiescence search.
    pub board: PackedBoard,
    /// Side to move.
    pub turn: Color,
    /// The result to predict, from White's side, from 0 (lost) to 1 (won).
    pub target: f32,
}

/// How an epoch went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: usize,
    /// Mean loss over the epoch's batches, each before its step.
    pub train_loss: f64,
    /// Loss on the validation positions after the epoch; `None` without such positions.
    pub validation_loss: Option<f64>,
    /// Learning rate of the epoch, in centipawns a step.
    pub learning_rate: f32,
    /// Training positions a second, validation included.
    pub positions_per_second: f64,
    /// Whether this is the best epoch so far.
    pub best: bool,
}

/// Losses on both parts of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// On the training positions.
    pub train: f64,
    /// On the validation positions; `None` without such positions.
    pub validation: Option<f64>,
}

/// What tuning gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The best weights, rounded to whole centipawns, with the K they are for.
    pub weights: Weights,
    /// The best weights before rounding, `[midgame, endgame]` in centipawns.
    pub exact: Vec<[f32; 2]>,
    /// K of the sigmoid.
    pub k: f64,
    /// Losses of the weights to start from.
    pub before: Losses,
    /// Losses of the best weights before rounding.
    pub exact_losses: Losses,
    /// Losses of the best weights, rounded.
    pub after: Losses,
    /// Epochs run.
    pub epochs: usize,
    /// The epoch after which the weights were best; 0 if none was better than the start.
    pub best_epoch: usize,
    /// Number of values that were tuned, two a pair.
    pub parameters: usize,
    /// Training positions a second over all epochs.
    pub positions_per_second: f64,
}

/// Tunes weights.
///
/// Every epoch visits the training positions in another order and makes one step of Adam a batch. Tuning ends
/// after `settings.epochs`, or when the validation loss has not fallen for `settings.patience` epochs, or when the
/// user interrupts; the best weights so far are kept. The result depends on the data and the settings alone, not
/// on the number of threads.
///
/// # Errors
/// If there are no training positions, a setting makes no sense, a board is damaged, or K cannot be fitted.
pub fn fit(
    train: &[TuneItem],
    validation: &[TuneItem],
    start: &Weights,
    settings: &Settings,
    progress: &mut dyn FnMut(&Epoch),
) -> Result<Outcome> {
    let tuned = settings.check()?;
    if train.is_empty() {
        return Err(Error::usage("there are no positions to tune on"));
    }
    let weights: Vec<[f32; 2]> = start.pairs().iter().map(|pair| pair.map(|value| value as f32)).collect();
    let order = |length: usize| (0..length as u32).collect::<Vec<_>>();
    let mut shuffled = order(train.len());
    Rng::new(settings.seed).shuffle(&mut shuffled);
    let train = traces::build(train, &shuffled, &weights, &tuned)?;
    let validation = traces::build(validation, &order(validation.len()), &weights, &tuned)?;
    let k = match settings.k {
        Some(k) => k,
        None => {
            wdl::fit_k(&scores(&train, &weights))
                .map_err(|e| Error::usage(format!("{e}; give K with --k")))?
                .k
        }
    };
    let parameters = 2 * tuned.iter().filter(|tuned| **tuned).count();
    let run = Run { train, validation, start: weights, k, settings };
    run.go(progress)?.finish(&run, parameters)
}

fn scores(blocks: &[Block], weights: &[[f32; 2]]) -> Vec<(f32, f32)> {
    blocks.iter().flat_map(|block| loss::scores(block, weights)).collect()
}

/// Everything that stays the same during tuning.
struct Run<'a> {
    train: Vec<Block>,
    validation: Vec<Block>,
    start: Vec<[f32; 2]>,
    k: f64,
    settings: &'a Settings,
}

/// The best weights so far.
struct Best {
    weights: Vec<[f32; 2]>,
    loss: f64,
    epoch: usize,
    epochs: usize,
    positions_per_second: f64,
}

impl Run<'_> {
    fn losses(&self, weights: &[[f32; 2]]) -> Losses {
        let validation = (!self.validation.is_empty()).then(|| loss::loss(&self.validation, weights, self.k));
        Losses { train: loss::loss(&self.train, weights, self.k), validation }
    }

    fn positions(&self) -> usize {
        self.train.iter().map(|block| block.rows.len()).sum()
    }

    fn go(&self, progress: &mut dyn FnMut(&Epoch)) -> Result<Best> {
        let mut weights = self.start.clone();
        let mut adam = Adam::new(2 * COUNT, AdamSettings::default());
        let first = self.losses(&weights);
        let mut best = Best {
            weights: weights.clone(),
            loss: first.validation.unwrap_or(first.train),
            epoch: 0,
            epochs: 0,
            positions_per_second: 0.0,
        };
        let begun = Instant::now();
        for number in 1..=self.settings.epochs {
            let epoch_begun = Instant::now();
            let learning_rate = self.settings.rate(number);
            let train_loss = self.epoch(number, &mut weights, &mut adam, learning_rate);
            if !weights.iter().flatten().all(|weight| weight.is_finite()) {
                return Err(Error::usage("tuning diverged; lower the learning rate"));
            }
            let validation_loss =
                (!self.validation.is_empty()).then(|| loss::loss(&self.validation, &weights, self.k));
            let judged = validation_loss.unwrap_or(train_loss);
            let is_best = judged < best.loss;
            if is_best {
                (best.weights, best.loss, best.epoch) = (weights.clone(), judged, number);
            }
            best.epochs = number;
            progress(&Epoch {
                number,
                train_loss,
                validation_loss,
                learning_rate,
                positions_per_second: self.positions() as f64 / epoch_begun.elapsed().as_secs_f64(),
                best: is_best,
            });
            if number - best.epoch >= self.settings.patience || crate::interrupt::requested() {
                break;
            }
        }
        best.positions_per_second =
            (best.epochs * self.positions()) as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        Ok(best)
    }

    /// One pass over the training positions. Returns the mean loss.
    fn epoch(&self, number: usize, weights: &mut [[f32; 2]], adam: &mut Adam, learning_rate: f32) -> f64 {
        let mut order: Vec<usize> = (0..self.train.len()).collect();
        Rng::new(rng::mix(self.settings.seed, number as u64)).shuffle(&mut order);
        let mut sum = 0.0;
        for batch in order.chunks(self.settings.batch.div_ceil(BLOCK)) {
            let parts: Vec<(f64, Vec<[f32; 2]>)> = batch
                .par_iter()
                .map(|&index| {
                    let mut gradient = vec![[0.0; 2]; COUNT];
                    (loss::gradient(&self.train[index], weights, self.k, &mut gradient), gradient)
                })
                .collect();
            let positions: usize = batch.iter().map(|&index| self.train[index].rows.len()).sum();
            let mut gradient = vec![[0.0f32; 2]; COUNT];
            for (loss, part) in &parts {
                sum += loss;
                let add = |(total, part): (&mut f32, &f32)| *total += part;
                gradient.as_flattened_mut().iter_mut().zip(part.as_flattened()).for_each(add);
            }
            self.scale_and_pull(&mut gradient, weights, positions);
            adam.step(weights.as_flattened_mut(), gradient.as_flattened(), learning_rate);
        }
        sum / self.positions() as f64
    }

    /// Turns a sum into a mean and adds the pull towards the initial values.
    fn scale_and_pull(&self, gradient: &mut [[f32; 2]], weights: &[[f32; 2]], positions: usize) {
        let mean = 1.0 / positions as f32;
        let pull = 2.0 * self.settings.l2 / 1e4;
        let all = weights.as_flattened().iter().zip(self.start.as_flattened());
        for (gradient, (weight, start)) in gradient.as_flattened_mut().iter_mut().zip(all) {
            *gradient = *gradient * mean + pull * (weight - start);
        }
    }
}

impl Best {
    fn finish(self, run: &Run<'_>, parameters: usize) -> Result<Outcome> {
        let rounded: Vec<[i32; 2]> = self.weights.iter().map(|pair| pair.map(|v| v.round() as i32)).collect();
        let weights = Weights::from_pairs(run.k, &rounded)
            .ok_or_else(|| Error::internal("tuned weights of the wrong shape"))?;
        let as_floats: Vec<[f32; 2]> = weights.pairs().iter().map(|pair| pair.map(|v| v as f32)).collect();
        Ok(Outcome {
            k: run.k,
            before: run.losses(&run.start),
            exact_losses: run.losses(&self.weights),
            after: run.losses(&as_floats),
            weights,
            exact: self.weights,
            epochs: self.epochs,
            best_epoch: self.epoch,
            parameters,
            positions_per_second: self.positions_per_second,
        })
    }
}

#[cfg(test)]
mod tests;
