//! The legal moves that leave the material as it is: neither captures nor promotions.
//!
//! In: a position whose side to move is not in check. Out: exactly those of its legal moves. Together with
//! [`super::captures`] these are all legal moves but promotions to lesser pieces. A search that has tried the
//! captures generates these only when none of them was good enough.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, Move, MoveList, Position, Rank, Role, Square, attacks};

use super::captures::{king_moves, pieces, pinned, safe};
use super::checks::Checks;

/// Appends the legal moves of a side that is not in check that neither capture nor promote. `attacked` are the squares
/// that the other side attacks, see [`attacked`](super::attacks::attacked).
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
            // Few positions have the way clear, and only these pay for a list of moves.
            let path = position.castles().path(position.turn(), side);
            if (path & !empty).is_empty() {
                moves.extend(position.castling_moves(side));
            }
        }
    }
}

/// Appends those of them that give check, but castling.
pub fn checking(position: &Chess, moves: &mut MoveList) {
    let Some(king) = position.board().king_of(position.turn()) else { return };
    let pinned = pinned(position, king);
    let checks = Checks::of(position);
    let empty = !position.board().occupied();
    let wanted = |role, from| empty & checks.targets(role, from);
    pawns(position, king, wanted, pinned, moves);
    pieces(position, king, wanted, pinned, moves);
    king_moves(position, king, wanted(Role::King, king), moves);
}

/// Where pawns get by one step and by two.
#[inline]
pub(super) fn pushes(turn: Color, pawns: Bitboard, empty: Bitboard) -> (Bitboard, Bitboard) {
    let forward = turn.fold_wb(8, -8);
    let single = pawns.shift(forward) & empty;
    let double = (single & Bitboard::from_rank(turn.relative_rank(Rank::Third))).shift(forward) & empty;
    (single, double)
}

/// The legal pushes to the squares that are wanted of each pawn, short of promotion.
#[inline]
fn pawns(
    position: &Chess,
    king: Square,
    wanted: impl Fn(Role, Square) -> Bitboard,
    pinned: Bitboard,
    moves: &mut MoveList,
) {
    let turn = position.turn();
    let forward = turn.fold_wb(8, -8);
    let pawns = position.our(Role::Pawn) & !Bitboard::from_rank(turn.relative_rank(Rank::Seventh));
    let (single, double) = pushes(turn, pawns, !position.board().occupied());
    for (targets, back) in [(single, -forward), (double, -2 * forward)] {
        for to in targets {
            let Some(from) = to.offset(back) else { continue };
            if wanted(Role::Pawn, from).contains(to) && safe(from, to, king, pinned) {
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
    use crate::testing::along_random_games;

    fn check(position: &Chess) {
        if position.is_check() {
            return;
        }
        let sorted = |moves: MoveList| {
            let mut texts: Vec<String> = moves.iter().map(|m| format!("{m:?}")).collect();
            texts.sort();
            texts
        };
        let mut expected = position.legal_moves();
        expected.retain(|m| !m.is_capture() && !m.is_promotion());
        let mut moves = MoveList::new();
        generate(position, attacked(position.board(), !position.turn()), &mut moves);
        assert_eq!(sorted(moves), sorted(expected.clone()), "{position:?}");
        let checks = Checks::of(position);
        expected.retain(|&mut m| !m.is_castle() && checks.gives(position, m));
        let mut moves = MoveList::new();
        checking(position, &mut moves);
        assert_eq!(sorted(moves), sorted(expected), "checks of {position:?}");
    }

    #[test]
    fn quiet_moves_are_the_legal_moves_that_change_no_material() {
        for text in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            // Chess960: rooks inside, a king that castles onto its own square, a rook that shields it from a rook.
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
    }

    #[test]
    fn quiet_moves_are_right_all_along_random_games() {
        along_random_games(4, 60, 150, check);
    }
}
