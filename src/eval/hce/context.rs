//! What several terms need to know of a position, worked out once.
//!
//! In: a board and the side to move; nothing else, so that boards of datasets can be evaluated as they are.
//! Out: pawn attacks, attacks of each piece, squares attacked by each side.

use shakmaty::{Bitboard, Board, ByColor, ByRole, Color, Role, Square, attacks};

/// A board with its attacks.
pub struct Context<'a> {
    /// The pieces.
    pub board: &'a Board,
    /// Side to move.
    pub turn: Color,
    /// The kings' squares; a board without one is evaluated without the terms about it.
    pub kings: ByColor<Option<Square>>,
    /// Squares attacked by each kind of piece of each side.
    pub by_role: ByColor<ByRole<Bitboard>>,
    /// Squares attacked by anything of each side.
    pub attacked: ByColor<Bitboard>,
    /// Squares attacked at least twice by each side.
    pub twice: ByColor<Bitboard>,
    /// What the knight, bishop, rook or queen on a square attacks.
    attacks: [Bitboard; 64],
}

impl<'a> Context<'a> {
    /// Works out the attacks of a board.
    #[inline]
    pub fn new(board: &'a Board, turn: Color) -> Context<'a> {
        let kings = ByColor { black: board.king_of(Color::Black), white: board.king_of(Color::White) };
        let mut context = Context {
            board,
            turn,
            kings,
            by_role: ByColor::new_with(|_| ByRole::new_with(|_| Bitboard::EMPTY)),
            attacked: ByColor::new_with(|_| Bitboard::EMPTY),
            twice: ByColor::new_with(|_| Bitboard::EMPTY),
            attacks: [Bitboard::EMPTY; 64],
        };
        context.attack(Color::White);
        context.attack(Color::Black);
        context
    }

    #[inline(always)]
    fn attack(&mut self, us: Color) {
        let ours = self.board.by_color(us);
        let occupied = self.board.occupied();
        let [left, right] = pawn_attacks(us, self.pieces(us, Role::Pawn));
        let king = self.kings[us].map_or(Bitboard::EMPTY, attacks::king_attacks);
        let (mut once, mut twice) = (left | right, left & right);
        self.by_role[us].pawn = once;
        self.by_role[us].king = king;
        (once, twice) = (once | king, twice | once & king);
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            let mut all = Bitboard::EMPTY;
            for square in self.board.by_role(role) & ours {
                let reach = match role {
                    Role::Knight => attacks::knight_attacks(square),
                    Role::Bishop => attacks::bishop_attacks(square, occupied),
                    Role::Rook => attacks::rook_attacks(square, occupied),
                    _ => attacks::queen_attacks(square, occupied),
                };
                self.attacks[square as usize] = reach;
                (once, twice) = (once | reach, twice | once & reach);
                all |= reach;
            }
            self.by_role[us][role] = all;
        }
        self.attacked[us] = once;
        self.twice[us] = twice;
    }

    /// What the knight, bishop, rook or queen on a square attacks, own pieces included.
    #[inline]
    pub fn attacks_from(&self, square: Square) -> Bitboard {
        self.attacks[square as usize]
    }

    /// The pieces of one kind of one side.
    #[inline]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.board.by_color(color) & self.board.by_role(role)
    }
}

/// Squares that pawns attack to their left and to their right.
#[inline]
fn pawn_attacks(color: Color, pawns: Bitboard) -> [Bitboard; 2] {
    let west = pawns.without(Bitboard::from_file(shakmaty::File::A));
    let east = pawns.without(Bitboard::from_file(shakmaty::File::H));
    match color {
        Color::White => [west.shift(7), east.shift(9)],
        Color::Black => [west.shift(-9), east.shift(-7)],
    }
}

/// A set of squares as its side sees it: for Black the board is turned upside down, so that pawns of both sides
/// move up. A term that is written on relative squares needs no cases by colour.
#[inline]
pub fn relative(us: Color, squares: Bitboard) -> Bitboard {
    match us {
        Color::White => squares,
        Color::Black => squares.flip_vertical(),
    }
}

/// A square as its side sees it, see [`relative`].
#[inline]
pub fn relative_square(us: Color, square: Square) -> Square {
    match us {
        Color::White => square,
        Color::Black => square.flip_vertical(),
    }
}

/// All squares above the given ones on the same files, without themselves unless one stands above another.
#[inline]
pub fn above(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(8);
    fill |= fill.shift(8);
    fill |= fill.shift(16);
    fill | fill.shift(32)
}

/// All squares below the given ones on the same files, see [`above`].
#[inline]
pub fn below(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(-8);
    fill |= fill.shift(-8);
    fill |= fill.shift(-16);
    fill | fill.shift(-32)
}

/// The squares directly left and right of the given ones.
#[inline]
pub fn beside(squares: Bitboard) -> Bitboard {
    squares.without(Bitboard::from_file(shakmaty::File::A)).shift(-1)
        | squares.without(Bitboard::from_file(shakmaty::File::H)).shift(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;

    #[test]
    fn attacks_agree_with_those_of_the_rules() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ] {
            let board = fen.parse::<Fen>().unwrap().into_setup().board;
            let context = Context::new(&board, Color::White);
            for color in Color::ALL {
                for square in Square::ALL {
                    let attackers = board.attacks_to(square, color, board.occupied()).count();
                    assert_eq!(context.attacked[color].contains(square), attackers >= 1, "{fen} {square}");
                    assert_eq!(context.twice[color].contains(square), attackers >= 2, "{fen} {square}");
                }
            }
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
