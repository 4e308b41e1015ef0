use shakmaty::{Move, Role, Square};

/// The parts of a move. Nearly all are `Normal`, one comparison; shakmaty's accessors choose between all kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveParts {
    /// The moving piece; the king for castling.
    pub role: Role,
    pub from: Square,
    /// The target; the rook's square for castling.
    pub to: Square,
    pub capture: Option<Role>,
    pub promotion: Option<Role>,
}

impl MoveParts {
    #[inline(always)]
    pub fn new(m: Move) -> MoveParts {
        match m {
            Move::Normal { role, from, capture, to, promotion } => {
                MoveParts { role, from, to, capture, promotion }
            }
            other => special_move(other),
        }
    }

    #[inline]
    pub fn is_noisy(&self) -> bool {
        self.capture.is_some() || self.promotion.is_some()
    }
}

/// Castling and en passant; chess has no drops.
#[cold]
#[inline(never)]
fn special_move(m: Move) -> MoveParts {
    let (role, to, capture, promotion) = (m.role(), m.to(), m.capture(), m.promotion());
    MoveParts { role, from: m.from().unwrap_or(to), to, capture, promotion }
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
                let MoveParts { role, from, to, capture, promotion } = MoveParts::new(m);
                assert_eq!((role, Some(from), to), (m.role(), m.from(), m.to()));
                assert_eq!((capture, promotion), (m.capture(), m.promotion()));
                kinds[0] += usize::from(m.is_en_passant());
                kinds[1] += usize::from(m.is_castle());
            }
        });
        assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
    }
}
