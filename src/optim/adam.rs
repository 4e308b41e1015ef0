//! Adam (stand-in until the owner's branch is merged; Kingma and Ba 2015).

/// Settings of Adam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// Decay of the mean.
    pub beta1: f32,
    /// Decay of the mean square.
    pub beta2: f32,
    /// Keeps the division finite.
    pub epsilon: f32,
    /// Decoupled weight decay.
    pub weight_decay: f32,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// The optimiser's state.
#[derive(Debug, Clone)]
pub struct Adam {
    settings: AdamSettings,
    mean: Vec<f32>,
    square: Vec<f32>,
    step: i32,
}

impl Adam {
    /// For so many parameters.
    pub fn new(parameters: usize, settings: AdamSettings) -> Adam {
        Adam { settings, mean: vec![0.0; parameters], square: vec![0.0; parameters], step: 0 }
    }

    /// One step against the gradient.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        let s = self.settings;
        self.step += 1;
        let c1 = 1.0 - s.beta1.powi(self.step);
        let c2 = 1.0 - s.beta2.powi(self.step);
        for i in 0..weights.len() {
            let g = gradient[i];
            self.mean[i] = s.beta1 * self.mean[i] + (1.0 - s.beta1) * g;
            self.square[i] = s.beta2 * self.square[i] + (1.0 - s.beta2) * g * g;
            let step = (self.mean[i] / c1) / ((self.square[i] / c2).sqrt() + s.epsilon);
            weights[i] -= learning_rate * (step + s.weight_decay * weights[i]);
        }
    }
}
