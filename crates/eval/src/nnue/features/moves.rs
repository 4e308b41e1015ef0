//! `mb`, `mc`: where the pieces of a role and colour can move, and to how many squares.
//! Index: for `mb` `64 × kind + square`; `mc` has one feature per kind and number of squares that any of its pieces can
//! move to, up to a cap. Pseudo-legal moves without castling and en passant.

use shakmaty::{Bitboard, Color, Square, attacks};

use super::{Bits, Perspective};

/// Cap of the number of squares, pawn to king.
const CAPS: [usize; 6] = [8, 15, 16, 25, 25, 8];
/// Features of one side in `mc`: a number from 0 to the cap for each role.
const SIDE: usize = 103;

const THIRD: u64 = 0x00ff_0000;
const SIXTH: u64 = 0x0000_ff00_0000_0000;

fn targets(perspective: &Perspective) -> [u64; 12] {
    let occupied = perspective.occupied();
    let own = perspective.pieces[..6].iter().fold(0, |all, squares| all | squares);
    let mut targets = [0; 12];
    for (kind, &squares) in perspective.pieces.iter().enumerate() {
        let mine = if kind < 6 { own } else { occupied & !own };
        targets[kind] = match kind % 6 {
            0 => pawns(squares, Color::from_white(kind < 6), occupied, occupied & !mine),
            role => {
                Bitboard(squares).into_iter().fold(0, |all, from| all | attacked(role, from, occupied))
                    & !mine
            }
        };
    }
    targets
}

fn attacked(role: usize, from: Square, occupied: u64) -> u64 {
    let occupied = Bitboard(occupied);
    let squares = match role {
        1 => attacks::knight_attacks(from),
        2 => attacks::bishop_attacks(from, occupied),
        3 => attacks::rook_attacks(from, occupied),
        4 => attacks::queen_attacks(from, occupied),
        _ => attacks::king_attacks(from),
    };
    squares.0
}

fn pawns(pawns: u64, color: Color, occupied: u64, enemies: u64) -> u64 {
    let captures =
        Bitboard(pawns).into_iter().fold(0, |all, from| all | attacks::pawn_attacks(color, from).0);
    let pushes = if color.is_white() {
        let once = pawns << 8 & !occupied;
        once | (once & THIRD) << 8 & !occupied
    } else {
        let once = pawns >> 8 & !occupied;
        once | (once & SIXTH) >> 8 & !occupied
    };
    pushes | captures & enemies
}

pub(super) fn squares(perspective: &Perspective, bits: &mut Bits<'_>) {
    for (kind, squares) in targets(perspective).into_iter().enumerate() {
        for square in Bitboard(squares) {
            bits.set(64 * kind + square as usize);
        }
    }
}

pub(super) fn counts(perspective: &Perspective, bits: &mut Bits<'_>) {
    for (side, targets) in targets(perspective).chunks_exact(6).enumerate() {
        let mut base = SIDE * side;
        for (squares, cap) in targets.iter().zip(CAPS) {
            bits.set(base + (squares.count_ones() as usize).min(cap));
            base += cap + 1;
        }
    }
}
