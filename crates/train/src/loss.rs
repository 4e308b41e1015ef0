//! Losses between expected result and target, with their derivatives by the output (1 is 400 centipawns).

use super::position_weight::PositionWeight;
use super::pqr::GROUP;
use super::target::{Target, logistic_f32};
use super::{LossKind, Settings, TrainItem, wdl_loss};
use patzer_eval::nnue::Architecture;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub kind: LossKind,
    pub power: f32,
    pub kappa: f32,
    pub k: f32,
    /// Half the width of draws, and the further share of the loss above the target; see the recipe's keys.
    pub offset: f32,
    pub asymmetry: f32,
    /// Outputs are a WDL head's.
    pub wdl_head: bool,
    /// Penalty on the mean activation of the hidden layer; in the gradient, not in the values of the loss.
    pub l1: f32,
    /// Factor of the derivative: 1 / groups of the batch, or 1 / sum of their weights.
    pub scale: f32,
}

impl Loss {
    #[cfg(test)]
    pub(crate) fn squared(k: f32, scale: f32) -> Loss {
        let (kind, power, kappa) = (LossKind::Power, 2.0, 1.0);
        Loss { kind, power, kappa, k, offset: 0.0, asymmetry: 0.0, wdl_head: false, l1: 0.0, scale }
    }

    pub(crate) fn group(&self) -> usize {
        if self.kind == LossKind::Pqr { GROUP } else { 1 }
    }

    /// Gradient of the penalty by each activation of the hidden layer.
    pub(crate) fn penalty(&self, shape: &Architecture) -> f32 {
        self.l1 * self.scale / (shape.perspectives * shape.outputs_per_perspective()) as f32
    }

    /// Sums the losses of whole groups and writes the scaled derivative by each output. `weights` has one for each
    /// position, or none.
    pub(crate) fn all(
        &self,
        outputs: &[f32],
        targets: &[f32],
        weights: &[f32],
        gradients: &mut Vec<f32>,
    ) -> f64 {
        let mut sum = 0.0;
        gradients.clear();
        if self.kind == LossKind::Pqr {
            for group in outputs.as_chunks::<GROUP>().0 {
                let (value, of_group) = self.pqr(*group);
                sum += value;
                gradients.extend(of_group);
            }
            return sum;
        }
        for (at, (output, target)) in outputs.iter().zip(targets).enumerate() {
            let (mut value, mut gradient) = self.value_and_gradient(*output, *target);
            if let Some(&weight) = weights.get(at) {
                (value, gradient) = (f64::from(weight) * value, weight * gradient);
            }
            sum += value;
            gradients.push(gradient);
        }
        sum
    }

    fn pqr(&self, outputs: [f32; GROUP]) -> (f64, [f32; GROUP]) {
        let [p, q, r] = outputs.map(|output| f64::from(2.0 * logistic_f32(self.k * output) - 1.0));
        let gradients = [p, q, r].map(|value| f64::from(self.k) / 2.0 * (1.0 - value * value));
        let kappa = f64::from(self.kappa);
        // −ln σ(x) = ln(1 + e^−x); values are within ±1, so nothing overflows.
        let cost = |x: f64| (-x).exp().ln_1p();
        let fall = |x: f64| -1.0 / (1.0 + x.exp());
        let (better, both) = (r - q, p + q);
        let value = cost(better) + kappa * (cost(both) + cost(-both));
        let (by_better, by_both) = (fall(better), kappa * (fall(both) - fall(-both)));
        let by = [by_both * gradients[0], (by_both - by_better) * gradients[1], by_better * gradients[2]];
        (value, by.map(|gradient| gradient as f32 * self.scale))
    }

    /// Mean loss of a network that says the same of every position: the mean target, or nothing with `pqr`.
    pub(crate) fn of_constant(
        &self,
        target: Target,
        items: &[TrainItem],
        rule: Option<&PositionWeight>,
    ) -> f64 {
        if self.kind == LossKind::Pqr {
            return self.pqr([0.0; GROUP]).0;
        }
        if self.wdl_head {
            return wdl_loss::of_constant(target, items, rule);
        }
        let weight = |item: &TrainItem| rule.map_or(1.0, |rule| f64::from(rule.weight(item)));
        let targets = || items.iter().map(|item| (weight(item), target.expected(item)));
        let count = items.iter().map(weight).sum::<f64>().max(f64::MIN_POSITIVE);
        let sum: f64 = targets().map(|(weight, target)| weight * f64::from(target)).sum();
        let mean = (sum / count).clamp(1e-6, 1.0 - 1e-6);
        let output = ((mean / (1.0 - mean)).ln() / f64::from(self.k)) as f32;
        let plain = Loss { offset: 0.0, ..*self };
        targets().map(|(weight, target)| weight * plain.value_and_gradient(output, target).0).sum::<f64>()
            / count
    }

    /// Expected score of an output, and its derivative.
    #[inline]
    fn expected(&self, output: f32) -> (f32, f32) {
        let x = self.k * output;
        if self.offset == 0.0 {
            let p = logistic_f32(x);
            return (p, self.k * p * (1.0 - p));
        }
        let (win, loss) = (logistic_f32(x - self.offset), logistic_f32(-x - self.offset));
        ((1.0 + win - loss) / 2.0, self.k * (win * (1.0 - win) + loss * (1.0 - loss)) / 2.0)
    }

