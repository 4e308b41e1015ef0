//! Loss of a WDL head: the cross-entropy of its softmax and the target chances of win, draw and loss, less the target's
//! entropy.
//!
//! The target is λ · the result's chances + (1 − λ) · the chances by the score s: σ(K·(s − offset)/400) for a win,
//! σ(K·(−s − offset)/400) for a loss, the rest for a draw. Source: the targets of nnue-pytorch, whose expected score is
//! win + draw / 2; the loss is that of Leela Chess Zero.

use super::TrainItem;
use super::position_weight::PositionWeight;
use super::target::Target;
use patzer_eval::nnue::wdl_head;

/// Chances of win, draw and loss from an expected score and the chance of a draw.
fn chances(expected: f32, draw: f32) -> [f64; 3] {
    let (expected, draw) = (f64::from(expected), f64::from(draw));
    [(expected - draw / 2.0).max(0.0), draw, (1.0 - expected - draw / 2.0).max(0.0)]
}

/// Σ −t ln t.
fn entropy(target: [f64; 3]) -> f64 {
    target.iter().filter(|t| **t > 0.0).map(|t| -t * t.ln()).sum()
}

/// Loss of one position and the derivatives by its outputs. An output that is no number gives a loss that is none.
fn of(outputs: [f32; 3], target: [f64; 3], k: f32) -> (f64, [f64; 3]) {
    let k = f64::from(k);
    let values = outputs.map(|output| k * f64::from(output));
    let most = values.into_iter().fold(f64::MIN, f64::max);
    let sum: f64 = values.iter().map(|value| (value - most).exp()).sum();
    let total: f64 = target.iter().sum();
    let given: f64 = target.iter().zip(values).map(|(t, value)| t * (value - most)).sum();
    let gradient = |at: usize| k * (total * (values[at] - most).exp() / sum - target[at]);
    (total * sum.ln() - given - entropy(target), [gradient(0), gradient(1), gradient(2)])
}

/// Sums the losses of positions and writes the derivatives by their three outputs, scaled. `weights` has one for each
/// position, or none.
pub(crate) fn all(
    (k, scale): (f32, f32),
    outputs: &[f32],
    (expected, draws): (&[f32], &[f32]),
    weights: &[f32],
    gradients: &mut Vec<f32>,
) -> f64 {
    let mut sum = 0.0;
    gradients.clear();
    for (at, outputs) in outputs.as_chunks::<3>().0.iter().enumerate() {
        let weight = weights.get(at).map_or(1.0, |weight| f64::from(*weight));
        let (value, by) = of(*outputs, chances(expected[at], draws[at]), k);
        sum += weight * value;
        gradients.extend(by.map(|gradient| (weight * gradient) as f32 * scale));
    }
    sum
}

/// Mean loss of the mean target.
pub(crate) fn of_constant(target: Target, items: &[TrainItem], rule: Option<&PositionWeight>) -> f64 {
    let (mut sum, mut entropies, mut weights) = ([0.0; 3], 0.0, f64::MIN_POSITIVE);
    for item in items {
        let weight = rule.map_or(1.0, |rule| f64::from(rule.weight(item)));
        let target = chances(target.expected(item), target.draw(item));
        sum.iter_mut().zip(target).for_each(|(sum, t)| *sum += weight * t);
        (entropies, weights) = (entropies + weight * entropy(target), weights + weight);
    }
    entropy(sum.map(|sum| sum / weights)) - entropies / weights
}

/// The output of one value with the same expected score.
pub(crate) fn output(outputs: &[f32], k: f32) -> f32 {
    wdl_head::output([0, 1, 2].map(|at| f64::from(outputs[at])), k.into()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::items;

    #[test]
    fn derivatives_are_those_of_finite_differences_and_the_target_costs_nothing() {
        for (outputs, target) in [
            ([0.3, -0.2, 0.1], [0.5, 0.3, 0.2]),
            ([-2.0, 1.0, 3.0], [0.0, 1.0, 0.0]),
            ([0.0, 0.0, 0.0], [0.9, 0.0, 0.1]),
        ] {
            let (_, gradients) = of(outputs, target, 1.3);
            for at in 0..3 {
                let moved = |step: f32| {
                    let mut moved = outputs;
                    moved[at] += step;
                    of(moved, target, 1.3).0
                };
                let expected = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                assert!((gradients[at] - expected).abs() < 1e-4, "{} is not {expected}", gradients[at]);
            }
        }
        let outputs = [0.5f32, 0.25, 0.25].map(|chance| chance.ln() / 2.0);
        let (value, gradients) = of(outputs, [0.5, 0.25, 0.25], 2.0);
        assert!(value.abs() < 1e-6 && gradients.iter().all(|gradient| gradient.abs() < 1e-6));
        // By hand: equal chances of a won game.
        assert!((of([1.0; 3], [1.0, 0.0, 0.0], 1.0).0 - 3f64.ln()).abs() < 1e-12);
        assert!(of([f32::NAN, 0.0, 0.0], [1.0, 0.0, 0.0], 1.0).0.is_nan());
    }

    #[test]
    fn targets_have_the_expected_score_of_other_losses() {
        for offset in [0.0, 0.7] {
            let target = Target { wdl: 0.4, k: 1.2, offset };
            for item in items(200, 3) {
                let [win, draw, loss] = chances(target.expected(&item), target.draw(&item));
                assert!((win + draw + loss - 1.0).abs() < 1e-6 && draw >= 0.0, "{win} {draw} {loss}");
                assert!((win + draw / 2.0 - f64::from(target.expected(&item))).abs() < 1e-6);
                let drawn = item.result == 0 && (offset > 0.0 || target.wdl > 0.0);
                assert!(!drawn || draw > 0.39, "a drawn game counts as one by its share");
            }
        }
    }

    #[test]
    fn no_constant_is_better_than_the_mean_target() {
        let items = items(100, 2);
        let target = Target { wdl: 0.3, k: 1.2, offset: 0.5 };
        let loss = of_constant(target, &items, None);
        let mean = |outputs: [f32; 3]| {
            let each = items
                .iter()
                .map(|item| of(outputs, chances(target.expected(item), target.draw(item)), 1.0).0);
            each.sum::<f64>() / 100.0
        };
        assert!(loss > 0.0);
        for outputs in [[0.0, 0.0, 0.0], [0.1, 0.2, 0.0], [0.0, -0.5, 0.1]] {
            assert!(mean(outputs) > loss);
        }
    }
}
