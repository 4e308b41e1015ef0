//! Sets of squares from a side's own view, their fills and distances.

use shakmaty::{Bitboard, Color, Square};

/// Flips a set of squares for Black, so that pawns of both sides move up and terms need no cases by colour.
#[inline(always)]
pub fn relative(us: Color, squares: Bitboard) -> Bitboard {
    if us.is_white() { squares } else { squares.flip_vertical() }
}

#[inline(always)]
pub fn relative_square(us: Color, square: Square) -> Square {
    if us.is_white() { square } else { square.flip_vertical() }
}

/// King distance (Chebyshev) between two squares.
#[inline(always)]
pub fn distance(from: Square, to: Square) -> usize {
    static DISTANCES: [[u8; 64]; 64] = {
        let mut distances = [[0; 64]; 64];
        let mut pair = 0usize;
        while pair < 64 * 64 {
            let (from, to) = (pair / 64, pair % 64);
            let (files, ranks) = ((from % 8).abs_diff(to % 8), (from / 8).abs_diff(to / 8));
            distances[from][to] = if files > ranks { files as u8 } else { ranks as u8 };
            pair += 1;
        }
        distances
    };
    usize::from(DISTANCES[to as usize][from as usize])
}

/// North fill, the given squares excluded unless they are above another.
#[inline(always)]
pub fn above(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(8);
    fill |= fill.shift(8);
    fill |= fill.shift(16);
    fill | fill.shift(32)
}

#[inline(always)]
pub fn below(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(-8);
    fill |= fill.shift(-8);
    fill |= fill.shift(-16);
    fill | fill.shift(-32)
}

#[inline(always)]
pub fn beside(squares: Bitboard) -> Bitboard {
    squares.without(Bitboard::from_file(shakmaty::File::A)).shift(-1)
        | squares.without(Bitboard::from_file(shakmaty::File::H)).shift(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_rules() {
        for from in Square::ALL {
            assert!(Square::ALL.iter().all(|&to| distance(from, to) == from.distance(to) as usize));
        }
    }

    #[test]
    fn spans_stay_on_their_file() {
        let e4 = Bitboard::from_square(Square::E4);
        let file = Bitboard::from_file(shakmaty::File::E);
        assert_eq!(above(e4) | below(e4) | e4, file);
        assert_eq!(above(e4).count(), 4);
        assert_eq!(beside(Bitboard::from_square(Square::A1)), Bitboard::from_square(Square::B1));
    }
}
