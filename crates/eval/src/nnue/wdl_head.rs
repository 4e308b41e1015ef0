//! WDL head: three outputs of a network, whose softmax is win, draw and loss probability for the side to move.
//! Source: the value head of Leela Chess Zero.

use super::units::ONE;

/// Units of a network's K.
pub const K_UNIT: f64 = 256.0;

/// Largest difference of outputs that matters; smaller exponentials would be 0.
const FAR: f64 = 40.0;

/// Win, draw and loss probability, softmax(K · outputs).
pub fn chances(outputs: [f64; 3], k: f64) -> [f64; 3] {
    let weights = weights(outputs, k);
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// The output of one value with the same expected score: σ(K · output) = win + draw / 2.
pub fn output(outputs: [f64; 3], k: f64) -> f64 {
    let [win, draw, loss] = weights(outputs, k);
    ((2.0 * win + draw) / (2.0 * loss + draw)).ln() / k
}

/// Exponentials of the softmax, before division by their sum.
fn weights(outputs: [f64; 3], k: f64) -> [f64; 3] {
    let most = outputs.into_iter().fold(f64::MIN, f64::max);
    outputs.map(|output| (k * (output - most)).max(-FAR).exp())
}

/// Converts a network's three outputs from units to numbers.
pub(super) fn numbers(values: &[i64]) -> [f64; 3] {
    [0, 1, 2].map(|at| values[at] as f64 / ONE as f64)
}

/// [`output`] in units.
pub(super) fn in_units(values: &[i64], k: i16) -> i64 {
    (output(numbers(values), f64::from(k) / K_UNIT) * ONE as f64).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_has_the_expected_score_of_the_chances() {
        for k in [0.5, 1.0, 2.6] {
            for outputs in [[0.0, 0.0, 0.0], [1.0, -0.5, 0.25], [-2.0, 0.5, 1.5], [3.0, 3.0, -3.0]] {
                let [win, draw, loss] = chances(outputs, k);
                assert!((win + draw + loss - 1.0).abs() < 1e-12);
                let expected = 1.0 / (1.0 + (-k * output(outputs, k)).exp());
                assert!((win + draw / 2.0 - expected).abs() < 1e-12, "{outputs:?}");
            }
        }
        // By hand: chances 1/2, 1/4 and 1/4 are an expected score of 5/8.
        let found = output([2f64.ln(), 0.0, 0.0], 1.0);
        assert!((found - (5.0f64 / 3.0).ln()).abs() < 1e-12, "{found}");
        assert_eq!(in_units(&[16_320, 0, 16_320], 256), 0);
    }

    #[test]
    fn certain_outcomes_have_finite_outputs() {
        for outputs in [[1e6, 0.0, -1e6], [-1e6, 0.0, 1e6]] {
            let value = output(outputs, 1.0);
            assert!(value.is_finite() && value.abs() < 50.0 && value.signum() == outputs[0].signum());
        }
    }
}
