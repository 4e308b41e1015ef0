//! Brownian motion between two barriers: the continuous limit of a sequential test's LLR.
//!
//! Outcomes are ordered by stage: early failure is worst, then later failures, running tests by LLR, late
//! passes, and an early pass is best (Siegmund, "Estimation following sequential tests", 1978; Van den
//! Bergh's formulas for fishtest).

use std::f64::consts::PI;

use super::special::normal_cdf;

#[derive(Debug, Clone, Copy)]
pub(super) struct Brownian {
    pub lower: f64,
    pub upper: f64,
    pub drift: f64,
    pub variance: f64,
}

impl Brownian {
    /// Probability of having hit the lower barrier before `time`, or of running below `y` at `time`: the sine series of
    /// the heat equation, or two mirrored sources where that loses precision.
    pub fn worse(&self, time: f64, y: f64) -> f64 {
        let width = self.upper - self.lower;
        let spread = self.variance * time / (width * width);
        let steep = self.drift / self.variance * width;
        if time.is_nan() || time <= 0.0 {
            return if y > 0.0 { 1.0 } else { 0.0 };
        }
        let chance =
            if spread < 1e-2 || steep.abs() > 15.0 { self.mirrored(time, y) } else { self.series(time, y) };
        if chance.is_nan() { 0.5 } else { chance.clamp(0.0, 1.0) }
    }

    fn ends_low(&self) -> f64 {
        let (width, above) = (self.upper - self.lower, self.upper);
        let gamma = 2.0 * self.drift / self.variance;
        match gamma * width {
            steep if steep.abs() < 1e-10 => above / width,
            steep if steep > 0.0 => {
                (gamma * self.lower).exp() * (-(-gamma * above).exp_m1()) / -(-steep).exp_m1()
            }
            steep => -(gamma * above).exp_m1() / -steep.exp_m1(),
        }
    }

    fn series(&self, time: f64, y: f64) -> f64 {
        let width = self.upper - self.lower;
        let (start, y) = (-self.lower, y - self.lower);
        let gamma = self.drift / self.variance;
        let mut sum = 0.0;
        for n in 1..200 {
            let wave = PI * f64::from(n) / width;
            let decay = 0.5 * self.variance * (wave * wave + gamma * gamma) * time;
            let size = (gamma * (y - start) - decay).exp() * 2.0 / (width * (gamma * gamma + wave * wave));
            sum += size * (wave * start).sin() * (gamma * (wave * y).sin() - wave * (wave * y).cos());
            if size * (wave + gamma.abs()) < 1e-13 {
                break;
            }
        }
        self.ends_low() + sum
    }

    fn mirrored(&self, time: f64, y: f64) -> f64 {
        let deviation = (self.variance * time).sqrt();
        let gamma = 2.0 * self.drift / self.variance;
        let from = y - self.drift * time;
        scaled_cdf(0.0, from / deviation)
            + scaled_cdf(gamma * self.lower, (2.0 * self.lower - from) / deviation)
            - scaled_cdf(gamma * self.upper, (from - 2.0 * self.upper) / deviation)
    }
}

/// e^`exponent` · Φ(`x`), without intermediate overflow.
fn scaled_cdf(exponent: f64, x: f64) -> f64 {
    if x > -8.0 {
        return exponent.exp() * normal_cdf(x);
    }
    let tail = (1.0 - 1.0 / (x * x) + 3.0 / x.powi(4)) / (-x * (2.0 * PI).sqrt());
    (exponent - 0.5 * x * x).exp() * tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    #[test]
    fn the_chances_are_those_of_a_simulated_walk() {
        let motion = Brownian { lower: -2.0, upper: 3.0, drift: 0.1, variance: 1.0 };
        let (walks, step) = (4_000, 0.01);
        for (time, y) in [(4.0, 0.5), (2.0, 3.0), (6.0, -2.0), (30.0, 3.0)] {
            let mut rng = Rng::new(3);
            let mut worse = 0;
            for _ in 0..walks {
                let (mut x, mut t) = (0.0, 0.0);
                // Barriers moved in by the mean overshoot of a discrete walk (Siegmund).
                let inset = 0.5826 * f64::sqrt(step);
                while t < time && x > motion.lower + inset && x < motion.upper - inset {
                    x += motion.drift * step + f64::sqrt(step) * rng.normal();
                    t += step;
                }
                worse += u32::from(x <= motion.lower + inset || (x < motion.upper - inset && x < y));
            }
            let (got, want) = (motion.worse(time, y), f64::from(worse) / f64::from(walks));
            assert!((got - want).abs() < 0.03, "{time} {y}: {got} {want}");
        }
    }

    #[test]
    fn both_forms_agree_where_both_hold() {
        for drift in [-0.4, 0.0, 0.4] {
            let motion = Brownian { lower: -2.9, upper: 2.9, drift, variance: 1.0 };
            for (time, y) in [(0.5, 0.3), (1.0, -1.0), (1.5, 2.9)] {
                let (a, b) = (motion.series(time, y), motion.mirrored(time, y));
                assert!((a - b).abs() < 2e-3, "{drift} {time} {y}: {a} {b}");
            }
        }
    }

    #[test]
    fn extreme_drifts_stay_chances() {
        for drift in [-1e6, -40.0, -1e-12, 1e-12, 40.0, 1e6] {
            let motion = Brownian { lower: -2.9, upper: 2.9, drift, variance: 1.0 };
            for time in [1e-9, 0.1, 10.0, 1e9] {
                for y in [-2.9, 0.0, 2.9] {
                    let chance = motion.worse(time, y);
                    assert!((0.0..=1.0).contains(&chance), "{drift} {time} {y}: {chance}");
                }
            }
        }
    }
}
