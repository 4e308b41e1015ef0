//! Filters: which positions a dataset keeps, and under which name the others are counted.
//!
//! In: a [`Record`]. Out: keep, or the name of the filter that drops it. A filter looks at one record alone, and
//! everything it may need is stored with the record, so that filtering at `extract` and later gives the same
//! positions. There are two exceptions. Filters of whole games look at the tags ([`GameFacts`]), which a dataset does
//! not carry; they work at `extract` alone, and say so elsewhere. `duplicates` remembers; it comes last in every
//! [`Pipeline`], so that the first of equal positions is the first among those that the other filters leave.
//!
//! To add one: a file here with its row, a line in [`rows`], and a game that shows it in `tests.rs`.

mod before_capture;
mod before_check;
mod before_end;
mod before_mate;
mod book;
mod capture;
mod castling;
mod chance;
mod counts;
mod depth;
mod draws;
mod duplicates;
mod early_skip;
mod elo;
mod equal_decisive;
mod every_nth;
mod facts;
mod gives_check;
mod halfmove;
mod imbalance;
mod in_check;
mod mate_score;
mod move_number;
mod no_score;
mod non_pawn_pieces;
mod piece_count;
mod piece_target;
mod pipeline;
mod ply;
mod preset;
mod promotion;
mod random_skip;
pub mod registry;
mod result;
mod rows;
mod score_conflict;
mod score_limit;
mod score_range;
mod short_game;
mod side_pieces;
mod tactical;
mod termination;
#[cfg(test)]
mod tests;
mod time_control;
mod variant;
mod wdl_skip;
mod winner;

use super::Record;

pub use counts::Counts;
pub use facts::{End, GameFacts};
pub use pipeline::{DUPLICATES, Judge, Pipeline, help};
pub use preset::{PRESETS, Preset};

/// Something that decides about one position at a time.
pub trait Filter: Send + Sync {
    /// Whether the position stays.
    fn keeps(&self, record: &Record) -> bool;
}

/// Something that decides about all positions of a game at once, by its tags.
pub trait GameFilter: Send + Sync {
    /// Whether the game's positions stay.
    fn keeps(&self, facts: &GameFacts) -> bool;
}
