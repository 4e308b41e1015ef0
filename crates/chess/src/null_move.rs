use shakmaty::{Chess, Move, Position, Role};

use super::copy_position;

/// Passes the turn of a side that is not in check; `None` without a king.
///
/// shakmaty's `swap_turn` validates a whole set-up, which costs more than a node of search. A knight that
/// "promotes" to a king on the king's square leaves board and castling rights alone and updates all else.
#[inline]
pub fn null_move(position: &Chess) -> Option<Chess> {
    let king = position.board().king_of(position.turn())?;
    let mut after = copy_position(position);
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
            let passed = null_move(&before).unwrap();
            let swapped = before.clone().swap_turn().unwrap();
            assert_eq!(passed, swapped, "{text}");
            assert_eq!(passed.castles().castling_rights(), before.castles().castling_rights());
            assert_eq!(passed.maybe_ep_square(), None);
            assert_eq!(key::of(&passed), key::after_null(&before, key::of(&before)), "{text}");
        }
    }
}
