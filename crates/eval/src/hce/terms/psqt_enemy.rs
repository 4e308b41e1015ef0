//! Extra piece-square tables while the enemy king is on files a to d, see `psqt_own`.

use crate::hce::layout::{self, Term};

pub const TERM: Term = Term {
    name: "psqt_enemy",
    about: "added to the piece-square tables while the enemy king stands on files a to d",
    parts: super::psqt::BY_SQUARE,
};

/// First index; the tables follow in the order of the roles.
pub const START: usize = layout::at("psqt_enemy", "pawn");
