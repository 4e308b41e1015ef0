//! Bishops: the pair, pawns on their colour, diagonals, outposts.

use shakmaty::{Bitboard, Color, Role};

use super::knights::safe_squares;
use crate::hce::context::{Context, Visit};
use crate::hce::squares::relative;
use crate::hce::sink::Sink;
use patzer_chess::sliders;

term! {
    "bishops", "bishop pair, bad bishops, diagonals, outposts";
    PAIR = single("pair", "bishops on squares of both colours");
    PAWNS = single("pawns", "an own pawn on the colour of a bishop, for each bishop");
    RAMMED = single("rammed",
        "an own pawn on the colour of a bishop, right before an enemy pawn, for each bishop");
    ENEMY_PAWNS = list("enemy_pawns", 9, "a bishop by number of enemy pawns on its colour, 0 to 8");
    LONG_DIAGONAL = single("long_diagonal",
        "only pawns in the way, a bishop would see two of the four centre squares");
    AIMS = single("aims_at_king", "only pawns in the way, a bishop would see a square of the king's zone");
    OUTPOST = list("outpost", 4,
        "on a square that no pawn can attack: at the edge, defended there; inside, defended");
}

const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

#[inline(always)]
pub fn visit<S: Sink>(c: &Context<'_>, us: Color, piece: Visit, sink: &mut S) {
    if piece.role != Role::Bishop {
        return;
    }
    let them = us.other();
    let light = Bitboard::LIGHT_SQUARES.contains(piece.square);
    let colour = if light { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES };
    let (ours, theirs) = (c.pieces(us, Role::Pawn) & colour, c.pieces(them, Role::Pawn));
    let rammed = ours & theirs.shift(us.fold_wb(-8, 8));
    sink.add(us, PAWNS, ours.count() as i32);
    sink.add(us, RAMMED, rammed.count() as i32);
    sink.add(us, ENEMY_PAWNS + (theirs & colour).count().min(8), 1);
    let seen = sliders::diagonal(piece.square, c.board.pawns());
    sink.add(us, LONG_DIAGONAL, i32::from((seen & CENTRE).more_than_one()));
    sink.add(us, AIMS, i32::from(!seen.is_disjoint(c.zone[them])));
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let bishops = c.pieces(us, Role::Bishop);
    let pair = !bishops.is_disjoint(Bitboard::LIGHT_SQUARES) && !bishops.is_disjoint(Bitboard::DARK_SQUARES);
    sink.add(us, PAIR, i32::from(pair));
    super::knights::outposts(c, us, relative(us, bishops) & safe_squares(c, us), OUTPOST, sink);
}
