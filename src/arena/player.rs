//! Players: what sits at a board.
//!
//! In: the game so far and the limits of this move. Out: a move with what the player says about it. The game
//! trusts nothing that a player says: legality is checked, and time is what was measured around the player.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shakmaty::Move;

use crate::chess::Line;
use crate::chess::score::Score;
use crate::engine::{Engine, Limits};

/// A player's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The move, legal or not; `None` if the player gave none.
    pub best: Option<Move>,
    /// Its worth in centipawns from the side to move, or a mate score.
    pub score: Score,
    /// Depth reached, in plies.
    pub depth: i32,
    /// Positions visited.
    pub nodes: u64,
    /// Wall-clock time that the answer took, as measured outside the player.
    pub time: Duration,
}

/// Something that plays.
pub trait Player: Send {
    /// Prepares for a game that has nothing to do with those before it.
    fn new_game(&mut self);

    /// Chooses a move in the last position of the line, which has at least one legal move.
    ///
    /// `stop` ends the search early; the game is then abandoned, and the answer is not used.
    fn choose(&mut self, line: &Line, limits: &Limits, stop: &AtomicBool) -> Choice;
}

/// The bundled engine as a player, in this process.
pub struct InProcess(pub Box<dyn Engine>);

impl Player for InProcess {
    fn new_game(&mut self) {
        self.0.new_game();
    }

    fn choose(&mut self, line: &Line, limits: &Limits, stop: &AtomicBool) -> Choice {
        let begin = Instant::now();
        let report = self.0.search(line, limits, stop, &mut |_| {});
        Choice {
            best: report.best,
            score: report.score,
            depth: report.depth,
            nodes: report.nodes,
            time: begin.elapsed(),
        }
    }
}
