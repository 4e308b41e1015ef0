//! What several terms need to know of a position, worked out once.
//!
//! In: a board and the side to move; nothing else, so that boards of datasets can be evaluated as they are.
//! Out: pawn attacks, attacks of each piece, squares attacked by each side.

use shakmaty::{Bitboard, Board, ByColor, ByRole, Color, Role, Square, attacks};

/// A board with its attacks.
///
/// Attacks of pawns and kings are there from the start; those of the other pieces come in while
/// [`Context::walk`] visits them.
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
    /// Squares where mobility counts, see the mobility term.
    pub useful: ByColor<Bitboard>,
    /// Each king's square and those around it.
    pub zone: ByColor<Bitboard>,
    /// Number of pieces of each side that attack the enemy king's zone.
    pub attackers: ByColor<usize>,
}

/// A knight, bishop, rook or queen that is being visited.
#[derive(Clone, Copy)]
pub struct Visit {
    /// What it is.
    pub role: Role,
    /// Where it stands, as its own side sees the board.
    pub relative: Square,
    /// What it attacks, own pieces included.
    pub attacks: Bitboard,
}

impl<'a> Context<'a> {
    /// Starts with the attacks of pawns and kings.
    #[inline(always)]
    pub fn new(board: &'a Board, turn: Color) -> Context<'a> {
        const NONE: ByColor<Bitboard> = ByColor { black: Bitboard::EMPTY, white: Bitboard::EMPTY };
        let mut context = Context {
            board,
            turn,
            kings: ByColor { black: board.king_of(Color::Black), white: board.king_of(Color::White) },
            by_role: ByColor::new_with(|_| ByRole::new_with(|_| Bitboard::EMPTY)),
            attacked: NONE,
            twice: NONE,
            useful: NONE,
            zone: NONE,
            attackers: ByColor { black: 0, white: 0 },
        };
        for us in Color::ALL {
            let [left, right] = pawn_attacks(us, context.pieces(us, Role::Pawn));
            let king = context.kings[us].map_or(Bitboard::EMPTY, attacks::king_attacks);
            context.by_role[us].pawn = left | right;
            context.by_role[us].king = king;
            context.attacked[us] = left | right | king;
            context.twice[us] = (left & right) | ((left | right) & king);
            let blocked = context.pieces(us, Role::Pawn) | context.pieces(us, Role::King);
            context.useful[us] = !blocked;
            context.zone[us] = king | context.pieces(us, Role::King);
        }
        for us in Color::ALL {
            context.useful[us] &= !context.by_role[us.other()].pawn;
        }
        context
    }

    /// Visits every knight, bishop, rook and queen of a side once, and remembers what they attack. One visit for
    /// all terms that look at single pieces: the ends of such loops are hard to predict, so few are fast.
    #[inline(always)]
    pub fn walk(&mut self, us: Color, mut visit: impl FnMut(&mut Self, Visit)) {
        let occupied = self.board.occupied();
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            let mut all = Bitboard::EMPTY;
            for square in self.pieces(us, role) {
                let attacks = match role {
                    Role::Knight => attacks::knight_attacks(square),
                    Role::Bishop => attacks::bishop_attacks(square, occupied),
                    Role::Rook => attacks::rook_attacks(square, occupied),
                    _ => attacks::queen_attacks(square, occupied),
                };
                all |= attacks;
                self.twice[us] |= self.attacked[us] & attacks;
                self.attacked[us] |= attacks;
                visit(self, Visit { role, relative: relative_square(us, square), attacks });
            }
            self.by_role[us][role] = all;
        }
    }

    /// The pieces of one kind of one side.
    #[inline(always)]
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        self.board.by_color(color) & self.board.by_role(role)
    }
}

/// Squares that pawns attack to their left and to their right.
#[inline(always)]
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
#[inline(always)]
pub fn relative(us: Color, squares: Bitboard) -> Bitboard {
    match us {
        Color::White => squares,
        Color::Black => squares.flip_vertical(),
    }
}

/// A square as its side sees it, see [`relative`].
#[inline(always)]
pub fn relative_square(us: Color, square: Square) -> Square {
    match us {
        Color::White => square,
        Color::Black => square.flip_vertical(),
    }
}

/// All squares above the given ones on the same files, without themselves unless one stands above another.
#[inline(always)]
pub fn above(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(8);
    fill |= fill.shift(8);
    fill |= fill.shift(16);
    fill | fill.shift(32)
}

/// All squares below the given ones on the same files, see [`above`].
#[inline(always)]
pub fn below(squares: Bitboard) -> Bitboard {
    let mut fill = squares.shift(-8);
    fill |= fill.shift(-8);
    fill |= fill.shift(-16);
    fill | fill.shift(-32)
}

/// The squares directly left and right of the given ones.
#[inline(always)]
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
            let mut context = Context::new(&board, Color::White);
            context.walk(Color::White, |_, _| ());
            context.walk(Color::Black, |_, _| ());
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
