//! GPU training backend.
//!
//! Positions are sent packed, and weights leave the device only for checkpoints. `driver` is the seam to a
//! device, implemented by `cuda`; `launch` and `backward` launch the kernels in `kernels/`.
//!
//! Sums of floats have an order fixed by batch and network, so a device repeats its bytes. The CPU sums in
//! another order: losses agree to within rounding.

mod address;
mod backward;
mod check;
mod cuda;
mod driver;
#[cfg(test)]
mod emulation;
mod graph;
mod kernel_args;
mod launch;
mod memory;
mod memory_plan;
#[cfg(test)]
mod ptx;
mod records;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub(crate) use check::check;
pub(crate) use cuda::open;
pub(crate) use driver::Driver;

use self::address::Address;
use self::kernel_args::StepArgs;
use self::launch::{Launcher, Precision, bytes};
use self::memory_plan::MemoryPlan;
use self::records::RECORD;
use super::backend::{Backend, StepParams, TrainingState, average_decay, pull_keep};
use super::loss::Loss;
use super::model::Model;
use super::optimiser::adam_settings;
use super::position_weight::PositionWeight;
use super::target::Target;
use super::{OptimiserKind, Settings, TrainItem};
use patzer_fit::optim;
use patzer_io::error::{Error, Hint, Result};

pub(crate) struct Gpu {
    work: Launcher,
    settings: Settings,
    steps: u64,
    /// Forward passes of gradients are rounded as the quantised network's.
    rounds: bool,
    /// Next slot to fill, slots whose loss is pending (oldest first), and losses not yet returned.
    next: usize,
    pending: VecDeque<usize>,
    known: VecDeque<f64>,
}

/// Transfer slots: one fills while the device works on the other.
const SLOTS: usize = 2;

impl Gpu {
    /// Fails if the network does not fit (the message says what would), or if no kernel knows a feature block or a key.
    pub(crate) fn new(
        mut driver: Box<dyn Driver>,
        model: &Model,
        settings: &Settings,
        batch: usize,
    ) -> Result<Gpu> {
        let blocks = model.layout.architecture.features.blocks();
        if let Some(block) = kernel_args::unknown_block(blocks.iter().map(|block| block.name)) {
            let reason = format!("no kernel finds features of `{block}` on a GPU yet");
            return Err(Error::usage(reason).hint(Hint::Cpu));
        }
        if settings.position_weight.as_ref().is_some_and(|weight| weight.0.len() > 1) {
            let reason = "no kernel multiplies the rules of position_weight on a GPU yet";
            return Err(Error::usage(reason).hint(Hint::Cpu));
        }
        if settings.quantisation_aware > 0.0 && !kernel_args::lists_in_order(&model.layout.architecture) {
            // Rounded sums are often exactly 0 or 1, where their last bit decides on the derivative.
            let reason = "quantisation_aware is not possible on a GPU with this sum of feature blocks, whose rows \
                          the CPU adds in another order; use --device cpu";
            return Err(Error::usage(reason));
        }
        let plan = MemoryPlan::new(&model.layout, settings, batch);
        let free = driver.free()?;
        if plan.bytes() as u64 > free {
            return Err(Error::input(plan.too_large(free, settings)));
        }
        let work = Launcher::new(driver, plan, model)?;
        let settings = settings.clone();
        let (pending, known) = (VecDeque::new(), VecDeque::new());
        Ok(Gpu { work, settings, steps: 0, rounds: false, next: 0, pending, known })
    }

    fn slot(&mut self) -> Result<usize> {
        if self.pending.len() == SLOTS {
            self.settle()?;
        }
        let slot = self.next;
        self.next = (slot + 1) % SLOTS;
        Ok(slot)
    }

    fn settle(&mut self) -> Result<()> {
        if let Some(slot) = self.pending.pop_front() {
            self.known.push_back(self.work.driver.result(slot)?);
        }
        Ok(())
    }

