//! The interface of every search, and the report it gives.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use patzer_chess::Line;
use patzer_chess::score::Score;
use shakmaty::{Chess, Move};

use crate::limits::Limits;
use crate::params::Params;
use crate::tables::Tables;
use crate::transposition_table::{Bound, OutOfMemory};

/// Stack size of a search thread, several times what the deepest line needs.
pub(crate) const STACK_BYTES: usize = 32 << 20;

/// The result of a search, reported after each iteration and at the end.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The best move; `None` without a legal move.
    pub best: Option<Move>,
    /// Centipawns from the side to move, or a mate score.
    pub score: Score,
    /// Kind of bound of the score: lower if the search ended on a better move before it had that move's score; then
    /// the score is that of the best move before.
    pub bound: Bound,
    /// The last completed iteration of this line, in plies; 1 if none was completed.
    pub depth: i32,
    /// The longest line searched, in plies.
    pub seldepth: i32,
    /// The rank of this line for UCI `MultiPV`, from 1.
    pub rank: usize,
    /// Share of the transposition table filled by this search, in permille.
    pub hashfull: u32,
    /// Nodes of all threads.
    pub nodes: u64,
    /// At the end: threads that the system refused to start.
    pub missing_threads: usize,
    /// Positions found in endgame tables by all threads.
    pub tbhits: u64,
    /// Nodes of the main thread with a beta cutoff, and those cut off by the first move; without quiescence.
    pub cutoffs: [u64; 2],
    /// Time since the search began.
    pub time: Duration,
    /// Principal variation.
    pub pv: Vec<Move>,
    /// At the end of a search by playouts: the root's moves with their visits, the most visited first; else empty.
    pub visits: Vec<(Move, u32)>,
}

/// A search over any evaluation.
pub trait Engine: Send {
    /// Clears the transposition table and histories.
    fn new_game(&mut self);

    /// Searches the last position of a line, and calls `info` for each of the best lines after each
    /// iteration, the interrupted one too: its last report of the first line is what it returns.
    /// Deterministic with one thread, a node or depth limit and a preceding [`Engine::new_game`]. Returns a
    /// legal move under any limits, if there is one.
    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report;

    /// The static evaluation in centipawns from the side to move.
    fn evaluate(&mut self, position: &Chess) -> Score;

    /// The quiescence leaf of a position, see [`crate::LeafSearch`], by the search that plays.
    fn quiescence_leaf(&mut self, position: &Chess) -> Option<(Chess, Score)>;

    /// Resizes and clears the transposition table. After an error it has the minimum size.
    fn resize(&mut self, hash_mb: usize) -> Result<(), OutOfMemory>;

    /// Replaces the search parameters.
    fn set_params(&mut self, params: &Params);

    /// Sets the endgame tables to probe; searches by playouts ignore them.
    fn set_tables(&mut self, tables: Option<Tables>);

    /// Sets the number of search threads, at least 1; only 1 is reproducible.
    fn set_threads(&mut self, threads: usize);
}
