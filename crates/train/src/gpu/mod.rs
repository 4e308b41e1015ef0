//! A GPU as the device that trains.
//!
//! In: batches, as packed positions. Out: the weights, a step on for each. All of a step happens on the device: rows of
//! features are found there, since as lists they would be several times what is sent, and weights, gradient and optimiser
//! never leave it but for a checkpoint.
//!
//! `check` compares a device with the CPU before a run. `driver` is the seam to a device, `cuda` what stands
//! behind it, with a step as a `graph`; `plan` and `memory` say what lies where, `net` and
//! `records` what the device is told, `work` and `gradient` launch the kernels, whose sources are in `kernels/`.
//!
//! Sums of floats are taken in an order that follows from the batch and the network alone, so two runs give the same bytes
//! on the same device. They are not those of the CPU, where the order is another: losses agree to within rounding.

mod check;
mod cuda;
mod driver;
#[cfg(test)]
mod emulation;
mod gradient;
mod graph;
mod memory;
mod net;
mod plan;
#[cfg(test)]
mod ptx;
mod records;
#[cfg(test)]
mod tests;
mod work;

use std::collections::VecDeque;

pub use check::check;
pub use cuda::open;
pub use driver::Driver;

use self::driver::Address;
use self::net::StepNumbers;
use self::plan::Plan;
use self::records::RECORD;
use self::work::{Work, bytes};
use super::backend::{Backend, State, Step, kept};
use super::loss::{Loss, Target};
use super::model::Model;
use super::optimiser::adam_settings;
use super::{OptimiserKind, Settings, TrainItem};
use patzer_fit::optim;
use patzer_io::error::{Error, Result};

/// A network in a device's memory, with its optimiser.
pub struct Gpu {
    work: Work,
    settings: Settings,
    /// Steps that the optimiser took, as it counts them.
    steps: u64,
    /// The slot that is filled next, and those whose losses were not asked for, first the oldest.
    next: usize,
    pending: VecDeque<usize>,
    known: VecDeque<f64>,
    name: String,
}

/// Slots of positions: one is filled while the device works on the other.
const SLOTS: usize = 2;

impl Gpu {
    /// Puts a network on a device, for batches of at most so many positions.
    ///
    /// # Errors
    /// If it does not fit, where the message says what would, or has features that no kernel knows.
    pub fn new(mut driver: Box<dyn Driver>, model: &Model, settings: &Settings, batch: usize) -> Result<Gpu> {
        let blocks = model.shape.architecture.features.blocks();
        if let Some(block) = blocks.iter().find(|block| !net::BLOCKS.contains(&block.name)) {
            let name = block.name;
            return Err(Error::usage(format!(
                "no kernel finds features of `{name}` on a GPU yet; use --device cpu"
            )));
        }
        let plan = Plan::new(&model.shape, settings, batch);
        let free = driver.free()?;
        if plan.bytes() as u64 > free {
            return Err(Error::usage(plan.too_large(free, settings)));
        }
        let name = driver.name().to_string();
        let work = Work::new(driver, plan, model)?;
        let settings = settings.clone();
        Ok(Gpu { work, settings, steps: 0, next: 0, pending: VecDeque::new(), known: VecDeque::new(), name })
    }

    /// A slot to fill. The loss of what it held before is kept.
    fn slot(&mut self) -> Result<usize> {
        if self.pending.len() == SLOTS {
            self.settle()?;
        }
        let slot = self.next;
        self.next = (slot + 1) % SLOTS;
        Ok(slot)
    }

    /// Waits for the oldest step under way.
    fn settle(&mut self) -> Result<()> {
        if let Some(slot) = self.pending.pop_front() {
            self.known.push_back(self.work.driver.result(slot)?);
        }
        Ok(())
    }

    /// The parts of a batch: where each begins among the records, and how many positions it has.
    fn parts(&self, count: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let part = self.work.plan.part;
        (0..count).step_by(part).map(move |start| (start, part.min(count - start)))
    }

    /// Starts to send a batch: by which slot, and where the device finds it.
    fn send(&mut self, items: &[TrainItem], batch: &[u32]) -> Result<(usize, Address)> {
        let slot = self.slot()?;
        records::fill(self.work.driver.slot(slot)?, items, batch);
        Ok((slot, self.work.driver.send(slot, batch.len() * RECORD)?))
    }

    /// The sum of the losses of a batch and its gradient, for who wants to look at them.
    fn gradient_of(
        &mut self,
        items: &[TrainItem],
        batch: &[u32],
        loss: Loss,
        target: Target,
    ) -> Result<(f64, Vec<f32>)> {
        let (slot, records) = self.send(items, batch)?;
        self.work.driver.begin();
        self.gradient(records, batch.len(), loss, target)?;
        self.work.driver.end()?;
        self.work.driver.finish(slot, self.work.memory.total)?;
        let gradient = self.work.vector(self.work.memory.gradient)?;
        Ok((self.work.driver.result(slot)?, gradient))
    }

