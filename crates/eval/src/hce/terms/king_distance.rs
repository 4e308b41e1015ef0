//! King distance of knights and queens, the term `near_king`. Source: Stockfish's king protector; bishops and rooks
//! gain nothing from it here.

use shakmaty::{Color, Role};

use crate::hce::context::{Context, Visit};
use crate::hce::squares::distance;
use crate::hce::sink::Sink;

term! {
    "near_king", "pieces by distance from their own king in king's moves, 0 to 7 (never 0)";
    KNIGHT = list("knight", 8, "a knight");
    QUEEN = list("queen", 8, "a queen");
}

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    let table = match piece.role {
        Role::Knight => KNIGHT,
        Role::Queen => QUEEN,
        _ => return,
    };
    if let Some(king) = c.kings[us] {
        sink.add(us, table + distance(piece.square, king), 1);
    }
}
