//! Generates legal quiet moves. With [`super::captures`] these are all legal moves but under-promotions.

use shakmaty::{Bitboard, CastlingSide, Chess, Move, MoveList, Position, Rank, Role, Square, attacks};

use super::captures::{king_moves, pieces, pin_allows, pinned};
use super::checks::CheckInfo;
use super::legal::pushes;

/// Generates quiet moves for a side not in check, given the enemy's [`attacked`](super::attacks::attacked) squares.
pub fn generate(position: &Chess, attacked: Bitboard, moves: &mut MoveList) {
    let Some(king) = position.board().king_of(position.turn()) else { return };
    let pinned = pinned(position, king);
    let empty = !position.board().occupied();
    pawns(position, king, |_, _| empty, pinned, moves);
    pieces(position, king, |_, _| empty, pinned, moves);
    for to in attacks::king_attacks(king) & empty & !attacked {
        moves.push(Move::Normal { role: Role::King, from: king, capture: None, to, promotion: None });
    }
    if position.castles().has_color(position.turn()) {
        for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
            // Few positions have the path clear; only these pay for shakmaty's move list.
            let path = position.castles().path(position.turn(), side);
            if (path & !empty).is_empty() {
                moves.extend(position.castling_moves(side));
            }
        }
    }
}

/// Appends the legal quiet checks, castling excepted.
pub fn checking(position: &Chess, moves: &mut MoveList) {
    let Some(king) = position.board().king_of(position.turn()) else { return };
    let pinned = pinned(position, king);
    let checks = CheckInfo::new(position);
    let empty = !position.board().occupied();
    let targets = |role, from| empty & checks.targets(role, from);
    pawns(position, king, targets, pinned, moves);
    pieces(position, king, targets, pinned, moves);
    king_moves(position, king, targets(Role::King, king), moves);
}

#[inline]
fn pawns(
    position: &Chess,
    king: Square,
    targets: impl Fn(Role, Square) -> Bitboard,
    pinned: Bitboard,
    moves: &mut MoveList,
) {
    let turn = position.turn();
    let forward = turn.fold_wb(8, -8);
    let pawns = position.our(Role::Pawn) & !Bitboard::from_rank(turn.relative_rank(Rank::Seventh));
    let (single, double) = pushes(turn, pawns, !position.board().occupied());
    for (pushed, back) in [(single, -forward), (double, -2 * forward)] {
        for to in pushed {
            let Some(from) = to.offset(back) else { continue };
            if targets(Role::Pawn, from).contains(to) && pin_allows(from, to, king, pinned) {
                moves.push(Move::Normal { role: Role::Pawn, from, capture: None, to, promotion: None });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::attacked;
    use crate::fen;
    use crate::testing::{KIWIPETE, along_random_games, sorted};

    fn check(position: &Chess) {
        if position.is_check() {
            return;
        }
        let mut expected = position.legal_moves();
        expected.retain(|m| !m.is_capture() && !m.is_promotion());
        let mut moves = MoveList::new();
        generate(position, attacked(position.board(), !position.turn()), &mut moves);
        assert_eq!(sorted(moves), sorted(expected.clone()), "{position:?}");
        let checks = CheckInfo::new(position);
        expected.retain(|&mut m| !m.is_castle() && checks.gives_check(position, m));
        let mut moves = MoveList::new();
        checking(position, &mut moves);
        assert_eq!(sorted(moves), sorted(expected), "checks of {position:?}");
    }

    #[test]
    fn quiet_moves_are_the_legal_moves_that_change_no_material() {
        for text in [
            KIWIPETE,
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            // Chess960: inner rooks, a king that castles onto its own square, a rook that shields the king.
            "1rk1r3/8/8/8/8/8/8/1RK1R3 w EBeb - 0 1",
            "6kr/8/8/8/8/8/8/R5KR w HAh - 0 1",
            "k7/8/8/8/8/8/8/rRK5 w B - 0 1",
            // Castling out of, through and into attacks.
            "4k3/8/8/8/1b6/8/8/R3K2R w KQ - 0 1",
            "3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
            "1r2k1r1/8/8/8/8/8/8/R3K2R w KQ - 0 1",
        ] {
            check(&fen::position(text, true).unwrap());
        }
        along_random_games(4, 60, 150, check);
    }
}
