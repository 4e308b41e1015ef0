//! A training run: steps, losses, the best epoch, checkpoints.

use std::collections::VecDeque;

use super::backend::{Backend, StepParams, TrainingState};
use super::checkpoint::{Checkpoint, RunShape};
use super::device::Compute;
use super::learning_rate::LearningRate;
use super::loss::Loss;
use super::model::Model;
use super::param_layout::ParamLayout;
use super::position_weight::PositionWeight;
use super::target::Target;
use super::wdl_schedule::WdlSchedule;
use super::{DataLoader, Earlier, Epoch, Keep, Settings, TrainItem, TrainingCallbacks};
use patzer_chess::rng;
use patzer_eval::nnue::Network;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// A batch of at least `MIN_BATCH` positions whose loss exceeds the first by this factor has diverged, if it also
/// exceeds the loss of the same value for every position, and `MIN_LOSS`.
const DIVERGED: f64 = 16.0;
const MIN_BATCH: usize = 64;
const MIN_LOSS: f64 = 1e-4;

/// Separates the random numbers of λ from others of the same seed.
const JITTER: u64 = 0x6a69_7474_6572;

pub(crate) struct Run {
    pub layout: ParamLayout,
    pub backend: Box<dyn Backend>,
    pub rate: LearningRate,
    pub loss: Loss,
    wdl: WdlSchedule,
    /// Target of scores alone, whose λ the schedule sets.
    plain_target: Target,
    weight: Option<PositionWeight>,
    /// Loss up to which no batch has diverged.
    floor: f64,
    pub step: u64,
    pub steps: u64,
    /// Steps from here on are quantisation-aware.
    rounds_from: u64,
    shape: RunShape,
    pub epochs: Vec<Epoch>,
    averaged: bool,
    earlier: Earlier,
    /// Loss, epoch and parameters of the epoch to keep; epoch 0 is the start.
    pub best: Option<(f64, usize, Vec<f32>)>,
}

impl Run {
    pub(crate) fn new(
        loader: &dyn DataLoader,
        settings: &Settings,
        start: Option<&Network>,
        earlier: &Earlier,
        compute: Compute,
        callbacks: &mut dyn TrainingCallbacks,
    ) -> Result<Run> {
        let model = match start {
            Some(network) => Model::of(network, settings.factorised()),
            None => {
                Model::start(&settings.architecture(), settings.factorised(), settings.seed, settings.noise)
            }
        };
        let model = match earlier.stages {
            0 => model,
            _ if earlier.weights.len() == model.layout.len => {
                Model { parameters: earlier.weights.clone(), ..model }
            }
            _ => return Err(Error::input("the checkpoint is of another network; delete it to start over")),
        };
        let (batches, layout) = (loader.batches(), model.layout.clone());
        let shape = RunShape {
            parameters: layout.len,
            batches: batches as u64,
            epochs: settings.epochs,
            start: None,
            keep: settings.keep,
        };
        let sample = loader.sample();
        let (backend, gpu_rejected) = compute.backend(model, settings, loader.largest(), &sample)?;
        if let Some(reason) = gpu_rejected {
            callbacks.gpu_rejected(&reason);
        }
        let steps = (batches * settings.epochs) as u64;
        let rounded = (steps as f64 * f64::from(settings.quantisation_aware)).round() as u64;
        let (loss, weight) = (settings.loss(), settings.position_weight.clone());
        let constant = loss.of_constant(settings.target(settings.first_wdl()), &sample, weight.as_ref());
        Ok(Run {
            layout,
            backend,
            rate: LearningRate::new(settings, batches),
            loss,
            wdl: WdlSchedule::new(settings, batches, steps, rng::mix(settings.seed, JITTER)),
            plain_target: settings.target(0.0),
            weight,
            floor: constant.max(MIN_LOSS),
            step: 0,
            steps,
            rounds_from: steps - rounded.min(steps),
            shape,
            epochs: Vec::new(),
            averaged: settings.average > 0.0,
            best: None,
            earlier: earlier.clone(),
        })
    }

