//! Rectified Adam, and Ranger: rectified Adam with lookahead.
//! Sources: Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond" (2020), algorithm 2; Zhang
//! et al., "Lookahead Optimizer: k steps forward, 1 step back" (2019); Wright's Ranger (2019) combines them.

use super::adam::Step;
use super::{Adam, AdamSettings, Stepper};

#[derive(Debug, Clone)]
pub struct RAdam(Adam);

/// Shortest approximated average for which the variance correction exists.
const TRACTABLE: f64 = 5.0;

impl RAdam {
    pub fn new(parameters: usize, settings: AdamSettings) -> RAdam {
        let mut adam = Adam::new(parameters, settings);
        adam.constants = Step::rectified;
        RAdam(adam)
    }
}

impl Step {
    /// Step number `steps` of rectified Adam, from 1.
    pub fn rectified(settings: &AdamSettings, steps: i32, learning_rate: f32) -> Step {
        let (beta1, beta2) = (f64::from(settings.beta1), f64::from(settings.beta2));
        let unbiased = 1.0 - beta2.powi(steps);
        let longest = 2.0 / (1.0 - beta2) - 1.0;
        let length = longest - 2.0 * f64::from(steps) * beta2.powi(steps) / unbiased;
        let adaptive = length > TRACTABLE;
        let rectified = if adaptive {
            let part = (length - 4.0) * (length - 2.0) * longest;
            (part / ((longest - 4.0) * (longest - 2.0) * length)).sqrt()
        } else {
            1.0
        };
        let rate = (f64::from(learning_rate) / (1.0 - beta1.powi(steps)) * rectified) as f32;
        Step { rate, adaptive, ..Step::new(settings, steps, learning_rate) }
    }
}

impl Stepper for RAdam {
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        self.0.step(weights, gradient, learning_rate);
    }

    fn state(&self) -> (u64, Vec<&[f32]>) {
        self.0.state()
    }

    fn restore(&mut self, steps: u64) -> Vec<&mut [f32]> {
        self.0.restore(steps)
    }
}

/// Rectified Adam with lookahead: every [`PERIOD`] steps the weights return towards a slow copy.
#[derive(Debug, Clone)]
pub struct Ranger {
    fast: RAdam,
    slow: Vec<f32>,
    steps: u64,
}

pub const PERIOD: u64 = 6;
/// Share of the way that the slow weights follow.
pub const SHARE: f32 = 0.5;

impl Ranger {
    pub fn new(parameters: usize, settings: AdamSettings) -> Ranger {
        Ranger { fast: RAdam::new(parameters, settings), slow: vec![0.0; parameters], steps: 0 }
    }
}

impl Stepper for Ranger {
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        if self.steps == 0 {
            self.slow.copy_from_slice(weights);
        }
        self.fast.step(weights, gradient, learning_rate);
        self.steps += 1;
        if self.steps.is_multiple_of(PERIOD) {
            for (weight, slow) in weights.iter_mut().zip(&mut self.slow) {
                *slow += SHARE * (*weight - *slow);
                *weight = *slow;
            }
        }
    }

    fn state(&self) -> (u64, Vec<&[f32]>) {
        let (_, mut parts) = self.fast.state();
        parts.push(&self.slow);
        (self.steps, parts)
    }

    fn restore(&mut self, steps: u64) -> Vec<&mut [f32]> {
        self.steps = steps;
        let mut parts = self.fast.restore(steps);
        parts.push(&mut self.slow);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_steps_are_those_of_momentum_alone() {
        // β2 = 0.999: ρ∞ = 1999; ρ_t is 1, 1.999…, …; up to t = 5 it stays at most 5, and the step is the mean.
        let mut radam = RAdam::new(1, AdamSettings::default());
        let mut w = [1.0];
        radam.step(&mut w, &[3.0], 0.1);
        assert!((w[0] - 0.7).abs() < 1e-6, "{w:?}");
        radam.step(&mut w, &[1.0], 0.1);
        // m = 0.9·0.3 + 0.1 = 0.37, m̂ = 0.37/0.19.
        assert!((w[0] - (0.7 - 0.1 * 0.37 / 0.19)).abs() < 1e-6, "{w:?}");
    }

    #[test]
    fn later_steps_are_rectified() {
        // With gradients of 1 m̂ = v̂ = 1, so a step is the learning rate times r_t. By the formulas
        // ρ_t = ρ∞ − 2tβ2^t/(1 − β2^t), with β2 = 0.9: ρ∞ = 19, ρ_10 = 19 − 20·0.348678/0.651322 = 8.293239,
        // r_10 = √(4.293239·6.293239·19 / (15·17·8.293239)) = 0.492681.
        let settings = AdamSettings { beta2: 0.9, ..AdamSettings::default() };
        let mut radam = RAdam::new(1, settings);
        let mut w = [0.0];
        for _ in 0..9 {
            radam.step(&mut w, &[1.0], 0.1);
        }
        let before = w[0];
        radam.step(&mut w, &[1.0], 0.1);
        assert!((before - w[0] - 0.1 * 0.492_681).abs() < 1e-5, "{}", before - w[0]);
    }

    #[test]
    fn every_sixth_step_goes_half_way_back() {
        let settings = AdamSettings::default();
        let (mut ranger, mut radam) = (Ranger::new(1, settings), RAdam::new(1, settings));
        let (mut a, mut b) = ([2.0], [2.0]);
        for step in 1..=6 {
            ranger.step(&mut a, &[1.0], 0.1);
            radam.step(&mut b, &[1.0], 0.1);
            assert!(step == 6 || a == b);
        }
        assert!((a[0] - (2.0 + b[0]) / 2.0).abs() < 1e-6);
    }
}
