//! Drops positions at random, more of them the less likely their score makes the result of the game.
//!
//! A win-draw-loss model gives the probability with which a position stays. With x the score in the model's unit, and a
//! and b cubic polynomials of the ply or the material, a win has the probability 1 / (1 + exp((a − x) / b)), a loss
//! 1 / (1 + exp((a + x) / b)), a draw the rest. Sources: nnue-pytorch's `wld_filtered` (by ply, whose model is the
//! default: m = min(ply, 240) / 64, b widened by 1.5, x at most 2,000 centipawns) and viriformat's `wdl_filtered` (by
//! material, m = material / 58).

use serde::Deserialize;

use super::draw::{SEED, Stream, draw};
use super::registry::{FilterRow, choice, params, real};
use super::{PieceCounts, Record};
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[FilterRow::position(
    "wdl_skip",
    "a random number by game and ply exceeds the probability that its score gives to the game's result",
    &[
        choice("by", "what the model depends on beside the score", &["ply", "material"]),
        real(
            "a",
            "polynomial of the score with which half the games are won, highest power first",
            (-1e6, 1e6),
            &[-3.68389304, 30.07065921, -60.52878723, 149.53378557],
        ),
        real(
            "b",
            "polynomial of the spread, highest power first",
            (-1e6, 1e6),
            &[-2.0181857, 15.85685038, -29.83452023, 47.59078827],
        ),
        real("widen", "what the spread is multiplied by", (0.01, 100.0), &[1.5]),
        real("unit", "how many of the model's units a centipawn is", (0.01, 100.0), &[1.0]),
        SEED,
    ],
    |v| {
        let model = WdlModel::new(&params(v)?);
        Ok(Box::new(move |r: &Record| model.keeps(r)))
    },
)
.seeing(|v| match v["by"].as_str() {
    Some("ply") => Capabilities::SCORE.and(Capabilities::FULLMOVE),
    _ => Capabilities::SCORE,
})];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WdlParams {
    by: By,
    a: [f64; 4],
    b: [f64; 4],
    widen: f64,
    unit: f64,
    seed: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Ply,
    Material,
}

/// Scores are clamped to this, in the model's units.
const LIMIT: f64 = 2_000.0;

/// The last ply of the model, and the plies of m = 1.
const PLIES: (u32, f64) = (240, 64.0);

/// The least and most material of the model, and the material of m = 1, in pawns.
const MATERIAL: (u32, u32, f64) = (17, 78, 58.0);

struct WdlModel {
    by: By,
    table: Vec<(f64, f64)>,
    unit: f64,
    seed: u64,
}

impl WdlModel {
    fn new(p: &WdlParams) -> WdlModel {
        let (last, one) = match p.by {
            By::Ply => PLIES,
            By::Material => (MATERIAL.1, MATERIAL.2),
        };
        let cubic = |c: &[f64; 4], m: f64| ((c[0] * m + c[1]) * m + c[2]) * m + c[3];
        let at = |i: u32| {
            let m = f64::from(i) / one;
            (cubic(&p.a, m), cubic(&p.b, m) * p.widen)
        };
        WdlModel { table: (0..=last).map(at).collect(), by: p.by, unit: p.unit, seed: p.seed }
    }

    /// The probability of the game's result, from 0 to 1.
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

    fn keeps(&self, record: &Record) -> bool {
        let Some(score) = record.score else { return true };
        let index = match self.by {
            By::Ply => record.game_ply().min(PLIES.0),
            By::Material => PieceCounts::of(&record.board).material().clamp(MATERIAL.0, MATERIAL.1),
        };
        let result = record.turn.fold_wb(record.result, -record.result);
        draw(self.seed, Stream::WdlSkip, record) < self.probability(score, result, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities from Python's `math.exp` and the formula in nnue-pytorch's `training_data_entry.h`.
    #[test]
    fn the_model_is_nnue_pytorchs() {
        let model = WdlModel::new(&ROWS[0].defaults().try_into().unwrap());
        for (score, result, ply, expected) in [
            (0, 1, 0, 0.1096114501042135),
            (100, 1, 64, 0.41951301019356013),
            (100, 0, 64, 0.5699769521467641),
            (-300, -1, 120, 0.9725885395141082),
            (5000, -1, 400, 1.2151799356843024e-12),
        ] {
            let found = model.probability(score, result, ply.min(240));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
