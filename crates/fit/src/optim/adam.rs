//! Adam with decoupled weight decay (AdamW).
//! Each weight is updated by itself with operations that IEEE 754 defines to the bit, so the result depends
//! neither on the number of threads nor on the vector width. Sources: Kingma and Ba, "Adam: A Method for
//! Stochastic Optimization" (2015), algorithm 1; Loshchilov and Hutter, "Decoupled Weight Decay
//! Regularization" (2019), algorithm 2.

use rayon::prelude::*;

use super::CHUNK;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// Decay of the mean gradient, in `[0, 1)`.
    pub beta1: f32,
    /// Decay of the mean squared gradient, in `[0, 1)`.
    pub beta2: f32,
    /// Added to the root of the mean squared gradient, so that a weight without gradients stays.
    pub epsilon: f32,
    /// Decoupled weight decay, relative to the learning rate; 0 is plain Adam.
    pub weight_decay: f32,
}

impl Default for AdamSettings {
    fn default() -> AdamSettings {
        AdamSettings { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

#[derive(Debug, Clone)]
pub struct Adam {
    settings: AdamSettings,
    steps: i32,
    mean: Vec<f32>,
    square: Vec<f32>,
    pub(super) constants: fn(&AdamSettings, i32, f32) -> Step,
}

impl Adam {
    pub fn new(parameters: usize, settings: AdamSettings) -> Adam {
        let (mean, square) = (vec![0.0; parameters], vec![0.0; parameters]);
        Adam { settings, steps: 0, mean, square, constants: Step::new }
    }

    /// Steps the weights against the gradient; all slices have the length given to [`Adam::new`].
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        assert_eq!((weights.len(), gradient.len()), (self.mean.len(), self.mean.len()), "one slot a weight");
        self.steps = self.steps.saturating_add(1);
        let step = (self.constants)(&self.settings, self.steps, learning_rate);
        step.run(weights, gradient, &mut self.mean, &mut self.square);
    }
}

impl super::Stepper for Adam {
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        Adam::step(self, weights, gradient, learning_rate);
    }

    fn state(&self) -> (u64, Vec<&[f32]>) {
        (self.steps as u64, vec![&self.mean, &self.square])
    }

    fn restore(&mut self, steps: u64) -> Vec<&mut [f32]> {
        self.steps = steps.min(i32::MAX as u64) as i32;
        vec![&mut self.mean, &mut self.square]
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub beta1: f32,
    pub beta2: f32,
    pub epsilon: f32,
    /// Factor left of a weight after decay.
    pub keep: f32,
    /// Learning rate over the bias correction of the mean.
    pub rate: f32,
    /// Inverse bias correction of the mean square.
    pub unbias: f32,
    /// Without it the step is the mean alone.
    pub adaptive: bool,
}

impl Step {
    /// Step number `steps` of Adam, from 1.
    pub fn new(settings: &AdamSettings, steps: i32, learning_rate: f32) -> Step {
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(steps);
        Step {
            beta1: settings.beta1,
            beta2: settings.beta2,
            epsilon: settings.epsilon,
            keep: 1.0 - learning_rate * settings.weight_decay,
            rate: (f64::from(learning_rate) / correction(settings.beta1)) as f32,
            unbias: (1.0 / correction(settings.beta2)) as f32,
            adaptive: true,
        }
    }

    fn run(&self, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
        weights
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(mean.par_chunks_mut(CHUNK).zip(square.par_chunks_mut(CHUNK)))
            .for_each(|((weights, gradient), (mean, square))| self.apply(weights, gradient, mean, square));
    }

    fn apply(&self, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.apply_avx2(weights, gradient, mean, square) };
        }
        self.apply_portable(weights, gradient, mean, square);
    }

    /// The portable code compiled for wider vectors; no operation changes, so no bit does.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
        self.apply_portable(weights, gradient, mean, square);
    }

    #[inline(always)]
    fn apply_portable(&self, weights: &mut [f32], gradient: &[f32], mean: &mut [f32], square: &mut [f32]) {
        for (((w, &g), m), v) in weights.iter_mut().zip(gradient).zip(mean).zip(square) {
            *m = self.beta1 * *m + (1.0 - self.beta1) * g;
            *v = self.beta2 * *v + (1.0 - self.beta2) * (g * g);
            let size = if self.adaptive { (*v * self.unbias).sqrt() + self.epsilon } else { 1.0 };
            *w = self.keep * *w - self.rate * *m / size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f32, expected: f64) {
        assert!((f64::from(actual) - expected).abs() < 1e-6, "{actual} is not {expected}");
    }

    #[test]
    fn three_steps_are_those_of_the_paper_by_hand() {
        // β1 = 0.9, β2 = 0.99, learning rate 0.1, gradients 1, −2, 0.5 from w = 1:
        // t=1: m = 0.1,   v = 0.01;      m̂ = 1,           v̂ = 1           → w = 0.9
        // t=2: m = −0.11, v = 0.0499;    m̂ = −0.11/0.19,  v̂ = 0.0499/0.0199 → w = 0.9 + 0.1·0.578947/1.583524
        // t=3: m = −0.049, v = 0.051901; m̂ = −0.049/0.271, v̂ = 0.051901/0.029701
        let settings = AdamSettings { beta2: 0.99, ..AdamSettings::default() };
        let mut adam = Adam::new(1, settings);
        let mut w = [1.0];
        adam.step(&mut w, &[1.0], 0.1);
        assert_close(w[0], 0.9);
        adam.step(&mut w, &[-2.0], 0.1);
        assert_close(w[0], 0.936_560_772);
        adam.step(&mut w, &[0.5], 0.1);
        assert_close(w[0], 0.950_238_831);
    }

    #[test]
    fn decay_is_apart_from_the_gradient() {
        // Without a gradient AdamW still shrinks the weight by learning rate × decay, exactly; Adam with an L2
        // term in the gradient would move it by the whole learning rate.
        let mut adam = Adam::new(1, AdamSettings { weight_decay: 0.5, ..AdamSettings::default() });
        let mut w = [2.0];
        adam.step(&mut w, &[0.0], 0.1);
        assert_close(w[0], 1.9);
    }

    #[test]
    fn many_weights_step_as_each_would_alone() {
        let count = 3 * CHUNK + 5;
        let gradient: Vec<f32> = (0..count).map(|i| (i as f32 * 0.37).sin()).collect();
        let settings = AdamSettings { weight_decay: 0.01, ..AdamSettings::default() };
        let (mut together, mut whole) = (vec![0.5; count], Adam::new(count, settings));
        for _ in 0..3 {
            whole.step(&mut together, &gradient, 0.01);
        }
        for i in [0, 1, 7, 8, CHUNK - 1, CHUNK, 2 * CHUNK + 3, count - 1] {
            let (mut alone, mut single) = ([0.5], Adam::new(1, settings));
            for _ in 0..3 {
                single.step(&mut alone, &gradient[i..=i], 0.01);
            }
            assert_eq!(alone[0].to_bits(), together[i].to_bits(), "weight {i}");
        }
    }
}
