//! Extra piece-square tables while the own king is on files a to d; the plain tables then hold for files e to h.
//! Source: the king-relative tables of Stockfish's HalfKP and of many engines since, here with two buckets.

use crate::hce::layout::{self, Term};

pub const TERM: Term = Term {
    name: "psqt_own",
    about: "added to the piece-square tables while the own king stands on files a to d",
    parts: super::psqt::BY_SQUARE.split_at(5).0,
};

/// First index; the tables follow in the order of the roles.
pub const START: usize = layout::at("psqt_own", "pawn");
