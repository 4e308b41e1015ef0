//! The normal and beta distribution functions, on the special functions of `libm`.
//!
//! `statrs` stops the continued fraction of the incomplete beta function after 140 steps, too early for the counts of
//! long matches. Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.5.8, evaluated with
//! Lentz's method.

use libm::{erfc, lgamma};

pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// Regularised incomplete beta function: the distribution function of Beta(a, b).
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The continued fraction converges quickly below the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf(1.0 - x, b, a);
    }
    let front = (lgamma(a + b) - lgamma(a) - lgamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    front * beta_fraction(x, a, b)
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d, mut value) = (f64::INFINITY, 1.0, 1.0);
    // The fraction needs about √max(a, b) steps.
    for step in 1..20_000 {
        let m = f64::from(step / 2);
        let numerator = if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away_from_zero(1.0 + numerator * d);
        c = away_from_zero(1.0 + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_matches_its_table() {
        // Abramowitz and Stegun, table 26.1, and R's pnorm for the tails.
        for (x, p) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (1.959_963_984_540_054, 0.975),
            (3.0, 0.998_650_101_968_37),
            (-5.0, 2.866_515_718_791_94e-7),
            (-10.0, 7.619_853_024_160_53e-24),
        ] {
            let got = normal_cdf(x);
            assert!((got / p - 1.0).abs() < 1e-12, "{x}: {got} is not {p}");
        }
    }

    #[test]
    fn the_beta_distribution_matches_closed_forms() {
        for x in [0.01, 0.2, 0.5, 0.77, 0.999] {
            assert!((beta_cdf(x, 1.0, 1.0) - x).abs() < 1e-14);
            assert!((beta_cdf(x, 3.0, 1.0) - x.powi(3)).abs() < 1e-14);
            assert!((beta_cdf(x, 1.0, 4.0) - (1.0 - (1.0 - x).powi(4))).abs() < 1e-14);
            // Three of five throws: Σ C(5,k) x^k (1−x)^(5−k), k = 3..5, is Beta(3, 3).
            let y = 1.0 - x;
            let tail = 10.0 * x.powi(3) * y * y + 5.0 * x.powi(4) * y + x.powi(5);
            assert!((beta_cdf(x, 3.0, 3.0) - tail).abs() < 1e-14);
        }
    }
}
