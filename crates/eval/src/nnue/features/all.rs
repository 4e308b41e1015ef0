//! `all`: every piece on every square, 768 features.
//! Index: `384 × (theirs) + 64 × role + square`, with roles pawn 0 to king 5 and the board turned upside down for
//! Black. This is the field's plain layout (`Chess768` of the trainer bullet), so that weights can be exchanged.

use shakmaty::{Piece, Square};

use super::{Bits, Perspective};

pub const COUNT: usize = 768;

/// Maximum number of active features: 32 pieces.
pub const MAX_ACTIVE: usize = 32;

/// Copies the perspective: its bits are the features.
pub(super) fn write(perspective: &Perspective, bits: &mut Bits<'_>) {
    debug_assert_eq!(bits.base, 0, "the first block of all");
    bits.words[..12].copy_from_slice(&perspective.pieces);
}

const THEIRS: usize = 384;

/// The feature of a piece on a square from White's and from Black's perspective.
#[inline]
pub fn both(piece: Piece, square: Square) -> [usize; 2] {
    let plane = 64 * (piece.role as usize - 1);
    both_of(if piece.color.is_white() { plane } else { THEIRS + plane } + square as usize)
}

/// A feature of White's perspective, and the one that describes the same piece from Black's.
#[inline]
pub fn both_of(white: usize) -> [usize; 2] {
    let black = if white < THEIRS { white + THEIRS } else { white - THEIRS };
    [white, black ^ 56]
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{Color, Role};

    #[test]
    fn the_layout_is_own_or_theirs_then_role_then_square() {
        let pawn = Piece { color: Color::White, role: Role::Pawn };
        let king = Piece { color: Color::Black, role: Role::King };
        assert_eq!(both(pawn, Square::A2)[0], 8);
        assert_eq!(both(pawn, Square::A2)[1], 384 + 48);
        assert_eq!(both(king, Square::E8)[1], 5 * 64 + 4);
        assert_eq!(both(king, Square::H8)[0], COUNT - 1);
    }

    #[test]
    fn both_sides_see_the_same_when_colours_and_ranks_are_swapped() {
        for square in Square::ALL {
            for role in Role::ALL {
                for color in Color::ALL {
                    let mirrored = Piece { color: color.other(), role };
                    assert_eq!(
                        both(Piece { color, role }, square)[0],
                        both(mirrored, square.flip_vertical())[1]
                    );
                }
            }
        }
    }
}
