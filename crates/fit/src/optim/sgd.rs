//! Gradient descent with momentum: v ← βv + g, w ← w − rate · v. Source: Polyak, "Some methods of speeding up
//! the convergence of iteration methods" (1964).

use super::Stepper;

#[derive(Debug, Clone)]
pub struct Sgd {
    momentum: f32,
    velocity: Vec<f32>,
}

impl Sgd {
    /// `momentum` is β, in `[0, 1)`; 0 is plain descent.
    pub fn new(parameters: usize, momentum: f32) -> Sgd {
        Sgd { momentum, velocity: vec![0.0; parameters] }
    }
}

impl Stepper for Sgd {
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        for ((w, &g), v) in weights.iter_mut().zip(gradient).zip(&mut self.velocity) {
            *v = self.momentum * *v + g;
            *w -= learning_rate * *v;
        }
    }

    fn state(&self) -> (u64, Vec<&[f32]>) {
        (0, vec![&self.velocity])
    }

    fn restore(&mut self, _steps: u64) -> Vec<&mut [f32]> {
        vec![&mut self.velocity]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn momentum_carries_on() {
        let mut w = [1.0];
        let mut sgd = Sgd::new(1, 0.5);
        sgd.step(&mut w, &[1.0], 0.1);
        assert_eq!(w, [0.9]);
        // Without a gradient half of the velocity is left.
        sgd.step(&mut w, &[0.0], 0.1);
        assert!((w[0] - 0.85).abs() < 1e-7);
    }
}
