//! Losses: how far the network's expected result is from the target.
//!
//! In: the network's output (1 is 400 centipawns) and the target, 0 to 1. Out: the loss and its derivative by the output.

use serde::{Deserialize, Serialize};

use super::TrainItem;

/// The kinds of losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// |σ(out) − target|^p; p = 2 is the squared error
    #[default]
    Power,
    /// −t ln σ(out) − (1 − t) ln(1 − σ(out)), less what a perfect output would have
    CrossEntropy,
}

/// A loss with all that it needs besides the positions.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// Which.
    pub kind: LossKind,
    /// The exponent of [`LossKind::Power`].
    pub power: f32,
    /// K of the sigmoid that the output goes through.
    pub k: f32,
    /// What the derivative is multiplied with: 1 / positions in the whole batch.
    pub scale: f32,
}

impl Loss {
    /// The squared error.
    #[cfg(test)]
    pub fn squared(k: f32, scale: f32) -> Loss {
        Loss { kind: LossKind::Power, power: 2.0, k, scale }
    }

    /// The loss, and its derivative by the output, scaled.
    #[inline]
    pub fn of(&self, output: f32, target: f32) -> (f64, f32) {
        let predicted = sigmoid(self.k * output);
        let error = predicted - target;
        match self.kind {
            LossKind::Power => {
                let slope = self.k * predicted * (1.0 - predicted) * self.scale;
                if self.power == 2.0 {
                    return (f64::from(error) * f64::from(error), 2.0 * error * slope);
                }
                let size = error.abs();
                if size == 0.0 {
                    return (0.0, 0.0);
                }
                let below = size.powf(self.power - 1.0);
                (f64::from(below) * f64::from(size), (self.power * below * slope).copysign(error))
            }
            LossKind::CrossEntropy => {
                let x = f64::from(self.k) * f64::from(output);
                let t = f64::from(target);
                // −t ln σ(x) − (1 − t) ln σ(−x), in the form that never takes the logarithm of 0.
                let loss = x.max(0.0) - t * x + (-x.abs()).exp().ln_1p();
                (loss - entropy(t), self.k * error * self.scale)
            }
        }
    }
}

/// How the target follows from a position's labels.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Weight of the game's result.
    pub wdl: f32,
    /// K of the sigmoid.
    pub k: f32,
}

impl Target {
    /// The expected result for the side to move: λ·result + (1 − λ)·σ(K·score/400), or the result alone.
    #[inline]
    pub fn of(self, item: &TrainItem) -> f32 {
        let white = item.expected();
        let result = if item.turn.is_white() { white } else { 1.0 - white };
        item.score.map_or(result, |score| {
            let expected = sigmoid(self.k * f32::from(score) / 400.0);
            self.wdl * result + (1.0 - self.wdl) * expected
        })
    }
}

/// The cross-entropy of a target with itself.
fn entropy(t: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(t) + part(1.0 - t)
}

/// 1 / (1 + e^−x)
#[inline]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let losses = [
            Loss::squared(1.2, 1.0),
            Loss { power: 2.6, ..Loss::squared(0.8, 1.0) },
            Loss { power: 1.5, ..Loss::squared(1.0, 1.0) },
            Loss { kind: LossKind::CrossEntropy, ..Loss::squared(1.3, 1.0) },
        ];
        for loss in losses {
            for (output, target) in [(0.3, 0.9), (-1.5, 0.2), (2.0, 1.0), (0.0, 0.0)] {
                // The loss again, in 64 bits.
                let value = |x: f64| {
                    let p = 1.0 / (1.0 + (-f64::from(loss.k) * x).exp());
                    let t = f64::from(target as f32);
                    match loss.kind {
                        LossKind::Power => (p - t).abs().powf(loss.power.into()),
                        LossKind::CrossEntropy => -t * p.ln() - (1.0 - t) * (1.0 - p).ln() - entropy(t),
                    }
                };
                let expected = (value(output + 1e-5) - value(output - 1e-5)) / 2e-5;
                let (found, slope) = loss.of(output as f32, target as f32);
                assert!((found - value(output)).abs() < 1e-6, "{loss:?}: {found}");
                assert!((f64::from(slope) - expected).abs() < 1e-5, "{loss:?}: {slope} is not {expected}");
            }
        }
    }

    #[test]
    fn a_perfect_output_costs_nothing() {
        for kind in [LossKind::Power, LossKind::CrossEntropy] {
            let loss = Loss { kind, power: 2.5, ..Loss::squared(1.0, 1.0) };
            let (value, slope) = loss.of(0.7, sigmoid(0.7));
            assert!(value.abs() < 1e-6 && slope.abs() < 1e-6);
        }
        let certain = Loss { kind: LossKind::CrossEntropy, ..Loss::squared(1.0, 1.0) }.of(-200.0, 1.0);
        assert!(certain.0 > 199.0 && certain.0.is_finite());
    }
}
