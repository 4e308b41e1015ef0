//! The state of a training run between batches, and what it does with one.
//!
//! In: settings and positions. Out: weights that have gone an epoch further; and the whole state as a checkpoint.

use std::collections::VecDeque;

use super::backend::{Backend, State, Step};
use super::checkpoint::Checkpoint;
use super::device::Compute;
use super::learning_rate::Rate;
use super::loss::{Loss, Target};
use super::model::Model;
use super::param_layout::Shape;
use super::{Epoch, Settings, Source, TrainItem, Watcher};
use patzer_eval::nnue::Network;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// A batch's loss that is so many times what it was at first is no accident, if the batch is not tiny.
const EXPLODES: f64 = 16.0;
const ENOUGH: usize = 64;

/// The state of a run between batches.
pub struct Run {
    pub shape: Shape,
    pub backend: Box<dyn Backend>,
    rate: Rate,
    loss: Loss,
    /// The target at the first step and at the last.
    targets: [Target; 2],
    step: u64,
    steps: u64,
    pub epochs: Vec<Epoch>,
    /// Whether averaged weights are kept.
    averaged: bool,
    /// Loss, epoch and parameters of the best epoch.
    pub best: Option<(f64, usize, Vec<f32>)>,
}

impl Run {
    /// At its start: with random weights, or those of a network of the settings' shape.
    pub fn new(
        source: &dyn Source,
        settings: &Settings,
        start: Option<&Network>,
        compute: Compute,
        watcher: &mut dyn Watcher,
    ) -> Result<Run> {
        let (architecture, factorised) = (settings.architecture(), settings.factorised());
        let model = match start {
            Some(network) => Model::of(network, factorised),
            None => Model::start(&architecture, factorised, settings.seed),
        };
        let (batches, shape) = (source.batches(), model.shape.clone());
        let (backend, set_aside) = compute.backend(model, settings, source.largest(), source.record())?;
        if let Some(reason) = set_aside {
            watcher.set_aside(&reason);
        }
        Ok(Run {
            shape,
            backend,
            rate: Rate::new(settings, batches),
            loss: settings.loss(),
            targets: [settings.wdl, settings.final_wdl.unwrap_or(settings.wdl)]
                .map(|wdl| Target { wdl, k: settings.k.unwrap_or(1.0) }),
            step: 0,
            steps: (batches * settings.epochs) as u64,
            epochs: Vec::new(),
            averaged: settings.average > 0.0,
            best: None,
        })
    }

