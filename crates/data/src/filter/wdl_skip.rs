//! Drops positions at random, the more of them the less likely the game's result was by their score.
//!
//! In: a record's score, result and ply or material, and a draw by game and ply. Out: keep with the probability that
//! a win-draw-loss model gives to the result that came. With x the score in the model's unit, and a and b cubic
//! polynomials of the ply or the material, a win has the probability 1 / (1 + exp((a − x) / b)), a loss
//! 1 / (1 + exp((a + x) / b)), a draw the rest. Source: nnue-pytorch's `wld_filtered` (by ply, whose model is the
//! default: m = min(ply, 240) / 64, b widened by 1.5, x at most 2,000 centipawns) and viriformat's `wdl_filtered` (by
//! material, m = material / 58). A position without a score stays.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Counts, Filter, Record, chance};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "wdl_skip",
    doc: "its draw by game and ply comes out above the probability that its score gives to the game's result",
    parameters: &[
        Parameter {
            name: "by",
            doc: "what the model depends on beside the score",
            kind: Kind::Choice(&["ply", "material"]),
            default: &[0.0],
        },
        Parameter {
            name: "a",
            doc: "polynomial of the score with which half the games are won, highest power first",
            kind: Kind::Real(-1e6, 1e6),
            default: &[-3.68389304, 30.07065921, -60.52878723, 149.53378557],
        },
        Parameter {
            name: "b",
            doc: "polynomial of the spread, highest power first",
            kind: Kind::Real(-1e6, 1e6),
            default: &[-2.0181857, 15.85685038, -29.83452023, 47.59078827],
        },
        Parameter {
            name: "widen",
            doc: "what the spread is multiplied by",
            kind: Kind::Real(0.01, 100.0),
            default: &[1.5],
        },
        Parameter {
            name: "unit",
            doc: "how many of the model's units a centipawn is",
            kind: Kind::Real(0.01, 100.0),
            default: &[1.0],
        },
        Parameter { name: "seed", doc: "seed of the draw", kind: Kind::Whole(0, 1 << 53), default: &[0.0] },
    ],
    make: Make::Position(|v| Box::new(WdlSkip::new(v))),
};

/// Scores beyond this, in the model's units, are cut.
const LIMIT: f64 = 2_000.0;

/// Plies beyond this have the same a and b, and what m = 1 is in plies.
const PLIES: (u32, f64) = (240, 64.0);

/// The material between which a and b change, and what m = 1 is in pawns.
const MATERIAL: (u32, u32, f64) = (17, 78, 58.0);

/// Positions whose draw lies above the probability of their result.
#[derive(Debug, Clone)]
struct WdlSkip {
    by_material: bool,
    /// a and b for each ply, or for each amount of material.
    table: Vec<(f64, f64)>,
    unit: f64,
    seed: u64,
}

impl WdlSkip {
    fn new(v: &[f64]) -> WdlSkip {
        let by_material = v[0] == 1.0;
        let (last, one) = if by_material { (MATERIAL.1, MATERIAL.2) } else { PLIES };
        let cubic = |c: &[f64], m: f64| ((c[0] * m + c[1]) * m + c[2]) * m + c[3];
        let at = |i: u32| {
            let m = f64::from(i) / one;
            (cubic(&v[1..5], m), cubic(&v[5..9], m) * v[9])
        };
        WdlSkip { by_material, table: (0..=last).map(at).collect(), unit: v[10], seed: v[11] as u64 }
    }

    /// The probability of the result that came, from 0 to 1.
    fn probability(&self, score: i16, result: i8, index: u32) -> f64 {
        let (a, b) = self.table[index as usize];
        let x = (f64::from(score) * self.unit).clamp(-LIMIT, LIMIT);
        let win = 1.0 / (1.0 + ((a - x) / b).exp());
        let loss = 1.0 / (1.0 + ((a + x) / b).exp());
        match result {
            1 => win,
            0 => 1.0 - win - loss,
            _ => loss,
        }
    }
}

impl Filter for WdlSkip {
    fn keeps(&self, record: &Record) -> bool {
        let Some(score) = record.score else { return true };
        let index = if self.by_material {
            Counts::of(&record.board).material().clamp(MATERIAL.0, MATERIAL.1)
        } else {
            record.game_ply().min(PLIES.0)
        };
        let result = record.turn.fold_wb(record.result, -record.result);
        chance::draw(self.seed, chance::WDL_SKIP, record) < self.probability(score, result, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities computed with Python's `math.exp` from the formula in nnue-pytorch's `training_data_entry.h`.
    #[test]
    fn the_model_is_nnue_pytorchs() {
        let filter = WdlSkip::new(&ROW.defaults());
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        for (score, result, ply, expected) in EXPECTED {
            near(filter.probability(score, result, ply.min(240)), expected);
        }
    }

    const EXPECTED: [(i16, i8, u32, f64); 5] = [
        (0, 1, 0, 0.1096114501042135),
        (100, 1, 64, 0.41951301019356013),
        (100, 0, 64, 0.5699769521467641),
        (-300, -1, 120, 0.9725885395141082),
        (5000, -1, 400, 1.2151799356843024e-12),
    ];
}
