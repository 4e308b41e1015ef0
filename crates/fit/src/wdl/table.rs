//! Data of the win/draw/loss model: results by score, one row per material or move number.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::histogram::{Histogram, MATE_CODE, Observation, SCORE_CAP};
use super::model::WdlModel;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Material of both sides: 9Q + 5R + 3(B + N) + P.
    Material,
    Move,
}

impl By {
    /// Material or move number at which a and b are usually the sums of their coefficients.
    pub fn target(self) -> f64 {
        match self {
            By::Material => 58.0,
            By::Move => 32.0,
        }
    }

    pub fn row(self, o: &Observation) -> u16 {
        match self {
            By::Material => o.material.into(),
            By::Move => o.number,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    pub by: By,
    /// Largest score of either sign, in centipawns.
    pub score: u16,
    pub moves: RangeInclusive<u16>,
    pub material: RangeInclusive<u16>,
    /// Rows with fewer positions are left out.
    pub least: u64,
    /// The model by which the engine normalised its scores, to undo; `score` then is in normalised
    /// centipawns, everything else in the engine's units.
    pub undo: Option<WdlModel>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { by: By::Material, score: 400, moves: 1..=120, material: 17..=78, least: 1, undo: None }
    }
}

impl Bounds {
    pub fn rows(&self) -> &RangeInclusive<u16> {
        match self.by {
            By::Material => &self.material,
            By::Move => &self.moves,
        }
    }

    /// The score in the engine's units, or the reason for leaving the observation out.
    fn admit(&self, o: &Observation) -> Result<i32, &'static str> {
        let (score, material) = (i32::from(o.score), u16::from(o.material));
        if score.abs() >= MATE_CODE {
            return Err("mate");
        }
        if !self.moves.contains(&o.number) {
            return Err("move");
        }
        if !self.material.contains(&material) {
            return Err("material");
        }
        let limit = self.undo.as_ref().map_or(f64::from(self.score), |model| {
            (f64::from(self.score) * model.normalize_to_pawn_value().round() / 100.0).round()
        });
        // Capped: at least so large.
        if score.abs() >= SCORE_CAP {
            return Err("score");
        }
        let score = (f64::from(score) * self.unit(o)).round();
        if score.abs() <= limit { Ok(score as i32) } else { Err("score") }
    }

