//! Attacks that several terms use, from a board and the side to move alone: boards of datasets need no full position.

use shakmaty::{Bitboard, Board, ByColor, ByRole, Color, Role, Square, attacks};

use super::pawn_structure::PawnStructure;
use patzer_chess::sliders;

pub struct Context<'a> {
    pub board: &'a Board,
    pub turn: Color,
    pub structure: PawnStructure,
    pub kings: ByColor<Option<Square>>,
    /// Attacks by role; sliders see through own pieces that move alike.
    pub by_role: ByColor<ByRole<Bitboard>>,
    pub attacked: ByColor<Bitboard>,
    pub twice: ByColor<Bitboard>,
    pub mobility_area: ByColor<Bitboard>,
    pub zone: ByColor<Bitboard>,
    pub attackers: ByColor<usize>,
}

#[derive(Clone, Copy)]
pub struct Visit {
    pub role: Role,
    pub square: Square,
    pub attacks: Bitboard,
}

impl<'a> Context<'a> {
    #[inline(always)]
    pub fn new(board: &'a Board, turn: Color, structure: PawnStructure) -> Context<'a> {
        const NONE: ByColor<Bitboard> = ByColor { black: Bitboard::EMPTY, white: Bitboard::EMPTY };
        let mut context = Context {
            board,
            turn,
            structure,
            kings: ByColor { black: board.king_of(Color::Black), white: board.king_of(Color::White) },
            by_role: ByColor::new_with(|_| ByRole::new_with(|_| Bitboard::EMPTY)),
            attacked: NONE,
            twice: NONE,
            mobility_area: NONE,
            zone: NONE,
            attackers: ByColor { black: 0, white: 0 },
        };
        context.begin(Color::White);
        context.begin(Color::Black);
        context.mobility_area.white &= !context.by_role.black.pawn;
        context.mobility_area.black &= !context.by_role.white.pawn;
        context
    }

    #[inline(always)]
    fn begin(&mut self, us: Color) {
        let [left, right] = pawn_attacks(us, self.pieces(us, Role::Pawn));
        let king = self.kings[us].map_or(Bitboard::EMPTY, attacks::king_attacks);
        self.by_role[us].pawn = left | right;
        self.by_role[us].king = king;
        self.attacked[us] = left | right | king;
        self.twice[us] = (left & right) | ((left | right) & king);
        let blocked = self.pieces(us, Role::Pawn) | self.pieces(us, Role::King);
        self.mobility_area[us] = !blocked;
        self.zone[us] = king | self.pieces(us, Role::King);
    }

    /// Attacks of a knight, bishop, rook or queen. Own pieces that move alike are transparent: a bishop behind its
    /// queen still bears on the diagonal, and two rooks on a file are a battery.
    #[inline(always)]
    pub fn reach(&self, us: Color, role: Role, square: Square) -> Bitboard {
        let (ours, occupied) = (self.board.by_color(us), self.board.occupied());
        let diagonal = occupied ^ (ours & self.board.bishops_and_queens());
        let straight = occupied ^ (ours & self.board.rooks_and_queens());
        match role {
            Role::Knight => attacks::knight_attacks(square),
            Role::Bishop => sliders::diagonal(square, diagonal),
            Role::Rook => sliders::straight(square, straight),
            _ => sliders::diagonal(square, diagonal) | sliders::straight(square, straight),
        }
    }

    #[inline(always)]
    pub fn add_attacks(&mut self, us: Color, role: Role, attacks: Bitboard) {
        self.twice[us] |= self.attacked[us] & attacks;
        self.attacked[us] |= attacks;
        self.by_role[us][role] |= attacks;
    }

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
            let mut context = Context::new(&board, Color::White, PawnStructure::of(&board));
            for color in Color::ALL {
                for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
                    for square in context.pieces(color, role) {
                        let attacks = context.reach(color, role, square);
                        context.add_attacks(color, role, attacks);
                    }
                }
                for square in Square::ALL {
                    let attackers = attackers(&board, square, color);
                    assert_eq!(context.attacked[color].contains(square), attackers >= 1, "{fen} {square}");
                    assert_eq!(context.twice[color].contains(square), attackers >= 2, "{fen} {square}");
                }
            }
        }
    }

    /// Counts a colour's attackers of a square, with own pieces that move alike taken off the board for each piece.
    fn attackers(board: &Board, square: Square, color: Color) -> usize {
        let attacks = |from: Square| {
            let piece = board.piece_at(from).unwrap();
            let own = board.by_color(color);
            let through = match piece.role {
                Role::Bishop => own & board.bishops_and_queens(),
                Role::Rook => own & board.rooks_and_queens(),
                _ => Bitboard::EMPTY,
            };
            if piece.role != Role::Queen {
                return attacks::attacks(from, piece, board.occupied() ^ through);
            }
            let bishop = Role::Bishop.of(color);
            let rook = Role::Rook.of(color);
            attacks::attacks(from, bishop, board.occupied() ^ (own & board.bishops_and_queens()))
                | attacks::attacks(from, rook, board.occupied() ^ (own & board.rooks_and_queens()))
        };
        board.by_color(color).into_iter().filter(|&from| attacks(from).contains(square)).count()
    }
}
