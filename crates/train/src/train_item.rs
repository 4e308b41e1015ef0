//! A position to train on.

use shakmaty::{Chess, Color, Position};

use patzer_chess::PackedBoard;
use patzer_chess::score::is_mate;
use patzer_data::Record;
use patzer_eval::nnue::halfmoves;
use patzer_prepare::halfmoves_at;

/// A position with its result and score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainItem {
    /// Pieces; castling rights do not matter.
    pub board: PackedBoard,
    /// Side to move.
    pub turn: Color,
    /// The halfmove clock.
    pub halfmoves: u8,
    /// Score in centipawns from the side to move.
    pub score: Option<i16>,
    /// Result from White's side, ±[`WIN`]: of the game, or the mean of several.
    pub result: i16,
    /// Plies from the start of its game.
    pub ply: u16,
}

/// A won game in [`TrainItem::result`]; a power of two, so that game results are exact.
pub const WIN: i16 = 1 << 14;

impl TrainItem {
    /// A position alone, without score and result.
    pub(crate) fn of(position: &Chess) -> TrainItem {
        let (board, turn) = (PackedBoard::pack(position), position.turn());
        TrainItem { board, turn, halfmoves: halfmoves(position), score: None, result: 0, ply: 0 }
    }

    /// Result from White's side, 0 to 1.
    #[inline]
    pub fn expected(&self) -> f32 {
        f32::from(self.result) * (0.5 / WIN as f32) + 0.5
    }
}

/// The board to judge, with the game engine's score seen from its side to move, or else the label's.
pub(super) fn train_item(
    record: &Record,
    board: PackedBoard,
    turn: Color,
) -> std::result::Result<TrainItem, &'static str> {
    let seen = record.score.map(|score| if turn == record.turn { score } else { -score });
    let score = seen.or(record.leaf.map(|leaf| leaf.score));
    if score.is_some_and(|score| is_mate(score.into())) {
        return Err("score is mate");
    }
    let result = match record.mean {
        Some(_) => (record.outcome() * f32::from(WIN)).round() as i16,
        None => i16::from(record.result) * WIN,
    };
    let (halfmoves, ply) = (halfmoves_at(record, &board), record.ply);
    Ok(TrainItem { board, turn, halfmoves, score, result, ply })
}
