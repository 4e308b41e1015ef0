//! Weakened play for `UCI_LimitStrength`: few nodes, and below a hundred of them also noise on the root's scores.
//! docs/studies/strength.md measures the levels.

use shakmaty::Move;

use super::Limits;
use patzer_chess::PackedMove;
use patzer_chess::rng::{Rng, mix};
use patzer_chess::score::Score;

/// Noise on the scores of root moves: a normal variate that depends on seed, position and move alone. The search runs
/// on one thread, without endgame tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    /// Standard deviation in centipawns; 0 for none.
    pub deviation: Score,
    /// Seeds the variates.
    pub seed: u64,
}

impl Noise {
    /// Noise of a move in the position with this key, in centipawns.
    pub(super) fn variate(&self, key: u64, m: Move) -> Score {
        let seed = mix(mix(self.seed, key), PackedMove::pack(m).0.into());
        (Rng::new(seed).normal() * f64::from(self.deviation)).round() as Score
    }
}

/// A level of the ladder.
struct Level {
    /// Measured rating.
    elo: u32,
    nodes: u64,
    deviation: Score,
}

const fn level(elo: u32, nodes: u64, deviation: Score) -> Level {
    Level { elo, nodes, deviation }
}

/// Levels from weak to strong; between two, the deviation and the logarithm of the nodes are interpolated.
const LEVELS: &[Level] = &[
    level(220, 60, 100),
    level(380, 60, 70),
    level(750, 80, 35),
    level(1140, 100, 0),
    level(1430, 300, 0),
    level(1750, 1_000, 0),
    level(2130, 3_000, 0),
    level(2580, 10_000, 0),
    level(2900, 30_000, 0),
];

/// The range of `UCI_Elo`.
pub(crate) const WEAKEST: u64 = LEVELS[0].elo as u64;
pub(crate) const STRONGEST: u64 = LEVELS[LEVELS.len() - 1].elo as u64;

/// Tightens a search's limits to the strength of a rating.
pub(crate) fn weaken(limits: &mut Limits, elo: u64, seed: u64) {
    let (nodes, deviation) = strength(elo as f64);
    limits.nodes = Some(limits.nodes.map_or(nodes, |limit| limit.min(nodes)));
    limits.noise = Some(Noise { deviation, seed });
}

fn strength(elo: f64) -> (u64, Score) {
    let above = LEVELS.partition_point(|level| f64::from(level.elo) <= elo).clamp(1, LEVELS.len() - 1);
    let (low, high) = (&LEVELS[above - 1], &LEVELS[above]);
    let share = (elo - f64::from(low.elo)) / f64::from(high.elo - low.elo);
    let between = |low: f64, high: f64| low + share * (high - low);
    let nodes = between((low.nodes as f64).ln(), (high.nodes as f64).ln()).exp();
    (nodes.round() as u64, between(low.deviation.into(), high.deviation.into()).round() as Score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_more_means_no_fewer_nodes_and_no_greater_errors() {
        let ladder: Vec<(u64, Score)> = (WEAKEST..=STRONGEST).map(|elo| strength(elo as f64)).collect();
        assert!(ladder.is_sorted_by(|a, b| a.0 <= b.0 && a.1 >= b.1));
        for level in LEVELS {
            assert_eq!(strength(level.elo.into()), (level.nodes, level.deviation));
        }
    }

    #[test]
    fn a_limit_below_that_of_the_level_stays() {
        let mut limits = Limits { nodes: Some(7), ..Limits::default() };
        weaken(&mut limits, STRONGEST, 5);
        assert_eq!((limits.nodes, limits.noise), (Some(7), Some(Noise { deviation: 0, seed: 5 })));
        weaken(&mut limits, WEAKEST, 5);
        assert_eq!(limits.noise.map(|noise| noise.deviation), Some(LEVELS[0].deviation));
    }
}
