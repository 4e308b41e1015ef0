//! The processor as the device that trains.
//!
//! In: batches. Out: the weights, a step on for each.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::backend::{Backend, State, Step, kept};
use super::cpu_gradient::Cpu;
use super::loss::{Loss, Target};
use super::model::Model;
use super::optimiser::Optimiser;
use super::settings::Forward;
use super::{Settings, TrainItem};
use patzer_fit::optim::CHUNK;
use patzer_io::error::Result;

/// A network in the processor's memory, with its optimiser.
pub struct Host {
    model: Model,
    optimiser: Optimiser,
    cpu: Cpu,
    /// What each step keeps of the averaged weights, and these.
    keep: f32,
    average: Option<Model>,
    losses: VecDeque<f64>,
}

impl Host {
    /// With batches of at most so many positions.
    pub fn new(model: Model, settings: &Settings, batch: usize) -> Host {
        Host {
            optimiser: Optimiser::new(settings, model.shape.limits()),
            cpu: Cpu::new(&model, batch, settings.forward == Forward::I16),
            keep: settings.average,
            average: (settings.average > 0.0).then(|| model.clone()),
            model,
            losses: VecDeque::new(),
        }
    }
}

/// Lets an average follow weights.
fn follow(average: &mut [f32], weights: &[f32], keep: f32) {
    average.par_chunks_mut(CHUNK).zip(weights.par_chunks(CHUNK)).for_each(|(average, weights)| {
        for (average, weight) in average.iter_mut().zip(weights) {
            *average = keep * *average + (1.0 - keep) * weight;
        }
    });
}

impl Backend for Host {
    fn device(&self) -> &str {
        "cpu"
    }

    fn step(&mut self, step: &Step, items: &[TrainItem], batch: &[u32]) -> Result<()> {
        let (loss, gradient) = self.cpu.gradient(&self.model, step.loss, step.target, items, batch);
        self.losses.push_back(loss);
        self.optimiser.step(&mut self.model.parameters, gradient, step.rate);
        if let Some(average) = &mut self.average {
            follow(&mut average.parameters, &self.model.parameters, kept(self.keep, step.number));
        }
        Ok(())
    }

    fn loss(&mut self, _wait: bool) -> Result<Option<f64>> {
        Ok(self.losses.pop_front())
    }

    fn mean_loss(&mut self, loss: Loss, target: Target, items: &[TrainItem]) -> Result<f64> {
        let judged = self.average.as_ref().unwrap_or(&self.model);
        Ok(self.cpu.mean_loss(judged, loss, target, items))
    }

    fn judged(&mut self) -> Result<Vec<f32>> {
        Ok(self.average.as_ref().unwrap_or(&self.model).parameters.clone())
    }

    fn save(&mut self) -> Result<State> {
        let (steps, optimiser) = self.optimiser.state();
        let average = self.average.as_ref().map(|average| average.parameters.clone());
        Ok(State { parameters: self.model.parameters.clone(), steps, optimiser, average })
    }

    fn restore(&mut self, state: &State) -> Result<bool> {
        let count = self.model.parameters.len();
        let averaged = state.average.as_ref().map(Vec::len);
        if state.parameters.len() != count
            || averaged != self.average.as_ref().map(|_| count)
            || !self.optimiser.restore(state.steps, &state.optimiser)
        {
            return Ok(false);
        }
        self.model.parameters.clone_from(&state.parameters);
        if let (Some(average), Some(saved)) = (&mut self.average, &state.average) {
            average.parameters.clone_from(saved);
        }
        Ok(true)
    }
}