    fn parts(&self, count: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let part = self.work.plan.sub_batch;
        (0..count).step_by(part).map(move |start| (start, part.min(count - start)))
    }

    fn send(&mut self, items: &[TrainItem], batch: &[u32]) -> Result<(usize, Address)> {
        let slot = self.slot()?;
        records::fill(self.work.driver.slot(slot)?, batch.len(), |i| &items[batch[i] as usize]);
        Ok((slot, self.work.driver.send(slot, batch.len() * RECORD)?))
    }

    fn divisor<'a>(&self, loss: Loss, items: impl ExactSizeIterator<Item = &'a TrainItem>) -> f64 {
        PositionWeight::divisor(self.settings.position_weight.as_ref(), loss.group(), items)
    }

    /// Scales a loss so that its derivatives are by the mean over a batch.
    fn scaled<'a>(&self, loss: Loss, batch: impl ExactSizeIterator<Item = &'a TrainItem>) -> Loss {
        Loss { scale: 1.0 / self.divisor(loss, batch) as f32, ..loss }
    }

    fn gradient_of(
        &mut self,
        items: &[TrainItem],
        batch: &[u32],
        loss: Loss,
        target: Target,
    ) -> Result<(f64, Vec<f32>)> {
        let (slot, records) = self.send(items, batch)?;
        let loss = self.scaled(loss, batch.iter().map(|at| &items[*at as usize]));
        self.work.driver.begin();
        self.gradient(records, batch.len(), loss, target)?;
        self.work.driver.end()?;
        self.work.driver.finish(slot, self.work.memory.total)?;
        let gradient = self.work.vector(self.work.memory.gradient)?;
        Ok((self.work.driver.result(slot)?, gradient))
    }

    fn gradient(&mut self, records: Address, count: usize, loss: Loss, target: Target) -> Result<()> {
        let precision = match self.work.plan.shorts {
            _ if self.rounds => Precision::Rounded,
            true => Precision::I16,
            false => Precision::F32,
        };
        self.work.begin()?;
        let weights = self.work.prepare(self.work.memory.weights, precision)?;
        for (start, positions) in self.parts(count) {
            let records = records.offset(start, RECORD);
            self.work.extract(records, positions, target, true)?;
            self.work.forward(weights, positions)?;
            self.work.losses(loss, target, records, positions)?;
            self.work.backward(weights, loss, positions)?;
        }
        self.work.share()
    }

    fn optimise(&mut self, step: &StepParams) -> Result<()> {
        let (settings, work) = (&self.settings, &mut self.work);
        let factor = work.clip_gradient(settings.l2, settings.clip_gradient)?;
        let (adam, count) = (adam_settings(settings), work.plan.layout.len as u32);
        let nth = (self.steps + 1).min(i32::MAX as u64) as i32;
        let rectified = || StepArgs { count, step: optim::Step::rectified(&adam, nth, step.rate) };
        match settings.optimiser {
            OptimiserKind::AdamW | OptimiserKind::Adam => {
                let numbers = StepArgs { count, step: optim::Step::new(&adam, nth, step.rate) };
                work.adam(&numbers, factor, true)?;
            }
            OptimiserKind::RAdam => work.adam(&rectified(), factor, true)?,
            OptimiserKind::Ranger => {
                if self.steps == 0 {
                    work.mix(0.0, work.memory.vectors[2], work.memory.weights)?;
                }
                let back = (self.steps + 1).is_multiple_of(optim::PERIOD);
                work.adam(&rectified(), factor, !back)?;
                if back {
                    work.look_back(optim::SHARE)?;
                }
            }
            OptimiserKind::Sgd => {
                let plain = optim::Step::new(&adam, nth, step.rate);
                let plain = optim::Step { beta1: settings.momentum, rate: step.rate, ..plain };
                work.descend(&StepArgs { count, step: plain }, factor)?;
            }
        }
        self.steps += 1;
        let (weights, start) = (work.memory.weights, work.memory.start);
        if work.plan.pulled {
            work.mix(pull_keep(settings.pull, step.rate), weights, start)?;
        }
        if work.plan.averaged {
            work.mix(average_decay(settings.average, step.number), work.memory.average, weights)?;
        }
        Ok(())
    }

    fn validated_at(&self) -> Address {
        let memory = &self.work.memory;
        if self.work.plan.averaged { memory.average } else { memory.weights }
    }
}

