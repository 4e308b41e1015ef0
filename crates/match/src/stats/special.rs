//! The special functions that the statistics need and the standard library lacks.
//!
//! In: real numbers. Out: function values to about fourteen digits. Series and continued fractions are those of
//! Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 7.1.6, 7.1.14 and 26.5.8, evaluated with
//! Lentz's method; the logarithm of the gamma function is Lanczos's approximation (1964).

/// Chance that a standard normal variable is below `x`. Tails keep their relative precision.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// The complementary error function.
fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x > 27.0 {
        return 0.0; // below the smallest positive number
    }
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.0 {
        // erf x = 2/√π e^(−x²) Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term > 1e-17 * sum {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        1.0 - 2.0 * scale * sum
    } else {
        // √π e^(x²) erfc x = 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), from the inside out
        let inner = (1..=120).rev().fold(x, |below, n| x + 0.5 * f64::from(n) / below);
        scale / inner
    }
}

/// The natural logarithm of the gamma function for `x > 0`.
fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let sum = (1..9).fold(COEFFICIENTS[0], |sum, i| sum + COEFFICIENTS[i] / (x + i as f64));
    let t = x + G + 0.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete beta function: the chance that a Beta(a, b) variable is below `x`.
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
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
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
