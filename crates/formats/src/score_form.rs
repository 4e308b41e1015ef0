//! How formats write scores: unit, side and range.

use patzer_chess::score;

/// How a format writes scores.
#[derive(Clone, Copy)]
pub struct ScoreForm {
    pub unit: &'static str,
    /// The side that scores speak for.
    pub side: &'static str,
    /// True if a file may be of another unit, which it does not say: scores are taken as they are.
    pub open: bool,
    /// The greatest score that the format has a place for; the least is its opposite.
    pub limit: i16,
    /// The score that is read where this one was written, in a unit that rounds.
    pub rounded: Option<fn(i16) -> i16>,
}

/// Centipawns from the side to move.
pub const CENTIPAWNS: ScoreForm = ScoreForm {
    unit: "centipawns",
    side: "side to move",
    open: false,
    limit: score::MATE as i16,
    rounded: None,
};
/// Numbers of the formats that Stockfish's tools made, whose own have 208 to a pawn.
pub const OF_STOCKFISH: ScoreForm =
    ScoreForm { unit: "the writer's (Stockfish: 208 a pawn; patzer: centipawns)", open: true, ..CENTIPAWNS };
/// Centipawns from White's side.
pub const OF_WHITE: ScoreForm = ScoreForm { side: "White", ..CENTIPAWNS };
/// Scores of a table that other programs made.
pub const OF_COLUMNS: ScoreForm = ScoreForm { side: "side to move or White", ..CENTIPAWNS };

impl ScoreForm {
    /// The score that is read where this one was written.
    pub fn read_back(&self, score: i16) -> i16 {
        self.rounded.map_or(score, |rounded| rounded(score))
    }
}