impl Backend for Gpu {
    fn device(&self) -> &str {
        self.work.driver.name()
    }

    fn step(&mut self, step: &StepParams, items: &[TrainItem], batch: &[u32]) -> Result<()> {
        self.rounds = step.rounds;
        let (slot, records) = self.send(items, batch)?;
        let loss = self.scaled(step.loss, batch.iter().map(|at| &items[*at as usize]));
        self.work.driver.begin();
        self.gradient(records, batch.len(), loss, step.target)?;
        self.optimise(step)?;
        self.work.driver.end()?;
        self.work.driver.finish(slot, self.work.memory.total)?;
        self.pending.push_back(slot);
        Ok(())
    }

    fn loss(&mut self, wait: bool) -> Result<Option<f64>> {
        if wait && self.known.is_empty() {
            self.settle()?;
        }
        Ok(self.known.pop_front())
    }

    fn mean_loss(&mut self, loss: Loss, target: Target, items: &[TrainItem]) -> Result<f64> {
        // As on the CPU: in f32, or rounded in all epochs if any is.
        let precision = if self.work.plan.rounds { Precision::Rounded } else { Precision::F32 };
        let weights = self.work.prepare(self.validated_at(), precision)?;
        let mut sum = 0.0;
        for items in items.chunks(self.work.plan.sub_batch) {
            let slot = self.slot()?;
            let count = items.len();
            records::fill(self.work.driver.slot(slot)?, count, |i| &items[i]);
            let records = self.work.driver.send(slot, count * RECORD)?;
            self.work.driver.clear(self.work.memory.total, 8)?;
            self.work.extract(records, count, target, false)?;
            self.work.forward(weights, count)?;
            self.work.losses(loss, target, records, count)?;
            self.work.driver.finish(slot, self.work.memory.total)?;
            self.pending.push_back(slot);
            while let Some(part) = self.loss(false)? {
                sum += part;
            }
        }
        while let Some(part) = self.loss(true)? {
            sum += part;
        }
        Ok(sum / self.divisor(loss, items.iter()))
    }

    fn validated_weights(&mut self) -> Result<Vec<f32>> {
        let at = self.validated_at();
        self.work.vector(at)
    }

    fn save(&mut self) -> Result<TrainingState> {
        let memory = self.work.memory.clone();
        let optimiser = memory.vectors.iter().map(|at| self.work.vector(*at)).collect::<Result<_>>()?;
        let average = self.work.plan.averaged.then(|| self.work.vector(memory.average)).transpose()?;
        // SGD counts no steps.
        let steps = if self.settings.optimiser == OptimiserKind::Sgd { 0 } else { self.steps };
        Ok(TrainingState { parameters: self.work.vector(memory.weights)?, steps, optimiser, average })
    }

    fn restore(&mut self, state: &TrainingState) -> Result<bool> {
        let (memory, count) = (self.work.memory.clone(), self.work.plan.layout.len);
        let vectors = state.optimiser.iter().chain([&state.parameters]).chain(&state.average);
        if state.optimiser.len() != memory.vectors.len()
            || state.average.is_some() != self.work.plan.averaged
            || vectors.clone().any(|vector| vector.len() != count)
        {
            return Ok(false);
        }
        let places = memory.vectors.iter().chain([&memory.weights, &memory.average]);
        for (at, vector) in places.zip(vectors) {
            self.work.driver.write(*at, &bytes(vector))?;
        }
        self.steps = state.steps;
        Ok(true)
    }
}
