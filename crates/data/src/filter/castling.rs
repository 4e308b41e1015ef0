//! Drops positions from which the game went on with castling.
//!
//! In: the move played. Out: keep or drop. Trainers whose move type knows only normal moves leave these out too
//! (bullet's example for Stockfish's binpacks; viriformat's `filter_castling`).

use super::registry::{Make, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "castling",
    doc: "the move played castles",
    parameters: &[],
    make: Make::Position(|_| Box::new(Castling)),
};

/// Positions whose played move castles.
#[derive(Debug, Clone, Copy)]
struct Castling;

impl Filter for Castling {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.played.0 >> 15 == 0
    }
}