    /// Validates the start, which is kept if no epoch is better, unless the last one is kept.
    pub(crate) fn begin(&mut self, validation: &[TrainItem]) -> Result<Option<f64>> {
        if validation.is_empty() {
            return Ok(None);
        }
        let loss = self.backend.mean_loss(self.loss, self.target(self.steps), validation)?;
        self.shape.start = Some(loss);
        if self.shape.keep == Keep::Best {
            self.best = Some((loss, 0, self.backend.validated_weights()?));
        }
        Ok(Some(loss))
    }

    pub(crate) fn finish(&mut self, epoch: Epoch) -> Result<()> {
        let value = epoch.validation_loss.unwrap_or(epoch.train_loss);
        if self.shape.keep == Keep::Last || self.best.as_ref().is_none_or(|(lowest, ..)| value < *lowest) {
            self.best = Some((value, epoch.epoch, self.backend.validated_weights()?));
        }
        self.epochs.push(epoch);
        Ok(())
    }

    pub(crate) fn patience_is_over(&self, patience: usize) -> bool {
        let since = |(_, best, _): &(f64, usize, Vec<f32>)| self.epochs.len() - best;
        patience > 0 && self.best.as_ref().is_some_and(|best| since(best) >= patience)
    }

    pub(crate) fn checkpoint(&mut self, hash: &str) -> Result<Checkpoint> {
        let TrainingState { parameters, steps, optimiser, average } = self.backend.save()?;
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
            earlier: self.earlier.clone(),
        })
    }

    pub(crate) fn restore(&mut self, bytes: &[u8], hash: &str) -> Result<String> {
        let damaged = || Error::input("the checkpoint is damaged; delete it to start over");
        let saved = Checkpoint::parse(bytes).ok_or_else(damaged)?;
        let other = || Error::input("the checkpoint is of a run with other settings or positions");
        if saved.hash != hash || saved.earlier != self.earlier {
            return Err(other());
        }
        if let Some(field) = saved.fault(&self.shape) {
            let reason =
                format!("the checkpoint is not one of this run: {field} cannot be; delete it to start over");
            return Err(Error::input(reason));
        }
        let mut vectors = saved.vectors.into_iter();
        let (Some(parameters), Some(best)) = (vectors.next(), vectors.next()) else { return Err(other()) };
        let mut optimiser: Vec<Vec<f32>> = vectors.collect();
        let average = if self.averaged { optimiser.pop() } else { None };
        let state = TrainingState { parameters, steps: saved.optimiser_steps, optimiser, average };
        if state.average.is_some() != self.averaged || !self.backend.restore(&state)? {
            return Err(other());
        }
        self.best = Some((saved.best_loss, saved.best_epoch as usize, best));
        (self.step, self.epochs) = (saved.step, saved.epochs);
        Ok(saved.device)
    }

    pub(crate) fn target(&self, step: u64) -> Target {
        Target { wdl: self.wdl.at(step), ..self.plain_target }
    }

    /// The target of a training step, whose λ deviates from the schedule at random.
    fn training_target(&self, step: u64) -> Target {
        Target { wdl: self.wdl.drawn(step), ..self.plain_target }
    }

    /// Runs one epoch; returns the mean loss, or `None` on interruption.
    pub(crate) fn epoch(&mut self, loader: &mut dyn DataLoader, epoch: usize) -> Result<Option<f64>> {
        let usual = self.epochs.first().map(|epoch| epoch.train_loss);
        let mut losses = EpochLosses { epoch, usual, floor: self.floor, ..EpochLosses::default() };
        loader.epoch(epoch, &mut |items, batch| {
            if interrupt::requested() {
                return Ok(false);
            }
            let (loss, target) = (self.loss, self.training_target(self.step));
            let (rate, rounds) = (self.rate.at(self.step), self.step >= self.rounds_from);
            let step = StepParams { number: self.step + 1, loss, target, rate, rounds };
            self.backend.step(&step, items, batch)?;
            self.step += 1;
            let members = batch.iter().map(|&at| &items[at as usize]);
            let weight = PositionWeight::divisor(self.weight.as_ref(), loss.group(), members);
            losses.expected.push_back((batch.len(), weight));
            // A device may return a loss a step or two later.
            while let Some(loss) = self.backend.loss(false)? {
                losses.take(loss)?;
            }
            Ok(true)
        })?;
        while let Some(loss) = self.backend.loss(true)? {
            losses.take(loss)?;
        }
        Ok((!interrupt::requested()).then(|| losses.total / losses.weight.max(f64::MIN_POSITIVE)))
    }
}

