//! Scales of axes: linear, of counts, logarithmic.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScaleKind {
    Linear,
    /// Linear, with ticks at whole numbers.
    Whole,
    /// Logarithmic, for positive numbers.
    Log,
}

#[derive(Clone)]
pub(crate) struct Scale {
    range: Range<f64>,
    linear: RangedCoordf64,
    kind: ScaleKind,
}

impl Scale {
    pub(crate) fn new(range: Range<f64>, kind: ScaleKind) -> Scale {
        // A logarithm needs positive ends.
        let kind = if kind == ScaleKind::Log && range.start <= 0.0 { ScaleKind::Linear } else { kind };
        Scale { linear: range.clone().into(), range, kind }
    }

    /// Ticks at 1, 2, 5, 10, …, or linear ones where a range has fewer than three of them.
    fn log_ticks(&self, most: usize) -> Vec<f64> {
        let (low, high) = (self.range.start.log10().floor() as i32, self.range.end.log10().ceil() as i32);
        let of = |steps: &'static [f64]| -> Vec<f64> {
            let all = (low..=high).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            all.filter(|value| self.range.contains(value)).collect()
        };
        let ticks = of(&[1.0, 2.0, 5.0]);
        match ticks.len() {
            0..3 => self.linear.key_points(most.max(2)),
            count if count > most => of(&[1.0]),
            _ => ticks,
        }
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        if self.kind != ScaleKind::Log {
            return self.linear.map(value, limit);
        }
        let (low, high) = (self.range.start.ln(), self.range.end.ln());
        let share = (value.max(f64::MIN_POSITIVE).ln() - low) / (high - low).max(f64::MIN_POSITIVE);
        limit.0 + (share.clamp(-1.0, 2.0) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.max_num_points();
        match self.kind {
            ScaleKind::Linear => self.linear.key_points(hint),
            ScaleKind::Log => self.log_ticks(most),
            ScaleKind::Whole => {
                let whole = self.range.end.floor() - self.range.start.ceil() + 1.0;
                let mut step = round_step(whole / most.max(1) as f64).max(1.0);
                // A wide step may miss a range away from 0.
                while step > 1.0 && (self.range.start / step).ceil() * step > self.range.end {
                    step = (step / 2.0).floor();
                }
                let (first, last) =
                    ((self.range.start / step).ceil() as i64, (self.range.end / step).floor() as i64);
                (first..=last).map(|nth| nth as f64 * step).collect()
            }
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// The least of 1, 2, 5, 10, … that is at least `least`.
pub(super) fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.abs().max(1e-12).log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|step| step * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(range: Range<f64>, kind: ScaleKind, most: usize) -> Vec<f64> {
        Scale::new(range, kind).key_points(most)
    }

    #[test]
    fn ticks_of_counts_are_whole() {
        assert_eq!(ticks(0.98..2.02, ScaleKind::Whole, 6), [1.0, 2.0]);
        assert_eq!(ticks(1.96..2.04, ScaleKind::Whole, 6), [2.0]);
        assert_eq!(ticks(0.0..41.0, ScaleKind::Whole, 6), [0.0, 10.0, 20.0, 30.0, 40.0]);
        for most in 2..9 {
            for end in 1..200 {
                let ticks = ticks(0.5..f64::from(end) + 0.5, ScaleKind::Whole, most);
                assert!(!ticks.is_empty() && ticks.len() <= most + 1, "{end} {most}: {ticks:?}");
                assert!(ticks.iter().all(|tick| tick.fract() == 0.0));
            }
        }
    }

    #[test]
    fn a_logarithmic_scale_has_equal_steps_for_equal_factors() {
        let scale = Scale::new(0.01..100.0, ScaleKind::Log);
        let places = [0.01, 0.1, 1.0, 10.0, 100.0].map(|value| scale.map(&value, (0, 400)));
        assert_eq!(places, [0, 100, 200, 300, 400]);
        assert_eq!(ticks(0.01..100.0, ScaleKind::Log, 8), [0.01, 0.1, 1.0, 10.0]);
        assert_eq!(ticks(0.04..0.3, ScaleKind::Log, 8), [0.05, 0.1, 0.2]);
        assert!(ticks(0.010..0.014, ScaleKind::Log, 8).len() > 2, "a narrow range has ticks too");
        assert_eq!(Scale::new(0.0..1.0, ScaleKind::Log).map(&0.5, (0, 100)), 50, "0 has no logarithm");
    }
}
