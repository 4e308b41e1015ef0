//! The CPU as training backend.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::backend::{Backend, StepParams, TrainingState, average_decay, pull_keep};
use super::cpu_gradient::CpuGradient;
use super::loss::Loss;
use super::model::Model;
use super::optimiser::Optimiser;
use super::target::Target;
use super::{Forward, Settings, TrainItem};
use patzer_fit::optim::CHUNK;
use patzer_io::error::Result;

pub(crate) struct CpuBackend {
    model: Model,
    optimiser: Optimiser,
    cpu: CpuGradient,
    /// Decay of the weight average, and the average.
    keep: f32,
    average: Option<Model>,
    /// Pull towards the start, and the start.
    pull: f32,
    start: Vec<f32>,
    losses: VecDeque<f64>,
}

impl CpuBackend {
    pub(crate) fn new(model: Model, settings: &Settings, batch: usize) -> CpuBackend {
        let mut cpu = CpuGradient::new(&model, batch, settings.forward == Forward::I16);
        cpu.follow(settings);
        CpuBackend {
            optimiser: Optimiser::new(settings, model.layout.limits()),
            cpu,
            keep: settings.average,
            average: (settings.average > 0.0).then(|| model.clone()),
            pull: settings.pull,
            start: if settings.pull > 0.0 { model.parameters.clone() } else { Vec::new() },
            model,
            losses: VecDeque::new(),
        }
    }
}

/// Keeps a share of `vector` and takes the rest from `other`.
pub(crate) fn mix(keep: f32, vector: &mut [f32], other: &[f32]) {
    vector.par_chunks_mut(CHUNK).zip(other.par_chunks(CHUNK)).for_each(|(vector, other)| {
        for (x, other) in vector.iter_mut().zip(other) {
            *x = keep * *x + (1.0 - keep) * other;
        }
    });
}

impl Backend for CpuBackend {
    fn device(&self) -> &str {
        "cpu"
    }

    fn step(&mut self, step: &StepParams, items: &[TrainItem], batch: &[u32]) -> Result<()> {
        self.cpu.rounds(step.rounds);
        let (loss, gradient) = self.cpu.gradient(&self.model, step.loss, step.target, items, batch);
        self.losses.push_back(loss);
        self.optimiser.step(&mut self.model.parameters, gradient, step.rate);
        if self.pull > 0.0 {
            mix(pull_keep(self.pull, step.rate), &mut self.model.parameters, &self.start);
        }
        if let Some(average) = &mut self.average {
            let keep = average_decay(self.keep, step.number);
            mix(keep, &mut average.parameters, &self.model.parameters);
        }
        Ok(())
    }

    fn loss(&mut self, _wait: bool) -> Result<Option<f64>> {
        Ok(self.losses.pop_front())
    }

    fn mean_loss(&mut self, loss: Loss, target: Target, items: &[TrainItem]) -> Result<f64> {
        let validated_weights = self.average.as_ref().unwrap_or(&self.model);
        Ok(self.cpu.mean_loss(validated_weights, loss, target, items))
    }

    fn validated_weights(&mut self) -> Result<Vec<f32>> {
        Ok(self.average.as_ref().unwrap_or(&self.model).parameters.clone())
    }

    fn save(&mut self) -> Result<TrainingState> {
        let (steps, optimiser) = self.optimiser.state();
        let average = self.average.as_ref().map(|average| average.parameters.clone());
        Ok(TrainingState { parameters: self.model.parameters.clone(), steps, optimiser, average })
    }

    fn restore(&mut self, state: &TrainingState) -> Result<bool> {
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
