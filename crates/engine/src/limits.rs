//! Limits of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::Move;

use crate::strength::Noise;

/// The clock of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Time left to the next time control.
    pub time: Duration,
    /// Increment for each move.
    pub increment: Duration,
    /// Moves to the next time control; `None` for sudden death.
    pub moves_to_go: Option<u32>,
}

/// Search limits. The default sets none: the search runs to the maximum depth or until it is stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum depth of an iteration, in plies.
    pub depth: Option<i32>,
    /// Maximum number of nodes, which one thread never exceeds; several may each search a little farther. No iteration
    /// begins beyond the soft limit.
    pub nodes: Option<u64>,
    /// Soft limit: no iteration begins after this many nodes.
    pub soft_nodes: Option<u64>,
    /// Ends the search once a mate in this many moves is proven for either side.
    pub mate: Option<u32>,
    /// UCI `searchmoves`: root moves to choose from, empty for all.
    pub only: Vec<Move>,
    /// UCI `MultiPV`: the number of best lines to report; 0 counts as 1.
    pub lines: usize,
    /// UCI `ponder`: set while the opponent is still thinking.
    pub ponder: Option<Ponder>,
    /// Exact time for this move.
    pub movetime: Option<Duration>,
    /// A clock to manage time by.
    pub clock: Option<Clock>,
    /// Start of the time that counts; `None` for the start of the search.
    pub begin: Option<Instant>,
    /// Errors of judgement, for weakened play.
    pub noise: Option<Noise>,
    /// Time reserved for communication, of `movetime` and `clock` alike.
    pub overhead: Duration,
}

/// Ponder flag: holds until the opponent plays the expected move. Equal to its clones.
#[derive(Debug, Clone, Default)]
pub struct Ponder(Arc<AtomicBool>);

impl Ponder {
    /// `ponderhit`: the engine's own time begins.
    pub fn hit(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Tests whether it is still the opponent's time.
    pub fn holds(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Ponder {
    fn eq(&self, other: &Ponder) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Ponder {}
