//! Targets of a loss: the expected result of a position by its game and its score.

use super::{Settings, TrainItem};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub wdl: f32,
    pub k: f32,
    /// Half the width of draws, times K / 400.
    pub offset: f32,
}

impl Target {
    /// The expected result for the side to move: λ·result + (1 − λ)·σ(K·score/400), or the result alone.
    #[inline]
    pub(crate) fn expected(self, item: &TrainItem) -> f32 {
        let result = result(item);
        item.score
            .map_or(result, |score| self.wdl * result + (1.0 - self.wdl) * self.of_score(f32::from(score)))
    }

    /// The expected result of a score in centipawns, for the same side.
    #[inline]
    pub(crate) fn of_score(self, score: f32) -> f32 {
        if self.offset == 0.0 {
            return expected_score_f32(score, self.k);
        }
        let x = self.k * score / 400.0;
        (1.0 + logistic_f32(x - self.offset) - logistic_f32(-x - self.offset)) / 2.0
    }

    /// Chance of a draw in the target; [`Target::expected`] is win + draw / 2. A result between two is shared by both.
    pub(crate) fn draw(self, item: &TrainItem) -> f32 {
        let drawn = 1.0 - (2.0 * result(item) - 1.0).abs();
        item.score.map_or(drawn, |score| {
            let x = self.k * f32::from(score) / 400.0;
            let decided = logistic_f32(x - self.offset) + logistic_f32(-x - self.offset);
            self.wdl * drawn + (1.0 - self.wdl) * (1.0 - decided).max(0.0)
        })
    }
}

impl Settings {
    pub(super) fn target(&self, wdl: f32) -> Target {
        let k = self.k.unwrap_or(1.0);
        Target { wdl, k, offset: k * self.score_offset / 400.0 }
    }
}

/// Result for the side to move, 0 to 1.
#[inline]
pub(crate) fn result(item: &TrainItem) -> f32 {
    let white = item.expected();
    if item.turn.is_white() { white } else { 1.0 - white }
}

/// [`patzer_chess::score::logistic`] in f32, as on every device: its bits decide the network.
#[inline]
pub(crate) fn logistic_f32(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// [`patzer_chess::score::expected_score`] in f32, for the same reason.
#[inline]
pub(crate) fn expected_score_f32(centipawns: f32, k: f32) -> f32 {
    logistic_f32(k * centipawns / 400.0)
}
