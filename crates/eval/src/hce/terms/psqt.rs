//! Piece-square tables, with relative squares. Up to three tables count for a piece, by the wings of both kings; the
//! sink of play reads their sum.

use shakmaty::{Color, Role, Square};

use super::{psqt_enemy, psqt_own};
use crate::hce::context::{Context, Visit};
use crate::hce::squares::{relative, relative_square};
use crate::hce::layout::{self, Part, Term};
use crate::hce::sink::Sink;

pub(super) const BY_SQUARE: &[Part] = &[
    Part::board("pawn", "a pawn by square"),
    Part::board("knight", "a knight by square"),
    Part::board("bishop", "a bishop by square"),
    Part::board("rook", "a rook by square"),
    Part::board("queen", "a queen by square"),
    Part::board("king", "the king by square"),
];

pub const TERM: Term =
    Term { name: "psqt", about: "piece-square tables, added to material", parts: BY_SQUARE };

const START: usize = layout::at("psqt", "pawn");

pub const PIECE_SQUARES: usize = 6 * 64;

/// Sides of the kings, own and enemy: true on files a to d; a missing king counts as not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wings {
    own: bool,
    enemy: bool,
}

impl Wings {
    pub const ALL: [Wings; 4] = {
        const fn wings(own: bool, enemy: bool) -> Wings {
            Wings { own, enemy }
        }
        [wings(false, false), wings(true, false), wings(false, true), wings(true, true)]
    };

    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.own) + 2 * usize::from(self.enemy)
    }

    #[inline(always)]
    fn of(c: &Context<'_>, us: Color) -> Wings {
        let queen_side = |color| c.kings[color].is_some_and(|king: Square| (king.file() as u32) < 4);
        Wings { own: queen_side(us), enemy: queen_side(us.other()) }
    }
}

/// The weights that count for a piece-square index, 64 × role + square.
#[inline(always)]
pub fn weights(wings: Wings, piece_square: usize) -> impl Iterator<Item = usize> {
    let king = piece_square >= 5 * 64;
    let own = (wings.own && !king).then_some(psqt_own::START + piece_square);
    let enemy = wings.enemy.then_some(psqt_enemy::START + piece_square);
    [Some(START + piece_square), own, enemy].into_iter().flatten()
}

#[inline(always)]
fn index(role: Role, relative: Square) -> usize {
    (role as usize - Role::Pawn as usize) * 64 + relative as usize
}

#[inline(always)]
pub fn structure<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let wings = Wings::of(c, us);
    for square in relative(us, c.pieces(us, Role::Pawn)) {
        sink.piece_square(us, wings, index(Role::Pawn, square));
    }
    if let Some(king) = c.kings[us] {
        sink.piece_square(us, wings, index(Role::King, relative_square(us, king)));
    }
}

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    sink.piece_square(us, Wings::of(c, us), index(piece.role, relative_square(us, piece.square)));
}
