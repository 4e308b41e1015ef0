//! Optimum of a range: the greatest value of the fitted parabola, with its interval.

use super::factor::half_width;
use super::{Effects, Factor};
use patzer_stats::Z95;

/// Points of the range that are tested for the interval.
const POINTS: usize = 400;

/// Optimum of a range within its ends, in the option's unit, by the response surface b x + c x².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    pub value: f64,
    /// Ends of the 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Elo over the middle, and half the width of its 95 % interval.
    pub gain: f64,
    pub error: f64,
    /// The interval leaves out the middle.
    pub moved: bool,
}

impl Optimum {
    /// Finds the optimum of a factor whose slope is this term, and its curvature the one after it. The interval has
    /// the points that may be the optimum: a test of the slope there does not show that the parabola rises to one side
    /// (Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16, 1954).
    pub fn of(factor: &Factor, effects: &Effects, term: usize) -> Option<Optimum> {
        let values = factor.range()?;
        let half = half_width(values);
        let [low, high] = [values[0], values[2]].map(|value| (value - values[1]) / half);
        let gain = |x: f64| effects.sum(&[(term, x), (term + 1, x * x)]);
        let point = |at: usize| low + (high - low) * at as f64 / POINTS as f64;
        let may_be = |x: &f64| {
            let (slope, error) = effects.sum(&[(term, 1.0), (term + 1, 2.0 * x)]);
            let (rises, falls) = (slope > Z95 * error, slope < -Z95 * error);
            // At an end the parabola may lead out of the range.
            (!rises || *x >= high) && (!falls || *x <= low)
        };
        let (slope, curvature) = (effects.effect(term).0, effects.effect(term + 1).0);
        let inner = (curvature < 0.0).then(|| (-slope / (2.0 * curvature)).clamp(low, high));
        let best = inner.unwrap_or(if gain(high).0 > gain(low).0 { high } else { low });
        let candidates = (0..=POINTS).map(point).filter(may_be).chain([best]);
        let ends = candidates.fold([best; 2], |[least, most], x| [x.min(least), x.max(most)]);
        let value = |x: f64| values[1] + half * x;
        let (elo, error) = gain(best);
        Some(Optimum {
            value: value(best),
            low: value(ends[0]),
            high: value(ends[1]),
            gain: elo,
            error: Z95 * error,
            moved: ends[0] > 0.0 || ends[1] < 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Design, Factors, Planner, Setting};
    use patzer_chess::rng::{Rng, mix};
    use patzer_io::Shard;
    use patzer_stats::plan::{Conditions, Pairs};

    fn screened(values: [&str; 3], elo: impl Fn(f64) -> f64, pairs: usize, seed: u64) -> Optimum {
        let setting = Setting { option: "x".into(), values: values.map(String::from).to_vec() };
        let factor = Factor { name: "x".into(), settings: vec![setting] };
        let factors = Factors { factors: vec![factor.clone()], interactions: Vec::new() };
        let (confidence, worth, share, batch) = (0.95, 0.0, 0.5, 32);
        let fixed = false;
        let design = Design { factors, builds: Vec::new(), confidence, worth, share, batch, seed, fixed };
        let mut planner = Planner::new(design, Shard::WHOLE);
        let (assigned, mut rng) = (planner.assigned(), Rng::new(mix(seed, 1)));
        let levels = factor.range().unwrap();
        for pair in 0..pairs {
            let [a, b] =
                assigned.get(pair).unwrap().levels.map(|levels_of| elo(levels[usize::from(levels_of[0])]));
            let pairs = Pairs::new(a - b, Conditions { draws: 0.5, bias: 0.0 }).unwrap();
            planner.add(pairs.draw(&mut rng));
        }
        planner.finish();
        Optimum::of(&factor, planner.effects(), 0).unwrap()
    }

    #[test]
    fn a_parabola_has_its_optimum_within_an_interval_that_holds_it() {
        let elo = |x: f64| 40.0 - 0.1 * (x - 85.0).powi(2);
        let mut held = 0;
        for seed in 0..40 {
            let optimum = screened(["60", "74", "100"], elo, 4_000, seed);
            assert!((optimum.value - 85.0).abs() < 5.0, "{optimum:?}");
            assert!((optimum.gain - 12.1).abs() < 2.5 * optimum.error, "{optimum:?}");
            held += u32::from((optimum.low..=optimum.high).contains(&85.0));
        }
        assert!((35..=40).contains(&held), "{held}");
    }

    #[test]
    fn a_range_that_rises_ends_at_its_end_and_a_flat_one_is_not_known() {
        let rising = screened(["0", "5", "10"], |x| 8.0 * x, 4_000, 1);
        assert!(rising.value == 10.0 && rising.high == 10.0 && rising.moved, "{rising:?}");
        let flat = screened(["0", "5", "10"], |_| 0.0, 1_000, 1);
        assert!(!flat.moved && flat.gain.abs() <= 1.5 * flat.error, "{flat:?}");
    }
}