    /// The mean loss of positions held out.
    pub fn validate(&mut self, target: Target, items: &[TrainItem]) -> Result<f64> {
        self.backend.mean_loss(self.loss, target, items)
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
    pub fn finish(&mut self, epoch: Epoch) -> Result<()> {
        let value = epoch.validation_loss.unwrap_or(epoch.train_loss);
        if self.best.as_ref().is_none_or(|(lowest, ..)| value < *lowest) {
            self.best = Some((value, epoch.epoch, self.backend.judged()?));
        }
        self.epochs.push(epoch);
        Ok(())
    }

    /// Whether so many epochs have passed since the best one.
    pub fn patience_is_over(&self, patience: usize) -> bool {
        let since = |(_, best, _): &(f64, usize, Vec<f32>)| self.epochs.len() - best;
        patience > 0 && self.best.as_ref().is_some_and(|best| since(best) >= patience)
    }

    pub fn checkpoint(&mut self, hash: &str) -> Result<Checkpoint> {
        let State { parameters, steps, optimiser, average } = self.backend.save()?;
        let (best_loss, best_epoch, best) = self.best.clone().unwrap_or_default();
        let mut vectors = vec![parameters, best];
        vectors.extend(optimiser);
        vectors.extend(average);
        Ok(Checkpoint {
            hash: hash.to_string(),
            step: self.step,
            optimiser_steps: steps,
            epochs: self.epochs.clone(),
            best_epoch: best_epoch as u64,
            best_loss,
            vectors,
            device: self.backend.device().to_string(),
        })
    }

    /// Goes on from a checkpoint; the device that left it.
    pub fn restore(&mut self, bytes: &[u8], hash: &str) -> Result<String> {
        let saved = Checkpoint::parse(bytes).map_err(Error::usage)?;
        let other = || Error::usage("the checkpoint is of a run with other settings or positions");
        let mut vectors = saved.vectors.into_iter();
        let (Some(parameters), Some(best)) = (vectors.next(), vectors.next()) else { return Err(other()) };
        let mut optimiser: Vec<Vec<f32>> = vectors.collect();
        let average = if self.averaged { optimiser.pop() } else { None };
        let state = State { parameters, steps: saved.optimiser_steps, optimiser, average };
        let fits = best.len() == self.shape.len && state.average.is_some() == self.averaged;
        if saved.hash != hash || !fits || !self.backend.restore(&state)? {
            return Err(other());
        }
        self.best = Some((saved.best_loss, saved.best_epoch as usize, best));
        (self.step, self.epochs) = (saved.step, saved.epochs);
        Ok(saved.device)
    }

    /// The target at a step.
    fn target(&self, step: u64) -> Target {
        let [start, end] = self.targets;
        let done = step as f32 / self.steps.max(1) as f32;
        Target { wdl: start.wdl + (end.wdl - start.wdl) * done, ..start }
    }

    /// One epoch. The mean loss, or `None` if the user stopped it.
    pub fn epoch(&mut self, source: &mut dyn Source, epoch: usize) -> Result<Option<f64>> {
        let mut losses = Losses::new(epoch, self.epochs.first().map(|epoch| epoch.train_loss));
        source.epoch(epoch, &mut |items, batch| {
            if interrupt::requested() {
                return Ok(false);
            }
            let (loss, target) = (self.loss, self.target(self.step));
            let step = Step { number: self.step + 1, loss, target, rate: self.rate.at(self.step) };
            self.backend.step(&step, items, batch)?;
            self.step += 1;
            losses.expect(batch.len(), loss.group());
            // A device may still be at it; the loss is then looked at a step or two later.
            while let Some(loss) = self.backend.loss(false)? {
                losses.take(loss)?;
            }
            Ok(true)
        })?;
        while let Some(loss) = self.backend.loss(true)? {
            losses.take(loss)?;
        }
        Ok((!interrupt::requested()).then(|| losses.mean()))
    }
}

/// The losses of an epoch's batches as they become known.
struct Losses {
    epoch: usize,
    /// What is usual: the first epoch's, or in it the first batch's.
    usual: Option<f64>,
    /// Positions and groups of the batches whose losses are not known yet.
    expected: VecDeque<(usize, usize)>,
    batches: usize,
    total: f64,
    groups: usize,
}

impl Losses {
    fn new(epoch: usize, usual: Option<f64>) -> Losses {
        Losses { epoch, usual, expected: VecDeque::new(), batches: 0, total: 0.0, groups: 0 }
    }

    fn expect(&mut self, positions: usize, group: usize) {
        self.expected.push_back((positions, positions / group));
    }

    /// Takes the sum of a batch's losses, in the order of the batches.
    fn take(&mut self, loss: f64) -> Result<()> {
        let Some((positions, groups)) = self.expected.pop_front() else {
            return Err(Error::internal("a loss of no batch"));
        };
        self.batches += 1;
        let mean = loss / groups as f64;
        let usual = *self.usual.get_or_insert(mean);
        let explodes = positions >= ENOUGH && mean > EXPLODES * usual;
        if !mean.is_finite() || explodes {
            return Err(Error::usage(format!(
                "the loss of batch {} of epoch {} is {mean}{}; try a lower learning rate",
                self.batches,
                self.epoch,
                if explodes { format!(", after {usual:.6} at first") } else { String::new() }
            )));
        }
        self.total += loss;
        self.groups += groups;
        Ok(())
    }

    fn mean(&self) -> f64 {
        self.total / self.groups.max(1) as f64
    }
}
