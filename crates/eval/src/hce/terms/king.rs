//! King shelter: own pawns in front of the king, enemy pawn storms, and defenders.
//! Source: Ethereal's shelter and storm tables by file and distance.

use shakmaty::{Bitboard, Color, Role};

use crate::hce::context::Context;
use crate::hce::squares::{below, relative, relative_square};
use crate::hce::sink::Sink;

term! {
    "king", "pawns and pieces around the king; for its own file and those beside it";
    SHELTER = grid("shelter", 16, 8,
        "rows: a file beside the king's, a to h, then its own; columns: ranks up to the nearest own pawn, 7 = none");
    STORM = grid("storm", 8, 8,
        "rows: file a/h, b/g, c/f, d/e, then those where an own pawn blocks; columns: ranks up to the enemy pawn");
    NEAREST = list("nearest_pawn", 8, "files from the king to the nearest pawn of either side, 0 to 7");
    DEFENDERS = list("defenders", 10,
        "own pawns, knights and bishops on the king's square's neighbours, 0 to 8");
}

const FILE_A: u64 = 0x0101_0101_0101_0101;

#[inline(always)]
pub fn structure<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let Some(king) = c.kings[us] else { return };
    let king = relative_square(us, king);
    let own_file = king.file() as u32;
    let ours = relative(us, c.pieces(us, Role::Pawn));
    let theirs = relative(us, c.pieces(us.other(), Role::Pawn));
    for file in own_file.saturating_sub(1)..=(own_file + 1).min(7) {
        // Shifted so that the king's rank is the first; without a pawn the distance is 8.
        let start = 8 * king.rank() as u32 + file;
        let steps = |pawns: Bitboard| ((pawns.0 >> start & FILE_A).trailing_zeros() as usize / 8).min(7);
        let (own, enemy) = (steps(ours), steps(theirs));
        sink.add(us, SHELTER + 64 * usize::from(file == own_file) + 8 * file as usize + own, 1);
        let blocked = own != 7 && enemy == own + 1;
        sink.add(us, STORM + 32 * usize::from(blocked) + 8 * file.min(7 - file) as usize + enemy, 1);
    }
    sink.add(
        us,
        NEAREST + files_to_nearest(c.board.pawns(), own_file).min(7),
        i32::from(c.board.pawns().any()),
    );
}

/// Files to the nearest file with any of these pieces; more than 7 if there are none.
#[inline(always)]
fn files_to_nearest(pieces: Bitboard, file: u32) -> usize {
    let ranks = (pieces | below(pieces)).0 & 0xff;
    // The file itself counts on both sides.
    let (right, left) = (ranks >> file, ranks << (63 - file));
    right.trailing_zeros().min(left.leading_zeros()) as usize
}

#[inline(always)]
pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
    let kinds = c.board.pawns() | c.board.knights() | c.board.bishops();
    let defenders = c.zone[us] & c.board.by_color(us) & kinds;
    sink.add(us, DEFENDERS + defenders.count().min(9), i32::from(c.kings[us].is_some()));
}