    /// Loss of one position and its scaled derivative; NaN for losses of groups.
    #[inline]
    pub(crate) fn value_and_gradient(&self, output: f32, target: f32) -> (f64, f32) {
        let (predicted, by_output) = self.expected(output);
        let error = predicted - target;
        match self.kind {
            LossKind::Power => {
                let gradient = by_output * self.scale;
                let (value, gradient) = if self.power == 2.0 {
                    (f64::from(error) * f64::from(error), 2.0 * error * gradient)
                } else if error == 0.0 {
                    (0.0, 0.0)
                } else {
                    let size = error.abs();
                    let below = size.powf(self.power - 1.0);
                    (f64::from(below) * f64::from(size), (self.power * below * gradient).copysign(error))
                };
                if self.asymmetry == 0.0 || error <= 0.0 {
                    return (value, gradient);
                }
                let weight = 1.0 + self.asymmetry;
                (f64::from(weight) * value, weight * gradient)
            }
            LossKind::Pqr => (f64::NAN, f32::NAN),
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

impl Settings {
    pub(super) fn loss(&self) -> Loss {
        let Settings { loss: kind, power, kappa, asymmetry, wdl_head, l1_activations: l1, .. } = *self;
        let k = self.output_k.or(self.k).unwrap_or(1.0);
        let offset = k * self.output_offset / 400.0;
        Loss { kind, power, kappa, k, offset, asymmetry, wdl_head, l1, scale: 0.0 }
    }
}

/// Entropy of a target: the least possible cross-entropy.
fn entropy(t: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(t) + part(1.0 - t)
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
            Loss { offset: 0.7, asymmetry: 0.5, ..Loss::squared(1.1, 1.0) },
            Loss { power: 2.5, offset: 0.4, asymmetry: -0.3, ..Loss::squared(0.9, 1.0) },
        ];
        for loss in losses {
            for (output, target) in [(0.3, 0.9), (-1.5, 0.2), (2.0, 1.0), (0.0, 0.0)] {
                // The loss again, in 64 bits.
                let value = |x: f64| {
                    let (logistic, offset) = (patzer_chess::score::logistic, f64::from(loss.offset));
                    let x = f64::from(loss.k) * x;
                    let p = (1.0 + logistic(x - offset) - logistic(-x - offset)) / 2.0;
                    let t = f64::from(target as f32);
                    let weight = if p > t { 1.0 + f64::from(loss.asymmetry) } else { 1.0 };
                    match loss.kind {
                        LossKind::Power => weight * (p - t).abs().powf(loss.power.into()),
                        _ => -t * p.ln() - (1.0 - t) * (1.0 - p).ln() - entropy(t),
                    }
                };
                let expected = (value(output + 1e-5) - value(output - 1e-5)) / 2e-5;
                let (found, gradient) = loss.value_and_gradient(output as f32, target as f32);
                assert!((found - value(output)).abs() < 1e-6, "{loss:?}: {found}");
                assert!(
                    (f64::from(gradient) - expected).abs() < 1e-5,
                    "{loss:?}: {gradient} is not {expected}"
                );
            }
        }
    }

    #[test]
    fn derivatives_of_three_are_those_of_finite_differences() {
        let loss = Loss { kind: LossKind::Pqr, kappa: 0.7, ..Loss::squared(1.3, 1.0) };
        for outputs in [[0.0, 0.0, 0.0], [0.4, -0.3, 0.9], [-2.0, 1.5, -0.2], [3.0, 2.0, 1.0]] {
            let (_, found) = loss.pqr(outputs);
            for i in 0..GROUP {
                let moved = |step: f32| {
                    let mut moved = outputs;
                    moved[i] += step;
                    loss.pqr(moved).0
                };
                let expected = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                assert!((f64::from(found[i]) - expected).abs() < 1e-4, "{outputs:?} {i}: {}", found[i]);
            }
        }
        // By hand: all values 0, so every logarithm is that of 1/2.
        let (value, _) = loss.pqr([0.0; 3]);
        assert!((value - (1.0 + 2.0 * 0.7) * 2f64.ln()).abs() < 1e-6);
        // The best move's successor is bad for its side, and no better than what it came from is good.
        let (good, bad) = (loss.pqr([1.0, -1.0, 1.0]).0, loss.pqr([1.0, 1.0, -1.0]).0);
        assert!(good < value && value < bad);
    }

    #[test]
    fn a_perfect_output_costs_nothing() {
        for kind in [LossKind::Power, LossKind::CrossEntropy] {
            let loss = Loss { kind, power: 2.5, ..Loss::squared(1.0, 1.0) };
            let (value, gradient) = loss.value_and_gradient(0.7, logistic_f32(0.7));
            assert!(value.abs() < 1e-6 && gradient.abs() < 1e-6);
        }
        let certain =
            Loss { kind: LossKind::CrossEntropy, ..Loss::squared(1.0, 1.0) }.value_and_gradient(-200.0, 1.0);
        assert!(certain.0 > 199.0 && certain.0.is_finite());
    }

    #[test]
    fn the_constant_loss_is_the_variance_of_the_targets() {
        let items = crate::tests::items(100, 2);
        let target = Target { wdl: 0.3, k: 1.2, offset: 0.0 };
        let targets: Vec<f64> = items.iter().map(|item| target.expected(item).into()).collect();
        let mean = targets.iter().sum::<f64>() / 100.0;
        let variance = targets.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 100.0;
        let found = Loss::squared(0.7, 1.0).of_constant(target, &items, None);
        assert!((found - variance).abs() < 1e-6, "{found} {variance}");
        let loss = Loss { kind: LossKind::CrossEntropy, ..Loss::squared(0.7, 1.0) };
        let zero =
            items.iter().map(|item| loss.value_and_gradient(0.0, target.expected(item)).0).sum::<f64>()
                / 100.0;
        assert!(loss.of_constant(target, &items, None) < zero);
    }
}
