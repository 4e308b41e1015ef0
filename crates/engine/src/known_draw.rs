//! Endings drawn in spite of a material advantage: two knights against the bare king, and king and pawn against king
//! by a bitbase generated at its first use (Chess Programming Wiki, "KPK").

use std::sync::LazyLock;

use shakmaty::attacks::{king_attacks, pawn_attacks};
use shakmaty::{Bitboard, Chess, Color, Position, Rank, Square};

/// Losing squares of Black's king, by White's king and pawn, the pawn on the files a to d.
type Losses = [[Bitboard; 64]; 64];

struct Bitbase {
    white_to_move: Losses,
    black_to_move: Losses,
}

static KPK: LazyLock<Box<Bitbase>> = LazyLock::new(generate);

/// Tests for a known draw in a position of at most four pieces. A side in check may still be mated by two knights.
pub(crate) fn is_known_draw(position: &Chess, in_check: bool) -> bool {
    let board = position.board();
    let rest = board.occupied() & !board.kings();
    if rest == board.knights() {
        let one_side = rest.is_subset(board.white()) || rest.is_subset(board.black());
        return rest.count() == 2 && one_side && (!in_check || !position.legal_moves().is_empty());
    }
    match board.pawns().single_square() {
        Some(pawn) if rest == board.pawns() => !pawn_wins(position, pawn),
        _ => false,
    }
}

fn pawn_wins(position: &Chess, pawn: Square) -> bool {
    let board = position.board();
    let strong = if board.white().contains(pawn) { Color::White } else { Color::Black };
    let (Some(king), Some(bare)) = (board.king_of(strong), board.king_of(!strong)) else { return true };
    let view = |square: Square| {
        let square = if strong.is_white() { square } else { square.flip_vertical() };
        if pawn.file() as u32 > 3 { square.flip_horizontal() } else { square }
    };
    let losses = if position.turn() == strong { &KPK.white_to_move } else { &KPK.black_to_move };
    losses[view(pawn) as usize][view(king) as usize].contains(view(bare))
}

/// Retrograde analysis: each pass adds the positions whose moves lead to those found before.
fn generate() -> Box<Bitbase> {
    let none = [[Bitboard::EMPTY; 64]; 64];
    let mut base = Box::new(Bitbase { white_to_move: none, black_to_move: none });
    loop {
        let mut changed = false;
        // Pushed pawns first.
        for pawn in (8..56).rev().filter(|square| square % 8 < 4).map(Square::new) {
            for king in Square::ALL.into_iter().filter(|&king| king != pawn) {
                let (white, black) = base.losses(king, pawn);
                let (p, k) = (pawn as usize, king as usize);
                changed |= (white, black) != (base.white_to_move[p][k], base.black_to_move[p][k]);
                (base.white_to_move[p][k], base.black_to_move[p][k]) = (white, black);
            }
        }
        if !changed {
            return base;
        }
    }
}

impl Bitbase {
    /// One pass for a king and pawn of White: losing squares of Black's king, with White and with Black to move.
    fn losses(&self, king: Square, pawn: Square) -> (Bitboard, Bitboard) {
        let near = king_attacks(king);
        let free = !(near | Bitboard::from(king) | Bitboard::from(pawn));
        let unchecked = free & !pawn_attacks(Color::White, pawn);
        let after = &self.black_to_move;
        let mut white = self.white_to_move[pawn as usize][king as usize];
        for to in near.without(pawn) {
            white |= after[pawn as usize][to as usize];
        }
        let push = Square::new(pawn as u32 + 8);
        if push != king && push.rank() == Rank::Eighth {
            let guards = if near.contains(push) { Bitboard::EMPTY } else { king_attacks(push) };
            white |= !guards.with(push);
        } else if push != king {
            white |= after[push as usize][king as usize];
            let double = Square::new(push as u32 + 8);
            if pawn.rank() == Rank::Second && double != king {
                white |= after[double as usize][king as usize].without(push);
            }
        }
        let white = white & unchecked;
        // Black loses if it has a move, and none that holds. No pawn mates alone.
        let capture = if near.contains(pawn) { Bitboard::EMPTY } else { Bitboard::from(pawn) };
        let moves = next_to(unchecked | capture);
        (white, free & moves & !next_to(unchecked & !white | capture))
    }
}

fn next_to(squares: Bitboard) -> Bitboard {
    squares.into_iter().fold(Bitboard::EMPTY, |all, square| all | king_attacks(square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::testing::from_fen;

    #[test]
    fn the_bitbase_has_the_known_number_of_wins() {
        // 62,480 with White to move and 48,802 with Black to move, as other engines count.
        let wins = |losses: &Losses| losses.iter().flatten().map(|squares| squares.count()).sum::<usize>();
        assert_eq!((wins(&KPK.white_to_move), wins(&KPK.black_to_move)), (62_480, 48_802));
    }

    #[test]
    fn known_draws_are_told_from_wins() {
        for (text, draw) in [
            // The opposition decides; each also with colours and wings exchanged.
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", false),
            ("4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", true),
            ("8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", true),
            ("8/8/8/4k3/8/4K3/4P3/8 b - - 0 1", false),
            ("8/4p3/4k3/8/4K3/8/8/8 b - - 0 1", true),
            ("8/4p3/4k3/8/4K3/8/8/8 w - - 0 1", false),
            ("k7/8/K7/P7/8/8/8/8 w - - 0 1", true),
            ("7k/8/7K/7P/8/8/8/8 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/NN2K3 w - - 0 1", true),
            ("4k3/8/8/8/8/8/8/nn2K3 w - - 0 1", true),
            ("k7/8/K7/2N5/8/8/8/N7 b - - 0 1", true),
            // Mate by two knights; a knight each is play, as are three pieces.
            ("k7/8/K7/N7/3N4/8/8/8 w - - 0 1", true),
            ("k7/2NN4/1K6/8/8/8/8/8 b - - 0 1", false),
            ("4k2n/8/8/8/8/8/8/N3K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", false),
            ("4k3/8/8/8/8/8/PP6/4K3 w - - 0 1", false),
        ] {
            let position = from_fen(text);
            assert_eq!(is_known_draw(&position, position.is_check()), draw, "{text}");
        }
    }
}
