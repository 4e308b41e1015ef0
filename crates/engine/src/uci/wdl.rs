//! Win, draw and loss probabilities for `UCI_ShowWDL`, by the model that `patzer wdl model` fits: W(x) = 1 / (1 +
//! exp((a − x) / b)) and L(x) = W(−x), a and b cubic in material / 58.
//!
//! Fitted to 350 games of the default network against itself: `patzer match default default --nodes 8000 --games 700
//! --seed 7`, whose games with colours exchanged are equal. Other evaluations or time controls need another fit.

use shakmaty::{Chess, Position};

use patzer_chess::score::{Score, is_mate, logistic};

/// Coefficients in centipawns, highest power first.
const A: [f64; 4] = [4.278_703_9, 121.609_674_8, -291.190_318_9, 233.301_255_9];
const B: [f64; 4] = [56.650_851_6, -109.926_926, 91.456_889_2, 24.096_186_9];
/// Range of material in the fit: queen 9, rook 5, minor piece 3, pawn 1.
const FITTED: std::ops::RangeInclusive<f64> = 17.0..=78.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Chances {
    a: f64,
    b: f64,
}

impl Chances {
    /// The model at a position's material, clamped to the range of the fit.
    pub(crate) fn of(position: &Chess) -> Chances {
        let board = position.board();
        let roles = [(board.queens(), 9), (board.rooks(), 5), (board.bishops(), 3), (board.knights(), 3)];
        let pieces: usize = roles.into_iter().map(|(pieces, worth)| pieces.count() * worth).sum();
        let material = (pieces + board.pawns().count()) as f64;
        let x = material.clamp(*FITTED.start(), *FITTED.end()) / 58.0;
        let [a, b] = [A, B].map(|c| ((c[0] * x + c[1]) * x + c[2]) * x + c[3]);
        Chances { a, b }
    }

    /// Win probability.
    fn win(&self, score: Score) -> f64 {
        logistic((f64::from(score) - self.a) / self.b)
    }

    /// Expected score of the side to move, 0 to 1.
    pub(crate) fn expected(&self, score: Score) -> f64 {
        if is_mate(score) {
            return if score > 0 { 1.0 } else { 0.0 };
        }
        0.5 * (1.0 + self.win(score) - self.win(-score))
    }

    /// Win, draw and loss in permille for the side to move; the sum is 1,000.
    pub(crate) fn permille(&self, score: Score) -> [u32; 3] {
        if is_mate(score) {
            return if score > 0 { [1000, 0, 0] } else { [0, 0, 1000] };
        }
        let share = |score| (1000.0 * self.win(score)).round() as u32;
        let win = share(score);
        let loss = share(-score).min(1000 - win);
        [win, 1000 - win - loss, loss]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::testing::from_fen;

    #[test]
    fn the_chances_grow_with_the_score_and_draws_with_the_exchange_of_pieces() {
        // As printed by `patzer wdl model` at material 78 and 17.
        let near = |text: &str, a: f64, b: f64, draws: u32| {
            let chances = Chances::of(&from_fen(text));
            assert!((chances.a - a).abs() < 0.01 && (chances.b - b).abs() < 0.01, "{chances:?}");
            assert!(chances.permille(0)[1].abs_diff(draws) <= 1);
        };
        near("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 72.05, 86.07, 396);
        near("r3k3/ppp5/8/8/8/8/PPPP4/R3K3 w - - 0 1", 158.51, 42.89, 952);
        let start = Chances::of(&Chess::default());
        let rooks = Chances::of(&from_fen("r3k3/pppp4/8/8/8/8/PPPP4/R3K3 w - - 0 1"));
        assert!(rooks.permille(0)[1] > start.permille(0)[1] + 200);
        for chances in [start, rooks, Chances::of(&from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))] {
            for score in (0..30_000).step_by(7) {
                let [win, draw, loss] = chances.permille(score);
                assert_eq!(win + draw + loss, 1000);
                assert_eq!(chances.permille(-score), [loss, draw, win]);
                assert!(win >= loss && chances.permille(score + 1)[0] >= win);
            }
            assert!(chances.permille(1_000)[0] > 990);
            assert_eq!(chances.permille(31_999), [1000, 0, 0]);
            assert_eq!(chances.permille(-31_998), [0, 0, 1000]);
        }
    }
}
