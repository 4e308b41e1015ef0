//! Coefficients of an evaluation's weights from differences of its values: each weight is moved up and down, so that an
//! engine needs no code that counts. Exact up to rounding where the evaluation is a sum of weights times counts; else
//! the slope at the weights as they are.

use super::chunk::{FeatureCounts, TraceInfo};
use super::text::TracePosition;
use patzer_io::error::Result;

/// A weight that can be moved.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericWeight {
    pub start: f64,
    pub bounds: [f64; 2],
    /// Takes whole numbers alone.
    pub whole: bool,
}

/// Evaluates the positions of these numbers with one weight at another value: centipawns from White's side, `None` where
/// the engine says nothing.
pub type Evaluate<'a> = dyn FnMut(Option<(usize, f64)>, &[usize]) -> Result<Vec<Option<f64>>> + 'a;

/// Coefficients of one position.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericRow {
    /// The evaluation at the start values.
    pub eval: f64,
    /// The rest of the evaluation, beside weights times coefficients.
    pub constant: f64,
    /// Centipawns a point of each weight that counts, ascending by weight.
    pub coefficients: Vec<(u16, f32)>,
}

/// Coefficients of a block of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// `None` of a position that the engine did not evaluate.
    pub rows: Vec<Option<NumericRow>>,
    /// Positions in which each weight counts, and the part of them in which no step follows a straight line.
    pub counted: Vec<[u32; 2]>,
}

/// Largest step of a whole weight; the rounding of the evaluation costs a coefficient 1/256 at most.
const STEP: f64 = 256.0;

/// Steps, each a quarter of the one before.
const STEPS: i32 = 4;

/// Centipawns by which rounding may bend three values of a straight line.
const ROUNDING: f64 = 3.0;

/// Slope of a position so far: `None` before the first step.
struct Open {
    position: usize,
    slope: Option<f64>,
}

impl Differences {
    /// Finds the coefficients of a block of positions.
    ///
    /// # Errors
    /// Every error of `evaluate`.
    pub fn of(
        weights: &[NumericWeight],
        positions: usize,
        evaluate: &mut Evaluate<'_>,
    ) -> Result<Differences> {
        let all: Vec<usize> = (0..positions).collect();
        let base = evaluate(None, &all)?;
        let row = |eval: f64| NumericRow { eval, constant: eval, coefficients: Vec::new() };
        let mut found = Differences {
            rows: base.into_iter().map(|eval| eval.map(row)).collect(),
            counted: vec![[0; 2]; weights.len()],
        };
        for (index, weight) in weights.iter().enumerate() {
            found.add(index, weight, evaluate)?;
        }
        Ok(found)
    }

    fn add(&mut self, index: usize, weight: &NumericWeight, evaluate: &mut Evaluate<'_>) -> Result<()> {
        let known = |position: &usize| self.rows[*position].is_some();
        let positions = (0..self.rows.len()).filter(known);
        let mut open: Vec<Open> = positions.map(|position| Open { position, slope: None }).collect();
        for power in 0..STEPS {
            let step = weight.step(power);
            let ends = weight.ends(step);
            if open.is_empty() || ends[0] == ends[1] {
                break;
            }
            let numbers: Vec<usize> = open.iter().map(|open| open.position).collect();
            let below = evaluate(Some((index, ends[0])), &numbers)?;
            let above = evaluate(Some((index, ends[1])), &numbers)?;
            let values = below.into_iter().zip(above);
            let mut left = Vec::new();
            for (at, (below, above)) in open.into_iter().zip(values) {
                let (Some(below), Some(above)) = (below, above) else {
                    self.rows[at.position] = None;
                    continue;
                };
                let Some(row) = &mut self.rows[at.position] else { continue };
                let slope = (above - below) / (ends[1] - ends[0]);
                let expected = below + slope * (weight.start - ends[0]);
                let is_straight = (row.eval - expected).abs() <= ROUNDING / 2.0;
                // A curve has the same slope for a smaller step; a bend within the step has not.
                let agreed =
                    at.slope.filter(|before| (before - slope).abs() * (ends[1] - ends[0]) <= ROUNDING);
                match agreed.or(is_straight.then_some(slope)) {
                    Some(slope) => self.counted[index][0] += u32::from(row.count(index, slope, weight.start)),
                    None => left.push(Open { slope: Some(slope), ..at }),
                }
            }
            open = left;
        }
        for at in open {
            if let (Some(slope), Some(row)) = (at.slope, &mut self.rows[at.position]) {
                row.count(index, slope, weight.start);
                let [counted, bent] = &mut self.counted[index];
                (*counted, *bent) = (*counted + 1, *bent + 1);
            }
        }
        Ok(())
    }
}

