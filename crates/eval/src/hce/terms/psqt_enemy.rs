//! Extra piece-square tables while the enemy king is on files a to d, see `psqt_own`.

use crate::hce::layout::{self, Part, Term};

pub const TERM: Term = Term {
    name: "psqt_enemy",
    about: "added to the piece-square tables while the enemy king stands on files a to d",
    parts: &[
        Part::board("pawn", "a pawn by square"),
        Part::board("knight", "a knight by square"),
        Part::board("bishop", "a bishop by square"),
        Part::board("rook", "a rook by square"),
        Part::board("queen", "a queen by square"),
        Part::board("king", "the king by square"),
    ],
};

/// First index; the tables follow in the order of the roles.
pub const START: usize = layout::at("psqt_enemy", "pawn");
