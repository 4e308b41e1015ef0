//! Boards that compare quickly.

use shakmaty::Board;

/// A board as quad-bitboards: occupied, Black, and the three binary digits of the role. Five words compare quickly.
#[derive(Debug, Clone, Copy)]
pub struct Pieces {
    planes: [u64; 5],
    halfmoves: u8,
}

impl Pieces {
    /// No position: no feature is active, not even a halfmove clock.
    pub const NONE: Pieces = Pieces { planes: [0; 5], halfmoves: u8::MAX };

    #[inline]
    pub fn of(board: &Board, halfmoves: u8) -> Pieces {
        let (rooks, kings) = (board.rooks(), board.kings());
        let digits = [board.knights() | rooks | kings, board.bishops() | rooks, board.queens() | kings];
        let planes =
            [board.occupied(), board.black(), digits[0], digits[1], digits[2]].map(|squares| squares.0);
        Pieces { planes, halfmoves: halfmoves.min(u8::MAX - 1) }
    }

    #[inline]
    pub fn occupied(&self) -> u64 {
        self.planes[0]
    }

    #[inline]
    pub fn halfmoves(&self) -> Option<u8> {
        (self.halfmoves < u8::MAX).then_some(self.halfmoves)
    }

    /// The feature of the piece on an occupied square, from White's perspective.
    #[inline]
    pub fn feature(&self, square: usize) -> usize {
        let [_, black, ones, twos, fours] = self.planes.map(|squares| (squares >> square & 1) as usize);
        64 * (6 * black + ones + 2 * twos + 4 * fours) + square
    }

    #[inline]
    pub fn changed(&self, other: &Pieces) -> u64 {
        self.planes.iter().zip(&other.planes).fold(0, |changed, (a, b)| changed | (a ^ b))
    }

    /// Number of pieces that an update from one board to the other adds and removes.
    #[inline]
    pub fn distance(&self, other: &Pieces) -> u32 {
        let changed = self.changed(other);
        (changed & self.occupied()).count_ones() + (changed & other.occupied()).count_ones()
    }
}

/// A board by colour and role.
#[derive(Debug, Clone, Copy)]
pub struct Men {
    pub pieces: Pieces,
    /// White, Black.
    pub colors: [u64; 2],
    /// Pawns to kings.
    pub roles: [u64; 6],
}

impl Men {
    #[inline]
    pub fn of(pieces: &Pieces) -> Men {
        let [occupied, black, ones, twos, fours] = pieces.planes;
        let small = occupied & !fours;
        let roles = [
            small & !ones & !twos,
            small & ones & !twos,
            small & twos & !ones,
            ones & twos,
            fours & !ones,
            fours & ones,
        ];
        Men { pieces: *pieces, colors: [occupied & !black, black], roles }
    }

    #[inline]
    pub fn occupied(&self) -> u64 {
        self.colors[0] | self.colors[1]
    }

    /// The kind of the piece on an occupied square: White's pawn 0 to king 5, then Black's.
    #[inline]
    pub fn kind(&self, square: usize) -> usize {
        self.pieces.feature(square) / 64
    }
}
