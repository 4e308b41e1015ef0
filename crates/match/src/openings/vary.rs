//! Openings varied by two random moves: deterministic players would repeat games of a used-up book.

use shakmaty::{Bitboard, Chess, Move, Position, Role};

use super::opening::playable;
use patzer_chess::rng::Rng;

/// Plays two random moves; `None` if none lead to a playable position.
pub(super) fn random_moves(opening: &Chess, rng: &mut Rng) -> Option<Chess> {
    (0..32).find_map(|_| {
        let mut position = opening.clone();
        for _ in 0..2 {
            let moves = position.legal_moves();
            let m = *moves.get(rng.below(moves.len().max(1)))?;
            if !harmless(&position, m) {
                return None;
            }
            position.play_unchecked(m);
        }
        playable(position).ok()
    })
}

/// Neither a capture nor a promotion, nor a move to a square where the piece hangs.
fn harmless(position: &Chess, m: Move) -> bool {
    let (board, us) = (position.board(), position.turn());
    let attackers = board.attacks_to(m.to(), !us, board.occupied());
    let defenders = m.from().map_or(Bitboard::EMPTY, |from| {
        board.attacks_to(m.to(), us, board.occupied().without(from)).without(from)
    });
    let hangs = m.role() != Role::Pawn && (attackers & board.pawns()).any();
    !m.is_capture() && !m.is_promotion() && !hangs && (attackers.is_empty() || defenders.any())
}
