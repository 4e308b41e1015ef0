//! Confidence sequence of an estimate that is asymptotically normal: holds at all times at once.
//!
//! While an effect is 0, the likelihood ratio of a normal mixture of effects against 0 is a martingale, and reaches 1/α
//! at any time with probability α at most (Ville). Sources: Robbins, "Statistical methods related to the law of the
//! iterated logarithm" (1970); Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and
//! asymptotic confidence sequences" (Ann. Stat. 52, 2024).

/// Half the width of the interval of an estimate with this standard error, missed at any time with probability `alpha`
/// at most. It is narrowest where effects are about as large as `scale`, in the same unit.
pub fn half_width(error: f64, scale: f64, alpha: f64) -> f64 {
    let [variance, prior] = [error, scale].map(|sd| sd * sd);
    let price = (1.0 + prior / variance).ln() - 2.0 * alpha.ln();
    (variance * (1.0 + variance / prior) * price).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::{Rng, mix};

    #[test]
    fn a_mean_of_0_leaves_the_sequence_as_seldom_as_promised_and_a_plain_interval_does_not() {
        let (runs, observations, alpha) = (2_000, 2_000, 0.1);
        let (mut left, mut plain) = (0, 0);
        for run in 0..runs {
            let mut rng = Rng::new(mix(5, run));
            let (mut sum, mut missed) = (0.0, [false; 2]);
            for count in 1..=observations {
                sum += rng.normal();
                let (mean, error) = (sum / f64::from(count), 1.0 / f64::from(count).sqrt());
                missed[0] |= mean.abs() > half_width(error, 0.1, alpha);
                missed[1] |= count > 20 && mean.abs() > 1.645 * error;
            }
            left += u32::from(missed[0]);
            plain += u32::from(missed[1]);
        }
        // Only an endless run reaches alpha.
        let share = f64::from(left) / runs as f64;
        assert!((0.03..=alpha).contains(&share), "{share}");
        assert!(plain > runs as u32 / 2, "{plain}");
    }

    #[test]
    fn the_width_falls_with_the_error_and_is_near_its_least_at_the_scale() {
        assert!(half_width(1.0, 10.0, 0.05) < half_width(2.0, 10.0, 0.05));
        let at = |scale: f64| half_width(3.0, scale, 0.001);
        assert!(at(10.0) < at(1.0) && at(10.0) < at(1_000.0));
        assert!((at(10.0) / (3.0 * 3.29) - 1.28).abs() < 0.01, "{}", at(10.0));
    }
}
