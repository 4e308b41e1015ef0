//! The parts of a move, for a search, which asks for them millions of times a second.
//!
//! In: a move. Out: its piece, squares, victim and promotion, whatever kind of move it is. Nearly every move is a normal
//! one, and that it is costs one comparison; shakmaty's own methods each choose between all kinds.

use shakmaty::{Move, Role, Square};

/// What a move does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The piece that moves; the king if the move castles.
    pub role: Role,
    /// Where it comes from.
    pub from: Square,
    /// Where it goes; the rook's square if the move castles.
    pub to: Square,
    /// What it captures.
    pub capture: Option<Role>,
    /// What a pawn becomes.
    pub promotion: Option<Role>,
}

impl Parts {
    /// The parts of a move.
    #[inline(always)]
    pub fn of(m: Move) -> Parts {
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                Parts { role, from, to, capture, promotion }
            }
            other => rare(other),
        }
    }

    /// Whether the move changes the material on the board.
    #[inline]
    pub fn is_noisy(&self) -> bool {
        self.capture.is_some() || self.promotion.is_some()
    }
}

/// Castling and captures en passant; there are no drops in chess.
#[cold]
#[inline(never)]
fn rare(m: Move) -> Parts {
    let (role, to, capture, promotion) = (m.role(), m.to(), m.capture(), m.promotion());
    Parts { role, from: m.from().unwrap_or(to), to, capture, promotion }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position;

    use super::*;
    use crate::testing::along_random_games;

    #[test]
    fn they_are_what_the_move_says() {
        let mut kinds = [0; 2];
        along_random_games(11, 60, 200, |position| {
            for m in position.legal_moves() {
                let Parts { role, from, to, capture, promotion } = Parts::of(m);
                assert_eq!((role, Some(from), to), (m.role(), m.from(), m.to()));
                assert_eq!((capture, promotion), (m.capture(), m.promotion()));
                kinds[0] += usize::from(m.is_en_passant());
                kinds[1] += usize::from(m.is_castle());
            }
        });
        assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
    }
}
