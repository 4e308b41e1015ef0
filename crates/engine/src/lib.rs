#![doc = include_str!("../README.md")]
#![warn(missing_docs, unreachable_pub)]

pub mod bench;
mod correction;
mod extensions;
mod genfens;
mod history;
mod history_table;
mod history_update;
mod known_draw;
mod mate;
mod mcts;
mod move_picker;
mod params;
mod pruning;
mod quiescence;
mod quiescence_cache;
mod quiescence_leaf;
mod root;
mod search;
mod searcher;
mod stack;
mod strength;
mod tables;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time_manager;
mod transposition_table;
pub mod uci;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{Chess, Move};

use self::mcts::PlayoutSearcher;
pub use self::mcts::SearchKind;
use self::searcher::Searcher;
use self::transposition_table::TranspositionTable;
pub use params::Params;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_eval::Evaluation;
use patzer_eval::hce::Hce;
use patzer_eval::nnue::Nnue;
pub use quiescence_leaf::{LeafSearch, leaf_search};
pub use strength::Noise;
pub use tables::Tables;
pub use transposition_table::{Bound, OutOfMemory};
pub use uci::{OptionError, PlayerSettings};

/// Stack size of a search thread, several times what the deepest line needs.
const STACK_BYTES: usize = 32 << 20;

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

    /// The quiescence leaf of a position, see [`LeafSearch`], by the search that plays.
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

/// Creates an engine with a transposition table in MiB.
pub fn engine(evaluation: &Evaluation, hash_mb: usize) -> Result<Box<dyn Engine>, OutOfMemory> {
    Ok(with_table(evaluation, TranspositionTable::new(hash_mb)?))
}

/// Creates an engine with this search.
pub fn engine_with(
    search: SearchKind,
    evaluation: &Evaluation,
    hash_mb: usize,
) -> Result<Box<dyn Engine>, OutOfMemory> {
    Ok(match (search, evaluation) {
        (SearchKind::AlphaBeta, _) => engine(evaluation, hash_mb)?,
        (_, Evaluation::Hce(weights)) => {
            Box::new(PlayoutSearcher::new(Hce::new(weights.clone()), search, hash_mb))
        }
        (_, Evaluation::Nnue(network)) => {
            Box::new(PlayoutSearcher::new(Nnue::new(network.clone()), search, hash_mb))
        }
    })
}

/// Creates an engine for searches of at most this many nodes, whose table is cheap to clear.
pub fn engine_for(evaluation: &Evaluation, nodes: u64) -> Box<dyn Engine> {
    with_table(evaluation, TranspositionTable::for_nodes(nodes))
}

fn with_table(evaluation: &Evaluation, table: TranspositionTable) -> Box<dyn Engine> {
    match evaluation {
        Evaluation::Hce(weights) => Box::new(Searcher::new(Hce::new(weights.clone()), table)),
        Evaluation::Nnue(network) => Box::new(Searcher::new(Nnue::new(network.clone()), table)),
    }
}
