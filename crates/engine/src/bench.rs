//! `bench`: node count, a fingerprint of the search that OpenBench compares, and speed over fixed positions.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::Chess;

use super::{Engine, Limits};
use patzer_chess::{Line, fen};

/// Default depth in plies.
pub const DEPTH: i32 = 12;

/// Openings, the Chess Programming Wiki's perft positions, the Bratko-Kopec test, endings, Chess960.
const POSITIONS: &str = include_str!("bench.epd");

/// The result of a run; its `Display` is the line that OpenBench reads.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct BenchResult {
    /// Nodes of all positions: equal in every run of the same search.
    pub nodes: u64,
    /// Nodes per second.
    pub nps: u64,
    /// Time spent searching.
    pub seconds: f64,
    /// Nodes that a move cut off; quiescence not counted.
    pub cutoffs: u64,
    /// Nodes that the first move searched cut off.
    pub first_move_cutoffs: u64,
}

impl std::fmt::Display for BenchResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} nodes {} nps", self.nodes, self.nps)
    }
}

/// Searches every position to a depth in plies, each as a new game, until `stop` is set.
pub fn run(
    engine: &mut dyn Engine,
    depth: i32,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize),
) -> BenchResult {
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let (mut nodes, mut time, mut cutoffs) = (0, Duration::ZERO, [0; 2]);
    for (index, position) in positions().enumerate() {
        engine.new_game();
        let report = engine.search(&Line::new(position), &limits, stop, &mut |_| {});
        nodes += report.nodes;
        time += report.time;
        cutoffs.iter_mut().zip(report.cutoffs).for_each(|(sum, count)| *sum += count);
        progress(index + 1);
    }
    let seconds = time.as_secs_f64();
    let [cutoffs, first_move_cutoffs] = cutoffs;
    BenchResult {
        nodes,
        nps: (nodes as f64 / seconds.max(1e-6)) as u64,
        seconds,
        cutoffs,
        first_move_cutoffs,
    }
}

/// The positions searched.
pub fn positions() -> impl Iterator<Item = Chess> {
    POSITIONS.lines().filter_map(|text| fen::position(text, false).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_one() {
        assert_eq!(positions().count(), POSITIONS.lines().count());
    }
}
