//! Generates legal captures and queen promotions directly, in a fraction of the time of filtering legal moves.

use shakmaty::{Bitboard, Board, Chess, Color, Move, MoveList, Position, Rank, Role, Square, attacks};

use super::attacks::pawn_attacks as all_pawn_attacks;
use super::sliders;

/// Generates captures for a side not in check. Quiescence never gains from an under-promotion.
pub fn generate(position: &Chess, moves: &mut MoveList) {
    let Some(king) = position.board().king_of(position.turn()) else { return };
    let pinned = pinned(position, king);
    let them = position.them();
    pieces(position, king, |_, _| them, pinned, moves);
    pawns(position, king, them, pinned, moves);
    en_passant(position, king, moves);
    king_moves(position, king, them, moves);
}

#[inline]
pub(super) fn pin_allows(from: Square, to: Square, king: Square, pinned: Bitboard) -> bool {
    !pinned.contains(from) || attacks::aligned(from, to, king)
}

pub(super) fn pinned(position: &Chess, king: Square) -> Bitboard {
    blockers(position.board(), king, position.them()) & position.us()
}

/// Pieces of either colour that alone stand between a king and an enemy slider.
#[inline(always)]
pub(super) fn blockers(board: &Board, king: Square, of: Bitboard) -> Bitboard {
    let snipers = (sliders::file_and_rank(king) & board.rooks_and_queens())
        | (sliders::diagonals(king) & board.bishops_and_queens());
    let mut blockers = Bitboard(0);
    for sniper in snipers & of {
        let between = attacks::between(king, sniper) & board.occupied();
        if !between.more_than_one() {
            blockers |= between;
        }
    }
    blockers
}

#[inline]
pub(super) fn pieces(
    position: &Chess,
    king: Square,
    targets: impl Fn(Role, Square) -> Bitboard,
    pinned: Bitboard,
    moves: &mut MoveList,
) {
    // Not a loop: each call is compiled for a constant role.
    pieces_of(Role::Knight, position, king, &targets, pinned, moves);
    pieces_of(Role::Bishop, position, king, &targets, pinned, moves);
    pieces_of(Role::Rook, position, king, &targets, pinned, moves);
    pieces_of(Role::Queen, position, king, &targets, pinned, moves);
}

#[inline(always)]
fn pieces_of(
    role: Role,
    position: &Chess,
    king: Square,
    targets: &impl Fn(Role, Square) -> Bitboard,
    pinned: Bitboard,
    moves: &mut MoveList,
) {
    let board = position.board();
    for from in position.our(role) {
        for to in sliders::reach(role, from, board.occupied()) & targets(role, from) {
            if pin_allows(from, to, king, pinned) {
                moves.push(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None });
            }
        }
    }
}

fn pawns(position: &Chess, king: Square, target: Bitboard, pinned: Bitboard, moves: &mut MoveList) {
    let board = position.board();
    let turn = position.turn();
    let pawns = position.our(Role::Pawn);
    let about_to_promote = pawns & Bitboard::from_rank(turn.relative_rank(Rank::Seventh));
    let mut push = |from: Square, to: Square, promotion: Option<Role>| {
        if pin_allows(from, to, king, pinned) {
            moves.push(Move::Normal { role: Role::Pawn, from, capture: board.role_at(to), to, promotion });
        }
    };
    for from in about_to_promote {
        for to in attacks::pawn_attacks(turn, from) & target {
            push(from, to, Some(Role::Queen));
        }
        for to in Bitboard::from_square(from).shift(turn.fold_wb(8, -8)).without(board.occupied()) {
            push(from, to, Some(Role::Queen));
        }
    }
    // Walking back from the captured pieces visits fewer squares than walking from all pawns.
    let attackable = target & !Bitboard::BACKRANKS & all_pawn_attacks(pawns, turn);
    for to in attackable {
        for from in attacks::pawn_attacks(!turn, to) & pawns {
            push(from, to, None);
        }
    }
}

fn en_passant(position: &Chess, king: Square, moves: &mut MoveList) {
    let Some(to) = position.maybe_ep_square() else { return };
    let board = position.board();
    for from in attacks::pawn_attacks(!position.turn(), to) & position.our(Role::Pawn) {
        let captured = Square::from_coords(to.file(), from.rank());
        // Two pawns leave the rank at once, which pins do not cover: test the board after the capture.
        let occupied = board.occupied().without(from).without(captured).with(to);
        if attackers(board, king, !position.turn(), occupied).without(captured).is_empty() {
            moves.push(Move::EnPassant { from, to });
        }
    }
}

pub(super) fn king_moves(position: &Chess, king: Square, target: Bitboard, moves: &mut MoveList) {
    let board = position.board();
    for to in attacks::king_attacks(king) & target {
        // Not in check, so no slider attacks through the king's square.
        if attackers(board, to, !position.turn(), board.occupied()).is_empty() {
            let capture = board.role_at(to);
            moves.push(Move::Normal { role: Role::King, from: king, capture, to, promotion: None });
        }
    }
}

#[inline]
pub(super) fn attackers(board: &Board, square: Square, by: Color, occupied: Bitboard) -> Bitboard {
    sliders::attackers(board, square, occupied) & board.by_color(by)
}

/// Reports whether [`generate`] would produce this legal move.
pub fn includes(m: Move) -> bool {
    match m {
        Move::Normal { capture, promotion, .. } => {
            promotion == Some(Role::Queen) || (capture.is_some() && promotion.is_none())
        }
        Move::EnPassant { .. } => true,
        Move::Castle { .. } | Move::Put { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{KIWIPETE, along_random_games, from_fen, sorted};

    fn check(position: &Chess) {
        if !position.is_check() {
            let mut moves = MoveList::new();
            generate(position, &mut moves);
            let expected = position.legal_moves().into_iter().filter(|&m| includes(m));
            assert_eq!(sorted(moves), sorted(expected), "{position:?}");
        }
    }

    #[test]
    fn captures_are_the_legal_moves_that_capture_and_promotions_to_queens() {
        for text in [
            KIWIPETE,
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
            // Capturing en passant would open both pawns' rank to the rook.
            "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",
            "8/8/8/3pP2r/8/8/8/K3k3 w - d6 0 1",
            // The pin by the bishop lets a pawn capture only its pinner.
            "4k3/8/8/8/8/2b1b3/3P4/4K3 w - - 0 1",
        ] {
            check(&from_fen(text));
        }
        along_random_games(1, 60, 150, check);
    }
}
