//! Passing the turn, for null-move pruning.
//!
//! In: a position whose side to move is not in check. Out: the same position with the other side to move. Castling
//! rights stay and the en passant square goes.

use shakmaty::{Chess, Move, Position, Role};

use super::copied;

/// The position after passing, or `None` if there is no king to lean on.
///
/// shakmaty's own `swap_turn` validates a whole set-up, which costs more than a node of search. A knight that
/// stands on the king's square, stays there and is promoted to a king leaves board and castling rights as they
/// are, and does what else a move does.
#[inline]
pub fn pass(position: &Chess) -> Option<Chess> {
    let king = position.board().king_of(position.turn())?;
    let mut after = copied(position);
    after.play_unchecked(Move::Normal {
        role: Role::Knight,
        from: king,
        capture: None,
        to: king,
        promotion: Some(Role::King),
    });
    Some(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fen, key};

    #[test]
    fn passing_equals_a_validated_swap_of_turns() {
        for text in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 3 9",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b BGbg - 5 40",
        ] {
            let before = fen::position(text, true).unwrap();
            let passed = pass(&before).unwrap();
            let swapped = before.clone().swap_turn().unwrap();
            assert_eq!(passed, swapped, "{text}");
            assert_eq!(passed.castles().castling_rights(), before.castles().castling_rights());
            assert_eq!(passed.maybe_ep_square(), None);
            assert_eq!(key::of(&passed), key::after_null(&before, key::of(&before)), "{text}");
        }
    }
}
