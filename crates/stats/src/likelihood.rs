//! Maximum-likelihood estimates of a discrete distribution under a constraint.
//!
//! Source: Van den Bergh, "A practical introduction to the GSPRT" and "Comments on Normalized Elo" (2020), as
//! in fishtest's `LLRcalc`.

use super::pentanomial::Distribution;

/// Most likely distribution in which `values` have mean zero: each probability over 1 + x·value (Owen,
/// "Empirical Likelihood"); x lies between the poles of the extreme values.
fn centred<const N: usize>(chance: &[f64; N], values: &[f64; N]) -> Option<[f64; N]> {
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(lowest < 0.0 && highest > 0.0 && lowest.is_finite() && highest.is_finite()) {
        return None;
    }
    let (mut low, mut high) = (-1.0 / highest, -1.0 / lowest);
    let slope = |x: f64| -> f64 { (0..N).map(|i| chance[i] * values[i] / (1.0 + x * values[i])).sum() };
    // Bisection ends at machine precision; the cap is for roots at zero.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    let x = 0.5 * (low + high);
    let tilted: [f64; N] = std::array::from_fn(|i| chance[i] / (1.0 + x * values[i]));
    // Normalise away rounding; the sum is 1 at the exact root.
    let sum: f64 = tilted.iter().sum();
    let valid = sum.is_finite() && tilted.iter().all(|&p| p > 0.0);
    valid.then(|| tilted.map(|p| p / sum))
}

pub fn with_mean<const N: usize>(observed: &Distribution<N>, mean: f64) -> Option<Distribution<N>> {
    let values = Distribution::<N>::scores().map(|score| score - mean);
    let chance = centred(&observed.chance, &values)?;
    Some(Distribution { chance, count: observed.count })
}

/// Most likely distribution whose mean lies `t` of its own standard deviations above one half. The constraint is
/// linearised at the last estimate until it converges.
pub fn with_t<const N: usize>(observed: &Distribution<N>, t: f64) -> Option<Distribution<N>> {
    const STEPS: usize = 100;
    const STILL: f64 = 1e-9; // the roots are not exact, so a smaller step may never come
    let mut estimate = Distribution { chance: [1.0 / N as f64; N], count: observed.count };
    for _ in 0..STEPS {
        let mean = estimate.mean();
        let deviation = estimate.variance().sqrt();
        if deviation <= 0.0 {
            return None;
        }
        let values = Distribution::<N>::scores().map(|score| {
            let distance = (mean - score) / deviation;
            score - 0.5 - 0.5 * t * deviation * (1.0 + distance * distance)
        });
        let chance = centred(&observed.chance, &values)?;
        let change = (0..N).map(|i| (chance[i] - estimate.chance[i]).abs()).fold(0.0, f64::max);
        estimate.chance = chance;
        if change < STILL {
            return Some(estimate);
        }
    }
    None
}

pub fn log_ratio<const N: usize>(
    observed: &Distribution<N>,
    alternative: &Distribution<N>,
    null: &Distribution<N>,
) -> f64 {
    let each = |i: usize| observed.chance[i] * (alternative.chance[i] / null.chance[i]).ln();
    observed.count * (0..N).map(each).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_meets_its_condition() {
        let observed = Distribution::regularised([365, 16618, 36229, 16974, 390]);
        let tilted = with_mean(&observed, 0.51).unwrap();
        assert!((tilted.mean() - 0.51).abs() < 1e-12);
        let tilted = with_t(&observed, 0.02).unwrap();
        assert!(((tilted.mean() - 0.5) / tilted.variance().sqrt() - 0.02).abs() < 1e-9);
    }

    #[test]
    fn the_observed_mean_leaves_the_distribution_as_it_is_and_an_impossible_one_has_none() {
        let observed = Distribution::regularised([3, 5, 9, 6, 2]);
        let same = with_mean(&observed, observed.mean()).unwrap();
        for (a, b) in same.chance.iter().zip(observed.chance) {
            assert!((a - b).abs() < 1e-12);
        }
        // Impossible conditions have no estimate.
        assert!(with_mean(&observed, 1.0).is_none());
        assert!(with_mean(&observed, f64::NAN).is_none());
        assert!(with_t(&observed, f64::INFINITY).is_none());
    }
}
