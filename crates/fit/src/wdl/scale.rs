//! Scale of an engine's centipawns: K, fitted to the results of the games that a sample of positions is of.

use std::fmt;

use serde::Serialize;

use super::k::fit_k_by_game;
use super::source::Scored;
use patzer_chess::score::expected_score;
use patzer_data::{Record, Thinned};
use patzer_formats::capabilities::Capabilities;
use patzer_io::number::grouped;

/// Positions that the fit takes at most; of more it takes every second, every fourth, …
const MOST: usize = 1 << 20;

/// Scored positions, each with its result and its game.
pub struct ScaleSample {
    scored: Thinned<((f32, f32), u32)>,
    /// The file does not say which positions are of one game.
    independent: bool,
}

/// K with its standard error.
#[derive(Debug, Serialize)]
pub struct Scale {
    pub k: f64,
    pub k_error: f64,
    /// The error takes positions as independent.
    pub independent_positions: bool,
    pub positions: u64,
}

impl ScaleSample {
    /// A sample of a file that lacks some facts.
    pub fn new(lacks: Capabilities) -> ScaleSample {
        let independent = lacks.contains(Capabilities::GAME);
        ScaleSample { scored: Thinned::new(MOST), independent }
    }

    /// Adds a position, if it has a score and a result.
    pub fn add(&mut self, record: &Record) {
        if let Some(scored) = Scored::stored(record) {
            self.scored.push(((scored.cp, scored.result), scored.game));
        }
    }

    /// Fits K; an error says why the scores and results do not have one.
    pub fn fit(&self) -> Result<Scale, String> {
        let (pairs, games): (Vec<_>, Vec<_>) = self.scored.items().iter().copied().unzip();
        let fit = fit_k_by_game(&pairs, &games).map_err(|error| error.to_string())?;
        Ok(Scale {
            k: fit.k,
            k_error: fit.k_error,
            independent_positions: self.independent,
            positions: pairs.len() as u64,
        })
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scale { k, k_error, independent_positions, positions } = self;
        let expected = expected_score(100.0, *k);
        let independent = if *independent_positions { " taken as independent" } else { "" };
        write!(f, "K {k:.3} ± {k_error:.3} over {} positions{independent}: ", grouped(*positions))?;
        write!(f, "100 centipawns are an expected score of {expected:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::{mix, unit};
    use patzer_formats::EMPTY;

    fn record(number: u64, score: i16) -> Record {
        let wins = unit(mix(1, number)) < expected_score(f64::from(score), 1.5);
        Record { score: Some(score), result: if wins { 1 } else { -1 }, game: number as u32, ..EMPTY }
    }

    #[test]
    fn k_is_that_of_the_results() {
        let mut sample = ScaleSample::new(Capabilities::NONE);
        (0..40_000).for_each(|number| sample.add(&record(number, (number % 800) as i16 - 400)));
        sample.add(&Record { score: Some(31_990), ..EMPTY });
        let scale = sample.fit().unwrap();
        assert!((scale.k - 1.5).abs() < 3.0 * scale.k_error && scale.k_error < 0.05, "{scale}");
        assert_eq!(scale.positions, 40_000, "mates have no centipawns");
        assert!(!scale.independent_positions);
        let lines = ScaleSample { independent: true, ..sample }.fit().unwrap();
        assert!(lines.to_string().contains("positions taken as independent"), "{lines}");
    }

    #[test]
    fn more_positions_than_fit_are_thinned_evenly() {
        let mut sample = ScaleSample::new(Capabilities::NONE);
        (0..MOST as u64 + 100).for_each(|number| sample.add(&record(number, 7)));
        let expected: Vec<u32> = (0..MOST as u32 + 100).step_by(2).collect();
        let games: Vec<u32> = sample.scored.items().iter().map(|(_, game)| *game).collect();
        assert!(games == expected);
    }
}
