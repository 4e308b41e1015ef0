//! AdaGrad, diagonal form. Source: Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning
//! and Stochastic Optimization" (2011).

use super::Stepper;

#[derive(Debug, Clone)]
pub struct AdaGrad {
    squares: Vec<f32>,
}

/// Added to the root, so that a weight without gradients stays.
const EPSILON: f32 = 1e-10;

impl AdaGrad {
    pub fn new(parameters: usize) -> AdaGrad {
        AdaGrad { squares: vec![0.0; parameters] }
    }
}

impl Stepper for AdaGrad {
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32) {
        for ((w, &g), square) in weights.iter_mut().zip(gradient).zip(&mut self.squares) {
            *square += g * g;
            *w -= learning_rate * g / (square.sqrt() + EPSILON);
        }
    }

    fn state(&self) -> (u64, Vec<&[f32]>) {
        (0, vec![&self.squares])
    }

    fn restore(&mut self, _steps: u64) -> Vec<&mut [f32]> {
        vec![&mut self.squares]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_are_those_by_hand() {
        // Gradients 3 and 4: the steps are 3/3 and 4/5 of the learning rate.
        let mut w = [10.0, 1.0];
        let mut adagrad = AdaGrad::new(2);
        adagrad.step(&mut w, &[3.0, 0.0], 0.5);
        assert_eq!(w, [9.5, 1.0]);
        adagrad.step(&mut w, &[4.0, 0.0], 0.5);
        assert!((w[0] - 9.1).abs() < 1e-6 && w[1] == 1.0);
    }
}
