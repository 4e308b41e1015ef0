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

/// A median with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Median {
    pub value: f64,
    /// Ends of the interval; `None` with too few values.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Median of values of any distribution, and the interval between the order statistics whose ranks cover it with at
/// least `confidence`. Source: Thompson, "On confidence ranges for the median and other expectation distributions for
/// populations of unknown distribution form" (1936).
///
/// # Panics
/// Without values.
pub fn median(mut values: Vec<f64>, confidence: f64) -> Median {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let value = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
    // Of `count` values, `outside` lie below the median with the probability of that number of heads; logarithms, as
    // powers of one half become zero.
    let (mut tail, mut outside, mut ln_term) = (0.0, 0, count as f64 * 0.5_f64.ln());
    while tail + ln_term.exp() <= (1.0 - confidence) / 2.0 && 2 * outside < count {
        tail += ln_term.exp();
        ln_term += ((count - outside) as f64 / (outside + 1) as f64).ln();
        outside += 1;
    }
    let ends = outside.checked_sub(1).map(|at| (values[at], values[count - 1 - at]));
    Median { value, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high) }
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

    #[test]
    fn intervals_of_the_median_have_the_ranks_of_the_tables() {
        let of = |count: u32| median((1..=count).rev().map(f64::from).collect(), 0.95);
        // Published ranks for 95 %: none for 5, 1 and 6 of 6, 2 and 9 of 10, 6 and 15 of 20, 40 and 61 of 100.
        assert_eq!((of(5).value, of(5).low, of(5).high), (3.0, None, None));
        for (count, value, low, high) in [
            (6, 3.5, 1.0, 6.0),
            (10, 5.5, 2.0, 9.0),
            (20, 10.5, 6.0, 15.0),
            (100, 50.5, 40.0, 61.0),
            (10_000, 5000.5, 4902.0, 5099.0),
        ] {
            assert_eq!(of(count), Median { value, low: Some(low), high: Some(high) }, "{count}");
        }
    }
}
