//! Optimisers by their recipe name, with L2, gradient clipping and weight limits.

use rayon::prelude::*;

use super::{OptimiserKind, Settings};
use patzer_fit::optim::{Adam, AdamSettings, CHUNK, RAdam, Ranger, Sgd, Stepper};

pub(crate) struct Optimiser {
    stepper: Box<dyn Stepper + Send>,
    limits: Vec<f32>,
    l2: f32,
    clip: f32,
}

impl Optimiser {
    pub(crate) fn new(settings: &Settings, limits: Vec<f32>) -> Optimiser {
        let count = limits.len();
        let adam = adam_settings(settings);
        let stepper: Box<dyn Stepper + Send> = match settings.optimiser {
            OptimiserKind::AdamW | OptimiserKind::Adam => Box::new(Adam::new(count, adam)),
            OptimiserKind::RAdam => Box::new(RAdam::new(count, adam)),
            OptimiserKind::Ranger => Box::new(Ranger::new(count, adam)),
            OptimiserKind::Sgd => Box::new(Sgd::new(count, settings.momentum)),
        };
        Optimiser { stepper, limits, l2: settings.l2, clip: settings.clip_gradient }
    }

    pub(crate) fn step(&mut self, parameters: &mut [f32], gradient: &mut [f32], learning_rate: f32) {
        if self.l2 > 0.0 {
            let l2 = self.l2;
            let chunks = gradient.par_chunks_mut(CHUNK).zip(parameters.par_chunks(CHUNK));
            chunks.for_each(|(g, w)| g.iter_mut().zip(w).for_each(|(g, w)| *g += l2 * w));
        }
        if self.clip > 0.0 {
            clip_norm(gradient, self.clip);
        }
        self.stepper.step(parameters, gradient, learning_rate);
        parameters.par_chunks_mut(CHUNK).zip(self.limits.par_chunks(CHUNK)).for_each(|(weights, limits)| {
            for (weight, limit) in weights.iter_mut().zip(limits) {
                *weight = weight.clamp(-limit, *limit);
            }
        });
    }

    pub(crate) fn state(&self) -> (u64, Vec<Vec<f32>>) {
        let (steps, parts) = self.stepper.state();
        (steps, parts.into_iter().map(<[f32]>::to_vec).collect())
    }

    /// Restores step count and moments; false if the sizes differ.
    pub(crate) fn restore(&mut self, steps: u64, state: &[Vec<f32>]) -> bool {
        let mut parts = self.stepper.restore(steps);
        if !parts.iter().map(|part| part.len()).eq(state.iter().map(Vec::len)) {
            return false;
        }
        parts.iter_mut().zip(state).for_each(|(part, saved)| part.copy_from_slice(saved));
        true
    }
}

pub(crate) fn adam_settings(settings: &Settings) -> AdamSettings {
    let weight_decay = if settings.optimiser == OptimiserKind::Adam { 0.0 } else { settings.weight_decay };
    let (beta1, beta2) = (settings.beta1, settings.beta2);
    AdamSettings { beta1, beta2, epsilon: 1e-8, weight_decay }
}

/// Clips a gradient to a norm. The sum has a fixed order.
fn clip_norm(gradient: &mut [f32], longest: f32) {
    let square = |chunk: &[f32]| chunk.iter().map(|g| f64::from(*g) * f64::from(*g)).sum::<f64>();
    let squares: Vec<f64> = gradient.par_chunks(CHUNK).map(square).collect();
    let length = squares.iter().sum::<f64>().sqrt();
    if length > f64::from(longest) {
        let factor = (f64::from(longest) / length) as f32;
        gradient.par_chunks_mut(CHUNK).for_each(|chunk| chunk.iter_mut().for_each(|g| *g *= factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_gradients_are_shortened_and_short_ones_kept() {
        let mut gradient = vec![3.0, 4.0];
        clip_norm(&mut gradient, 10.0);
        assert_eq!(gradient, [3.0, 4.0]);
        clip_norm(&mut gradient, 1.0);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn weights_stay_within_their_limits_and_l2_pulls_them_down() {
        let optimiser = OptimiserKind::Sgd;
        let settings = Settings { optimiser, momentum: 0.0, l2: 0.5, ..Settings::default() };
        let mut optimiser = Optimiser::new(&settings, vec![1.0, 0.1]);
        let mut weights = [0.8, 0.0];
        optimiser.step(&mut weights, &mut [0.0, -5.0], 0.1);
        assert!((weights[0] - 0.76).abs() < 1e-6, "{weights:?}");
        assert_eq!(weights[1], 0.1);
    }
}