impl NumericRow {
    /// Adds a coefficient; false if it is 0.
    fn count(&mut self, index: usize, slope: f64, start: f64) -> bool {
        if slope != 0.0 {
            // Terms have at most 65,536 entries.
            self.coefficients.push((index as u16, slope as f32));
            self.constant -= slope * start;
        }
        slope != 0.0
    }

    /// The trace of the position: untapered, since each weight has its own coefficient.
    pub fn trace(self, target: f32, game: Option<u64>, score: Option<f32>) -> TracePosition {
        let info = TraceInfo { target, constant: self.constant as f32, ..TraceInfo::default() };
        let counts = FeatureCounts { linear: self.coefficients, ..FeatureCounts::default() };
        TracePosition { info, counts, game, score, eval: Some(self.eval as f32), line: 0 }
    }
}

impl NumericWeight {
    fn step(&self, power: i32) -> f64 {
        let [low, high] = self.bounds;
        // Numbers with decimals have no usual size but their range's.
        let largest = if self.whole { STEP } else { (high - low) / 2.0 };
        largest / 4f64.powi(power)
    }

    /// Values a step below and above the start, within the bounds.
    fn ends(&self, step: f64) -> [f64; 2] {
        let [low, high] = self.bounds;
        let ends = [(self.start - step).max(low), (self.start + step).min(high)];
        if self.whole { [ends[0].ceil(), ends[1].floor()] } else { ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(start: f64) -> NumericWeight {
        NumericWeight { start, bounds: [-2000.0, 2000.0], whole: true }
    }

    /// Coefficients of the first position.
    fn first(weights: &[f64], eval: impl Fn(&[f64], usize) -> f64) -> (NumericRow, Vec<[u32; 2]>) {
        let start: Vec<NumericWeight> = weights.iter().map(|value| weight(*value)).collect();
        let mut evaluate = |change: Option<(usize, f64)>, positions: &[usize]| {
            let mut weights = weights.to_vec();
            change.iter().for_each(|&(index, value)| weights[index] = value);
            Ok(positions.iter().map(|position| Some(eval(&weights, *position).trunc())).collect())
        };
        let found = Differences::of(&start, 1, &mut evaluate).unwrap();
        (found.rows.into_iter().next().flatten().unwrap(), found.counted)
    }

    fn close(row: &NumericRow, wanted: &[(u16, f32)]) {
        assert_eq!(row.coefficients.len(), wanted.len(), "{row:?}");
        for (found, wanted) in row.coefficients.iter().zip(wanted) {
            assert_eq!(found.0, wanted.0);
            assert!((found.1 - wanted.1).abs() < 0.01, "{row:?}");
        }
    }

    #[test]
    fn sums_and_tapered_sums_give_their_counts() {
        let (row, counted) = first(&[100.0, 320.0, 33.0], |w, _| 3.0 * w[0] - w[1] + 17.0);
        close(&row, &[(0, 3.0), (1, -1.0)]);
        assert_eq!((row.eval, counted), (-3.0, vec![[1, 0], [1, 0], [0, 0]]));
        assert!((row.constant - 17.0).abs() < 2.0, "{row:?}");
        let (row, _) = first(&[82.0, 94.0], |w, _| (w[0] * 2.0 * 7.0 + w[1] * 2.0 * 17.0) / 24.0);
        close(&row, &[(0, 14.0 / 24.0), (1, 34.0 / 24.0)]);
    }

    #[test]
    fn curves_and_bends_give_the_slope_where_they_are() {
        // Danger squared: the slope at 60 + 24 is 2 * 84 / 40.
        let danger = |w: &[f64], _| (w[0] + 2.0 * w[1]).max(0.0).powi(2) / 40.0;
        let (row, counted) = first(&[60.0, 12.0], danger);
        close(&row, &[(0, 4.2), (1, 8.4)]);
        assert_eq!(counted, [[1, 0], [1, 0]]);
        // Limited on one side beyond 40 points.
        let (row, _) = first(&[100.0], |w, _| 2.0 * w[0].min(140.0));
        close(&row, &[(0, 2.0)]);
        // A saw has no slope.
        assert_eq!(first(&[100.0], |w, _| 40.0 * (w[0] % 6.0)).1, [[1, 1]]);
    }

    #[test]
    fn weights_stay_within_their_bounds_and_silent_positions_go() {
        let weights = [NumericWeight { start: 20.0, bounds: [0.0, 20.0], whole: true }];
        let mut seen = Vec::new();
        let mut evaluate = |change: Option<(usize, f64)>, positions: &[usize]| {
            let value = change.map_or(20.0, |(_, value)| value);
            seen.push(value);
            Ok(positions.iter().map(|at| (*at != 1).then_some(2.0 * value)).collect())
        };
        let found = Differences::of(&weights, 3, &mut evaluate).unwrap();
        assert_eq!(seen, [20.0, 0.0, 20.0]);
        assert_eq!(found.rows.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
        close(found.rows[2].as_ref().unwrap(), &[(0, 2.0)]);
    }

    #[test]
    fn the_bundled_evaluation_counts_as_its_own_traces_do() {
        use std::sync::Arc;

        use crate::tune::TuneItem;
        use crate::tune::hce;
        use patzer_chess::{PackedBoard, random_positions};
        use patzer_eval::hce::{Hce, Trace, Weights};
        use shakmaty::Position;

        let pairs = Weights::untuned().pairs().to_vec();
        let positions = random_positions(40, 5);
        // Both halves of some weights of each term.
        let moved: Vec<(usize, usize)> =
            (0..pairs.len()).step_by(3).flat_map(|pair| [(pair, 0), (pair, 1)]).collect();
        let weights: Vec<NumericWeight> =
            moved.iter().map(|&(pair, half)| weight(pairs[pair][half].into())).collect();
        let mut evaluate = |change: Option<(usize, f64)>, numbers: &[usize]| {
            let mut pairs = pairs.clone();
            if let Some((index, value)) = change {
                let (pair, half) = moved[index];
                pairs[pair][half] = value as i32;
            }
            let hce = Hce::new(Arc::new(Weights::from_pairs(1.0, &pairs).unwrap()));
            let value = |at: &usize| f64::from(hce.white(positions[*at].board(), positions[*at].turn()));
            Ok(numbers.iter().map(|at| Some(value(at))).collect())
        };
        let found = Differences::of(&weights, positions.len(), &mut evaluate).unwrap();
        for (position, row) in positions.iter().zip(&found.rows) {
            let (board, turn) = (PackedBoard::pack(position), position.turn());
            let item = TuneItem { board, turn, target: 0.5, weight: 1.0, game: 0 };
            let traced = hce::position(&item, &mut Trace::default(), None, None).unwrap();
            let halves = [traced.info.phase, (1.0 - traced.info.phase) * traced.info.scale];
            let row = row.as_ref().unwrap();
            for (index, &(pair, half)) in moved.iter().enumerate() {
                let count = traced.counts.linear.iter().find(|count| usize::from(count.0) == pair);
                let wanted = count.map_or(0.0, |count| count.1 * halves[half]);
                let found = row.coefficients.iter().find(|count| usize::from(count.0) == index);
                let off = (found.map_or(0.0, |count| count.1) - wanted).abs();
                assert!(off < 0.01, "weight {pair} half {half}: off by {off} of {wanted}");
            }
        }
    }
}
