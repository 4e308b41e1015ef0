//! The state of a training run between batches, and what it does with one.
//!
//! In: settings and positions. Out: weights that have gone an epoch further; and the whole state as a checkpoint.

use rayon::prelude::*;

use super::backend::Backend;
use super::checkpoint::Checkpoint;
use super::cpu::Cpu;
use super::loss::{Loss, Target};
use super::model::Model;
use super::optimiser::Optimiser;
use super::rate::Rate;
use super::settings::Forward;
use super::{Epoch, Settings, Source, TrainItem};
use crate::error::{Error, Result};
use crate::eval::nnue::Network;
use crate::interrupt;
use crate::optim::CHUNK;

/// A batch's loss that is so many times what it was at first is no accident, if the batch is not tiny.
const EXPLODES: f64 = 16.0;
const ENOUGH: usize = 64;

/// The average of the weights over the last steps.
struct Average {
    /// What each step keeps of it.
    keep: f32,
    model: Model,
}

impl Average {
    /// Takes the weights that a step, counted from 1, has led to. The first steps count for more, so that nothing is
    /// left of the weights at the start.
    fn take(&mut self, parameters: &[f32], step: u64) {
        let keep = self.keep.min(step as f32 / (10 + step) as f32);
        self.model.parameters.par_chunks_mut(CHUNK).zip(parameters.par_chunks(CHUNK)).for_each(
            |(average, weights)| {
                for (average, weight) in average.iter_mut().zip(weights) {
                    *average = keep * *average + (1.0 - keep) * weight;
                }
            },
        );
    }
}

/// The weights that are validated and kept.
fn judged<'a>(model: &'a Model, average: &'a Option<Average>) -> &'a Model {
    average.as_ref().map_or(model, |average| &average.model)
}

/// The state of a run between batches.
pub struct Run {
    pub model: Model,
    optimiser: Optimiser,
    pub backend: Box<dyn Backend>,
    rate: Rate,
    loss: Loss,
    /// The target at the first step and at the last.
    targets: [Target; 2],
    step: u64,
    steps: u64,
    pub epochs: Vec<Epoch>,
    /// The average of the parameters over the last steps, if one is kept.
    average: Option<Average>,
    /// Loss, epoch and parameters of the best epoch.
    pub best: Option<(f64, usize, Vec<f32>)>,
}

impl Run {
    /// At its start: with random weights, or those of a network of the settings' shape.
    pub fn new(source: &dyn Source, settings: &Settings, start: Option<&Network>) -> Run {
        let (architecture, factorised) = (settings.architecture(), settings.factorised());
        let model = match start {
            Some(network) => Model::of(network, factorised),
            None => Model::start(&architecture, factorised, settings.seed),
        };
        let batches = source.batches();
        Run {
            optimiser: Optimiser::new(settings, model.shape.limits()),
            backend: Box::new(Cpu::new(&model, source.largest(), settings.forward == Forward::I16)),
            rate: Rate::new(settings, batches),
            loss: settings.loss(),
            targets: [settings.wdl, settings.final_wdl.unwrap_or(settings.wdl)]
                .map(|wdl| Target { wdl, k: settings.k.unwrap_or(1.0) }),
            average: (settings.average > 0.0)
                .then(|| Average { keep: settings.average, model: model.clone() }),
            model,
            step: 0,
            steps: (batches * settings.epochs) as u64,
            epochs: Vec::new(),
            best: None,
        }
    }

    /// The mean loss of positions held out.
    pub fn validate(&mut self, target: Target, items: &[TrainItem]) -> f64 {
        let judged = judged(&self.model, &self.average);
        self.backend.mean_loss(judged, self.loss, target, items)
    }

    /// The learning rate of the last step.
    pub fn learning_rate(&self) -> f32 {
        self.rate.at(self.step.saturating_sub(1))
    }

    /// The target at the last step of the run.
    pub fn last_target(&self) -> Target {
        self.target(self.steps)
    }

