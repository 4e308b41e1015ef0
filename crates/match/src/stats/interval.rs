//! Exact confidence interval of a proportion. Source: Clopper and Pearson, "The use of confidence or fiducial
//! limits" (1934).

use super::special::beta_cdf;

/// Clopper–Pearson interval; a `confidence` of 0.9 leaves 5 % on each side.
pub fn exact_proportion(successes: u64, trials: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let successes = successes.min(trials);
    let (k, n) = (successes as f64, trials as f64);
    let lower = if successes == 0 { 0.0 } else { beta_quantile(tail, k, n - k + 1.0) };
    let upper = if successes == trials { 1.0 } else { beta_quantile(1.0 - tail, k + 1.0, n - k) };
    (lower, upper)
}

fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_cdf(middle, a, b) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_has_its_published_and_closed_forms() {
        // Published value: the exact 90 % interval of 20 of 30.
        let (low, high) = exact_proportion(20, 30, 0.9);
        assert!((low - 0.5006).abs() < 5e-5 && (high - 0.8067).abs() < 5e-5, "{low} {high}");
        // With no success in n trials the upper end solves (1 − p)^n = tail.
        let (low, high) = exact_proportion(0, 10, 0.95);
        assert_eq!(low, 0.0);
        assert!((high - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-12);
        let (low, high) = exact_proportion(10, 10, 0.95);
        assert!((low - 0.025_f64.powf(0.1)).abs() < 1e-12);
        assert_eq!(high, 1.0);
        assert_eq!(exact_proportion(0, 0, 0.95), (0.0, 1.0));
    }
}
