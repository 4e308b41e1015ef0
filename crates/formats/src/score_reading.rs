//! Options for the scores of a file: their side and a factor.

use std::path::Path;

use shakmaty::Color;

use crate::Record;
use patzer_chess::score::{MATE_IN_MAX, is_mate};
use patzer_pgn::{EvalSide, Factor, PerSource, ScoreOptions};

/// The options for the scores of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreReading {
    /// True if scores speak for White, false if for the side to move; `None` as format and column say.
    pub white: Option<bool>,
    /// Factor for scores that are no mates.
    pub scale: Option<f64>,
}

impl ScoreReading {
    /// The options for a file.
    pub fn of(options: &ScoreOptions, path: &Path) -> ScoreReading {
        let side = PerSource::value_for(&options.side, path).copied().unwrap_or_default();
        let white = (side != EvalSide::Auto).then_some(side == EvalSide::White);
        let scale = PerSource::value_for(&options.scale, path).map(|Factor(factor)| *factor);
        ScoreReading { white, scale }
    }

    /// Whole centipawns of a number.
    pub fn centipawns(&self, number: f64) -> Option<i16> {
        let scaled = match self.scale {
            None => Some(number).filter(|number| number.fract() == 0.0)?,
            Some(_) if is_mate(number as i32) => number.round(),
            Some(scale) => {
                let most = f64::from(MATE_IN_MAX - 1);
                (number * scale).round().clamp(-most, most)
            }
        };
        (f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&scaled).then_some(scaled as i16)
    }

    /// Applies the options to records whose scores were read as White's or the side to move's.
    pub fn apply(&self, records: &mut [Record], as_white: bool) {
        let turned = self.white.is_some_and(|white| white != as_white);
        if !turned && self.scale.is_none() {
            return;
        }
        for record in records {
            let score = record.score.map(|score| self.centipawns(score.into()).unwrap_or(score));
            let negated = turned && record.turn == Color::Black;
            record.score = score.map(|score| if negated { score.saturating_neg() } else { score });
        }
    }
}
