//! Legality of hash moves and killers, and check detection, without generating moves.

use shakmaty::{Bitboard, Chess, Color, Move, Position, Rank, Role, attacks};

use super::captures::{attackers, pin_allows, pinned};
use super::sliders;

#[inline]
pub fn in_check(position: &Chess) -> bool {
    let board = position.board();
    let king = board.king_of(position.turn());
    king.is_some_and(|king| attackers(board, king, !position.turn(), board.occupied()).any())
}

/// Tests a move from [`super::PackedMove::unpack`] for legality. `in_check`: the side to move is in check.
#[inline]
pub fn is_legal(position: &Chess, m: Move, in_check: bool) -> bool {
    let Move::Normal { role, from, capture, to, promotion } = m else { return position.is_legal(m) };
    if in_check || position.us().contains(to) {
        return in_check && position.is_legal(m);
    }
    let board = position.board();
    let Some(king) = board.king_of(position.turn()) else { return false };
    let occupied = board.occupied();
    let targets = match role {
        Role::Pawn => {
            let turn = position.turn();
            let (single, double) = pushes(turn, from.into(), !occupied);
            single | double | (attacks::pawn_attacks(turn, from) & position.them())
        }
        // Not in check, so no slider attacks through the king's square.
        Role::King => {
            return promotion.is_none()
                && attacks::king_attacks(from).contains(to)
                && attackers(board, to, !position.turn(), occupied).is_empty();
        }
        _ => sliders::reach(role, from, occupied),
    };
    let promotes = role == Role::Pawn && Bitboard::BACKRANKS.contains(to);
    let right_promotion = match promotion {
        Some(piece) => promotes && !matches!(piece, Role::Pawn | Role::King),
        None => !promotes,
    };
    right_promotion
        && targets.contains(to)
        && capture == board.role_at(to)
        && pin_allows(from, to, king, pinned(position, king))
}

#[inline]
pub(super) fn pushes(turn: Color, pawns: Bitboard, empty: Bitboard) -> (Bitboard, Bitboard) {
    let forward = turn.fold_wb(8, -8);
    let single = pawns.shift(forward) & empty;
    let double = (single & Bitboard::from_rank(turn.relative_rank(Rank::Third))).shift(forward) & empty;
    (single, double)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{KIWIPETE, along_random_games};
    use crate::{PackedMove, fen};

    fn check(position: &Chess) {
        let in_check = position.is_check();
        for bits in 0..=u16::MAX {
            if let Some(m) = PackedMove(bits).unpack(position) {
                assert_eq!(is_legal(position, m, in_check), position.is_legal(m), "{position:?} {m:?}");
            }
        }
    }

    #[test]
    fn moves_are_legal_and_kings_in_check_if_the_rules_say_so() {
        for text in [
            KIWIPETE,
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
            "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",
            "4k3/8/8/8/8/2b1b3/3P4/4K3 w - - 0 1",
            "1rk1r3/8/8/8/8/8/8/1RK1R3 w EBeb - 0 1",
            "4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1",
        ] {
            check(&fen::position(text, true).unwrap());
        }
        along_random_games(7, 40, 150, |position| assert_eq!(in_check(position), position.is_check()));
        let mut seen = 0;
        along_random_games(6, 6, 100, |position| {
            // One position of ten is enough, since each takes a while.
            if seen % 10 == 0 {
                check(position);
            }
            seen += 1;
        });
    }
}