    /// Centipawns of the engine's units per centipawn of its scores, which it may have normalised.
    pub fn unit(&self, o: &Observation) -> f64 {
        let material = u16::from(o.material).clamp(*self.material.start(), *self.material.end());
        self.undo.as_ref().map_or(1.0, |model| model.at(f64::from(material)).0 / 100.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    pub score: i32,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WdlRow {
    pub at: u16,
    pub cells: Vec<Cell>,
}

impl WdlRow {
    pub fn counts(&self) -> [u64; 3] {
        let add = |sum: [u64; 3], c: &Cell| [sum[0] + c.wins, sum[1] + c.draws, sum[2] + c.losses];
        self.cells.iter().fold([0; 3], add)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct WdlTable {
    pub bounds: Bounds,
    pub rows: Vec<WdlRow>,
    /// Wins, draws and losses for the side to move.
    pub counts: [u64; 3],
    /// Positions left out, by reason: `mate`, `move`, `material`, `score`, `few`.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl WdlTable {
    pub fn new(histogram: &Histogram, bounds: Bounds) -> WdlTable {
        let mut rows: BTreeMap<u16, BTreeMap<i32, [u64; 3]>> = BTreeMap::new();
        let mut dropped: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (o, count) in histogram.sorted() {
            let score = match bounds.admit(&o) {
                Ok(score) => score,
                Err(reason) => {
                    *dropped.entry(reason).or_default() += count;
                    continue;
                }
            };
            rows.entry(bounds.by.row(&o)).or_default().entry(score).or_default()[o.outcome as usize] += count;
        }
        let cell = |(score, [wins, draws, losses]): (i32, [u64; 3])| Cell { score, wins, draws, losses };
        let mut rows: Vec<WdlRow> = (rows.into_iter())
            .map(|(at, cells)| WdlRow { at, cells: cells.into_iter().map(cell).collect() })
            .collect();
        rows.retain(|row| {
            let positions = row.counts().iter().sum::<u64>();
            if positions < bounds.least {
                *dropped.entry("few").or_default() += positions;
            }
            positions >= bounds.least
        });
        let add = |sum: [u64; 3], row: &WdlRow| {
            let counts = row.counts();
            std::array::from_fn(|i| sum[i] + counts[i])
        };
        WdlTable { counts: rows.iter().fold([0; 3], add), rows, bounds, dropped }
    }

    pub fn positions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// First to last row with data, beyond which the model's cubics say nothing.
    pub fn seen_rows(&self) -> RangeInclusive<u16> {
        let ends = self.rows.first().zip(self.rows.last());
        ends.map_or(self.bounds.rows().clone(), |(first, last)| first.at..=last.at)
    }

    /// Largest score of either sign.
    pub fn largest_score(&self) -> i32 {
        self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.score.abs()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wdl::histogram::Bin;

    const BIN: Bin = Bin { width: 1, single_precision: false };

    fn histogram(observations: &[(i8, u16, u8, i32, bool, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for &(result, number, material, score, mate, count) in observations {
            histogram.add(Observation::new(result, number, material, score, mate, BIN), count);
        }
        histogram
    }

    #[test]
    fn every_position_is_in_a_row_or_has_a_reason() {
        let table = WdlTable::new(
            &histogram(&[
                (1, 1, 17, 400, false, 2),
                (1, 120, 78, -400, false, 3),
                (0, 1, 17, -400, false, 5),
                (0, 1, 17, 401, false, 7),
                (0, 0, 17, 0, false, 11),
                (0, 121, 17, 0, false, 13),
                (0, 1, 16, 0, false, 17),
                (0, 1, 79, 0, false, 19),
                (-1, 1, 78, -1, true, 23),
            ]),
            Bounds::default(),
        );
        assert_eq!(table.counts, [5, 5, 0]);
        let cell = |score, wins, draws| Cell { score, wins, draws, losses: 0 };
        let rows = [(17, vec![cell(-400, 0, 5), cell(400, 2, 0)]), (78, vec![cell(-400, 3, 0)])];
        assert_eq!(table.rows, rows.map(|(at, cells)| WdlRow { at, cells }));
        let dropped = [("mate", 23), ("material", 36), ("move", 24), ("score", 7)];
        assert_eq!(table.dropped, dropped.into());
    }

    #[test]
    fn capped_scores_are_left_out() {
        let counts = histogram(&[
            (1, 5, 40, 999, false, 1),
            (1, 5, 40, 1_000, false, 2),
            (1, 5, 40, -5_000, false, 4),
        ]);
        for a in [None, Some([0.0, 0.0, 0.0, 30.0])] {
            let undo = a.map(|a| WdlModel { a, b: [0.0; 4], target: 58.0 });
            let table = WdlTable::new(&counts, Bounds { score: 1_000, undo, ..Bounds::default() });
            assert_eq!((table.positions(), &table.dropped), (1, &[("score", 6)].into()));
        }
    }

    #[test]
    fn rows_with_too_few_positions_are_left_out_by_name() {
        let counts = histogram(&[(1, 5, 40, 10, false, 9), (0, 6, 50, 10, false, 1)]);
        let table = WdlTable::new(&counts, Bounds { least: 2, by: By::Move, ..Bounds::default() });
        assert_eq!((table.rows.len(), table.rows[0].at, table.counts), (1, 5, [9, 0, 0]));
        assert_eq!(table.dropped, [("few", 1)].into());
    }

    #[test]
    fn a_normalisation_can_be_undone() {
        // 200 normalised centipawns of an engine whose pawn is 350 units everywhere are 700 units.
        let undo = Some(WdlModel { a: [0.0, 0.0, 0.0, 350.0], b: [0.0; 4], target: 58.0 });
        let counts =
            histogram(&[(1, 5, 40, 200, false, 1), (1, 5, 40, 400, false, 1), (1, 5, 40, 401, false, 1)]);
        let table = WdlTable::new(&counts, Bounds { undo, ..Bounds::default() });
        assert_eq!(table.rows[0].cells.iter().map(|c| c.score).collect::<Vec<_>>(), [700, 1_400]);
        assert_eq!(table.dropped, [("score", 1)].into());
        // The coefficients are over material, whatever the rows are.
        let undo = Some(WdlModel { a: [0.0, 0.0, 58.0, 100.0], b: [0.0; 4], target: 58.0 });
        let bounds = Bounds { by: By::Move, undo, ..Bounds::default() };
        assert_eq!(bounds.unit(&Observation::new(1, 5, 29, 0, false, BIN)), 1.29);
    }
}