    /// The gradient and the sum of losses of a batch that was sent.
    fn gradient(&mut self, records: Address, count: usize, loss: Loss, target: Target) -> Result<()> {
        let loss = Loss { scale: 1.0 / (count / loss.group()) as f32, ..loss };
        let weights = self.work.memory.weights;
        self.work.begin()?;
        let shorts = self.work.plan.shorts;
        self.work.prepare(weights, shorts)?;
        for (start, positions) in self.parts(count) {
            self.work.extract(records.offset(start, RECORD), positions, target, true)?;
            self.work.forward(weights, positions, shorts)?;
            self.work.losses(loss, positions)?;
            self.work.backward(positions)?;
        }
        self.work.share()
    }

    /// Takes the optimiser's step.
    fn optimise(&mut self, step: &Step) -> Result<()> {
        let (settings, work) = (&self.settings, &mut self.work);
        let factor = work.shorten(settings.l2, settings.clip_gradient)?;
        let (adam, count) = (adam_settings(settings), work.plan.shape.len as u32);
        let nth = (self.steps + 1).min(i32::MAX as u64) as i32;
        let rectified = || StepNumbers { count, step: optim::Step::rectified(&adam, nth, step.rate) };
        match settings.optimiser {
            OptimiserKind::AdamW | OptimiserKind::Adam => {
                let numbers = StepNumbers { count, step: optim::Step::new(&adam, nth, step.rate) };
                work.adam(&numbers, factor, true)?;
            }
            OptimiserKind::RAdam => work.adam(&rectified(), factor, true)?,
            OptimiserKind::Ranger => {
                if self.steps == 0 {
                    work.average(0.0, work.memory.vectors[2])?;
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
                work.descend(&StepNumbers { count, step: plain }, factor)?;
            }
        }
        self.steps += 1;
        if work.plan.averaged {
            work.average(kept(settings.average, step.number), work.memory.average)?;
        }
        Ok(())
    }

    /// Where the weights lie that are to be judged.
    fn judged_at(&self) -> Address {
        let memory = &self.work.memory;
        if self.work.plan.averaged { memory.average } else { memory.weights }
    }
}

impl Backend for Gpu {
    fn device(&self) -> &str {
        &self.name
    }

    fn step(&mut self, step: &Step, items: &[TrainItem], batch: &[u32]) -> Result<()> {
        let (slot, records) = self.send(items, batch)?;
        self.work.driver.begin();
        self.gradient(records, batch.len(), step.loss, step.target)?;
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
        let weights = self.judged_at();
        // As on the CPU, what is judged are the floats.
        self.work.prepare(weights, false)?;
        let mut sum = 0.0;
        for items in items.chunks(self.work.plan.part) {
            let slot = self.slot()?;
            let count = items.len();
            records::copy(self.work.driver.slot(slot)?, items);
            let records = self.work.driver.send(slot, count * RECORD)?;
            self.work.driver.clear(self.work.memory.total, 8)?;
            self.work.extract(records, count, target, false)?;
            self.work.forward(weights, count, false)?;
            self.work.losses(loss, count)?;
            self.work.driver.finish(slot, self.work.memory.total)?;
            self.pending.push_back(slot);
            while let Some(part) = self.loss(false)? {
                sum += part;
            }
        }
        while let Some(part) = self.loss(true)? {
            sum += part;
        }
        Ok(sum / (items.len() / loss.group()) as f64)
    }

    fn judged(&mut self) -> Result<Vec<f32>> {
        let at = self.judged_at();
        self.work.vector(at)
    }

    fn save(&mut self) -> Result<State> {
        let memory = self.work.memory.clone();
        let optimiser = memory.vectors.iter().map(|at| self.work.vector(*at)).collect::<Result<_>>()?;
        let average = self.work.plan.averaged.then(|| self.work.vector(memory.average)).transpose()?;
        // Plain descent counts nothing.
        let steps = if self.settings.optimiser == OptimiserKind::Sgd { 0 } else { self.steps };
        Ok(State { parameters: self.work.vector(memory.weights)?, steps, optimiser, average })
    }

    fn restore(&mut self, state: &State) -> Result<bool> {
        let (memory, count) = (self.work.memory.clone(), self.work.plan.shape.len);
        let vectors = state.optimiser.iter().chain([&state.parameters]).chain(&state.average);
        if state.optimiser.len() != memory.vectors.len()
            || state.average.is_some() != self.work.plan.averaged
            || vectors.into_iter().any(|vector| vector.len() != count)
        {
            return Ok(false);
        }
        let driver = &mut self.work.driver;
        driver.write(memory.weights, &bytes(&state.parameters))?;
        for (at, vector) in memory.vectors.iter().zip(&state.optimiser) {
            driver.write(*at, &bytes(vector))?;
        }
        if let Some(average) = &state.average {
            driver.write(memory.average, &bytes(average))?;
        }
        self.steps = state.steps;
        Ok(true)
    }
}
