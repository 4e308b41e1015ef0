//! Positions as a stream offers them.

use shakmaty::Color;

use patzer_chess::PackedBoard;
use patzer_data::Record;
use patzer_io::error::Result;

#[derive(Debug, Clone, Copy)]
pub struct Offer<'a, T> {
    /// Number of its file, from 0.
    pub file: usize,
    /// The position as in the file; of EPD lines only what tuning needs.
    pub record: &'a Record,
    /// Item by [`MakeItem`].
    pub item: T,
    /// The result from White's side, from 0 to 1.
    pub result: f32,
    /// Group of dependent positions: the game, or the position itself where the game is unknown.
    pub group: u64,
    /// The group is a game.
    pub of_game: bool,
    pub held_out: bool,
}

impl<T> Offer<'_, T> {
    /// Number of its game, if that is known: 53 bits, exact as a double in every language.
    pub fn game(&self) -> Option<u64> {
        self.of_game.then_some(self.group & ((1 << 53) - 1))
    }

    /// The score from White's side, in centipawns.
    pub fn white_score(&self) -> Option<f32> {
        let white = |score: i16| f32::from(self.record.turn.fold_wb(score, score.saturating_neg()));
        self.record.score.map(white)
    }
}

/// Makes the item of a position, given the board to judge and its side to move, or says why to drop the position.
/// Called on all threads, in any order.
pub type MakeItem<'a, T> =
    dyn Fn(&Record, PackedBoard, Color) -> std::result::Result<T, &'static str> + Sync + 'a;

/// Receives positions; returns the reason if it drops one.
pub type Take<'a, T> = dyn FnMut(&Offer<'_, T>) -> Result<Option<&'static str>> + 'a;