    /// Takes an epoch into account.
    pub fn finish(&mut self, epoch: Epoch) {
        let value = epoch.validation_loss.unwrap_or(epoch.train_loss);
        if self.best.as_ref().is_none_or(|(lowest, ..)| value < *lowest) {
            self.best = Some((value, epoch.epoch, judged(&self.model, &self.average).parameters.clone()));
        }
        self.epochs.push(epoch);
    }

    /// Whether so many epochs have passed since the best one.
    pub fn patience_is_over(&self, patience: usize) -> bool {
        let since = |(_, best, _): &(f64, usize, Vec<f32>)| self.epochs.len() - best;
        patience > 0 && self.best.as_ref().is_some_and(|best| since(best) >= patience)
    }

    pub fn checkpoint(&self, hash: &str) -> Checkpoint {
        let (optimiser_steps, state) = self.optimiser.state();
        let (best_loss, best_epoch, best) = self.best.clone().unwrap_or_default();
        let mut vectors = vec![self.model.parameters.clone(), best];
        vectors.extend(state);
        vectors.extend(self.average.as_ref().map(|average| average.model.parameters.clone()));
        Checkpoint {
            hash: hash.to_string(),
            step: self.step,
            optimiser_steps,
            epochs: self.epochs.clone(),
            best_epoch: best_epoch as u64,
            best_loss,
            vectors,
        }
    }

    pub fn restore(&mut self, bytes: &[u8], hash: &str) -> Result<()> {
        let saved = Checkpoint::parse(bytes).map_err(Error::usage)?;
        let other = || Error::usage("the checkpoint is of a run with other settings or positions");
        let [parameters, best, state @ ..] = &saved.vectors[..] else { return Err(other()) };
        let count = if self.average.is_some() { 1 } else { 0 };
        let Some((state, averaged)) = state.split_at_checked(state.len().wrapping_sub(count)) else {
            return Err(other());
        };
        let fits = parameters.len() == self.model.parameters.len() && best.len() == parameters.len();
        if saved.hash != hash || !fits || !self.optimiser.restore(saved.optimiser_steps, state) {
            return Err(other());
        }
        for (average, saved) in self.average.iter_mut().zip(averaged) {
            if saved.len() != parameters.len() {
                return Err(other());
            }
            average.model.parameters.clone_from(saved);
        }
        self.model.parameters.clone_from(parameters);
        self.best = Some((saved.best_loss, saved.best_epoch as usize, best.clone()));
        (self.step, self.epochs) = (saved.step, saved.epochs);
        Ok(())
    }

    /// The target at a step.
    fn target(&self, step: u64) -> Target {
        let [start, end] = self.targets;
        let done = step as f32 / self.steps.max(1) as f32;
        Target { wdl: start.wdl + (end.wdl - start.wdl) * done, ..start }
    }

    /// One epoch. The mean loss, or `None` if the user stopped it.
    pub fn epoch(&mut self, source: &mut dyn Source, epoch: usize) -> Result<Option<f64>> {
        let (mut total, mut count, mut batches, mut first) = (0.0, 0, 0, None);
        source.epoch(epoch, &mut |items, batch| {
            if interrupt::requested() {
                return Ok(false);
            }
            batches += 1;
            let target = self.target(self.step);
            let (loss, gradient) = self.backend.gradient(&self.model, self.loss, target, items, batch);
            let groups = batch.len() / self.loss.group();
            let mean = loss / groups as f64;
            let first = *first.get_or_insert(mean);
            let usual = self.epochs.first().map_or(first, |epoch| epoch.train_loss);
            let explodes = batch.len() >= ENOUGH && mean > EXPLODES * usual;
            if !mean.is_finite() || explodes {
                return Err(Error::usage(format!(
                    "the loss of batch {batches} of epoch {epoch} is {mean}{}; try a lower learning rate",
                    if explodes { format!(", after {usual:.6} at first") } else { String::new() }
                )));
            }
            total += loss;
            count += groups;
            self.optimiser.step(&mut self.model.parameters, gradient, self.rate.at(self.step));
            self.step += 1;
            if let Some(average) = &mut self.average {
                average.take(&self.model.parameters, self.step);
            }
            Ok(true)
        })?;
        Ok((!interrupt::requested()).then_some(total / count.max(1) as f64))
    }
}
