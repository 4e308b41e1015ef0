//! Adam, AdaGrad and SGD over mini-batches of chunks. Each epoch visits the chunks in another order; values
//! are clamped to their bounds after each step.

use super::objective::Objective;
use super::settings::{Optimizer, Settings};
use super::tracker::Tracker;
use crate::optim::{AdaGrad, Adam, AdamSettings, Sgd, Stepper};
use patzer_chess::rng::{self, Rng};
use patzer_io::error::{Error, Result};

const MOMENTUM: f32 = 0.9;

pub(super) fn run(
    objective: &Objective<'_>,
    start: Vec<f64>,
    optimizer: Optimizer,
    settings: &Settings,
    tracker: &mut Tracker<'_>,
) -> Result<()> {
    let mut stepper: Box<dyn Stepper> = match optimizer {
        Optimizer::Adagrad => Box::new(AdaGrad::new(start.len())),
        Optimizer::Sgd => Box::new(Sgd::new(start.len(), MOMENTUM)),
        _ => Box::new(Adam::new(start.len(), AdamSettings::default())),
    };
    let schedule = settings.schedule(optimizer);
    let chunks = objective.traces.chunks.len();
    let batch = match settings.batch {
        0 => chunks,
        batch => batch.div_ceil(settings.chunk()),
    };
    let mut weights: Vec<f32> = start.iter().map(|&value| value as f32).collect();
    for number in 1.. {
        let rate = schedule.rate(number - 1);
        let mut order: Vec<usize> = (0..chunks).collect();
        Rng::new(rng::mix(settings.seed, number)).shuffle(&mut order);
        let mut sum = 0.0;
        for batch in order.chunks(batch.max(1)) {
            let (loss, gradient) = objective.gradient_over(&wide(&weights), batch);
            let weight: f64 = batch.iter().map(|&chunk| objective.traces.chunks[chunk].total_weight()).sum();
            sum += loss * weight;
            let gradient: Vec<f32> = gradient.iter().map(|&value| value as f32).collect();
            stepper.step(&mut weights, &gradient, rate);
            for (weight, &slot) in weights.iter_mut().zip(&objective.space.free) {
                let [low, high] = objective.model.slots[slot].bounds;
                *weight = weight.clamp(low as f32, high as f32);
            }
        }
        tracker.passes += 1;
        if !weights.iter().all(|weight| weight.is_finite()) {
            return Err(Error::input("tuning diverged; lower the learning rate"));
        }
        let loss = sum / objective.traces.total_weight();
        if !tracker.epoch(&wide(&weights), loss, rate.into()) {
            return Ok(());
        }
    }
    Ok(())
}

fn wide(weights: &[f32]) -> Vec<f64> {
    weights.iter().map(|&weight| f64::from(weight)).collect()
}