#[derive(Default)]
struct EpochLosses {
    epoch: usize,
    /// Reference: the mean loss of the first epoch, or in it of the first batch.
    usual: Option<f64>,
    floor: f64,
    /// Positions of each batch on its way, and the divisor of its loss.
    expected: VecDeque<(usize, f64)>,
    batches: usize,
    total: f64,
    weight: f64,
}

impl EpochLosses {
    fn take(&mut self, loss: f64) -> Result<()> {
        let Some((positions, weight)) = self.expected.pop_front() else {
            return Err(Error::internal("a loss of no batch"));
        };
        self.batches += 1;
        let mean = loss / weight;
        let usual = *self.usual.get_or_insert(mean);
        let explodes = positions >= MIN_BATCH && mean > (DIVERGED * usual).max(self.floor);
        if !mean.is_finite() || explodes {
            let first = if explodes { format!(", after {usual:.6} at first") } else { String::new() };
            let which = format!("batch {} of epoch {}", self.batches, self.epoch);
            let reason = format!("the loss of {which} is {mean}{first}; try a lower learning rate");
            return Err(Error::input(reason));
        }
        self.total += loss;
        self.weight += weight;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{items, plain};
    use patzer_fit::optim::Decay;

    #[test]
    fn results_weigh_by_a_schedule_that_may_end_before_the_learning_rates() {
        let items = items(600, 3);
        let rates = Settings { schedule: Decay::Constant, warmup: 0, batch: 100, ..Settings::of(&plain(16)) };
        let settings = Settings { epochs: 4, wdl: 0.2, final_wdl: Some(0.8), ..rates };
        let losses = |settings: &Settings| -> Vec<f64> {
            let outcome = crate::fit(&items, &[], settings, &mut |_: &Epoch| ()).unwrap();
            outcome.epochs.iter().map(|epoch| epoch.train_loss).collect()
        };
        let short = losses(&Settings { epochs: 2, ..settings.clone() });
        assert_eq!(losses(&Settings { wdl_epochs: Some(2), ..settings.clone() })[..2], short);
        assert_ne!(losses(&settings)[..2], short);
        let all = Settings { wdl_epochs: Some(4), ..settings.clone() };
        assert_eq!(losses(&all), losses(&settings));
    }

    #[test]
    fn only_a_loss_above_the_floor_has_diverged() {
        let taken = |losses: [f64; 2], positions: usize| {
            let mut epoch = EpochLosses { floor: 0.05, ..EpochLosses::default() };
            epoch.expected.extend([(positions, 100.0); 2]);
            losses.into_iter().try_for_each(|mean| epoch.take(100.0 * mean)).map_err(|e| e.to_string())
        };
        assert_eq!(taken([1e-9, 0.05], 100), Ok(()));
        assert!(taken([1e-9, 0.051], 100).unwrap_err().contains("batch 2 of epoch 0"));
        assert_eq!(taken([0.01, 0.15], 100), Ok(()));
        assert!(taken([0.01, 0.17], 100).is_err());
        assert_eq!(taken([0.01, 0.17], MIN_BATCH - 1), Ok(()));
        assert!(taken([0.01, f64::NAN], 1).is_err());
    }
}
