//! The bundled engine: one search, generic over the evaluation that it is given.
//!
//! In: a game so far and limits. Out: a move with its score, or the quiet position in which a position's exchanges
//! end. The arena, the labelling and UCI know only [`Engine`]; which evaluation stands behind it is decided once,
//! by [`engine`].

pub mod bench;
mod correction;
mod extensions;
pub mod genfens;
mod history;
mod history_table;
mod history_update;
mod mate;
mod move_picker;
pub mod params;
mod pruning;
mod quiescence;
mod quiescence_cache;
pub mod quiescence_leaf;
mod root;
mod search;
mod searcher;
mod stack;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time_manager;
mod transposition_table;
pub mod uci;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shakmaty::{Chess, Move};

use self::searcher::Searcher;
use self::transposition_table::Table;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_eval::Evaluation;
use patzer_eval::hce::Hce;
use patzer_eval::nnue::Nnue;

/// The stack of a thread that searches: enough for the deepest line that may be looked at, several times over.
pub const STACK_BYTES: usize = 32 << 20;

/// The clock of the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Time left for the moves up to the next time control.
    pub time: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves to the next time control; `None` if the time is for the rest of the game.
    pub moves_to_go: Option<u32>,
}

/// When a search ends. The default sets no limit: it then runs to the greatest depth or until it is stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Iterations of iterative deepening, in plies.
    pub depth: Option<i32>,
    /// Nodes that are never exceeded.
    pub nodes: Option<u64>,
    /// Nodes after which no further iteration begins.
    pub soft_nodes: Option<u64>,
    /// A mate in this many moves, whoever gives it: once one is proven, no further iteration begins. One that the side
    /// to move gives is also looked for without any pruning, the shortest first.
    pub mate: Option<u32>,
    /// The moves to choose from; empty for all. Those that are not legal are left out.
    pub only: Vec<Move>,
    /// How many different first moves to report, best first; 0 counts as 1.
    pub lines: usize,
    /// While this holds, no time counts: the opponent is still thinking.
    pub ponder: Option<Ponder>,
    /// Time for this move, to be used up.
    pub movetime: Option<Duration>,
    /// A clock to play by: the search decides how much of it this move is worth.
    pub clock: Option<Clock>,
    /// Time to keep back for the way to the GUI and back, of [`Limits::movetime`] and [`Limits::clock`] alike.
    pub overhead: Duration,
}

/// A flag for a search on the opponent's time: true until the opponent has made the expected move. Equal to itself
/// and its clones.
#[derive(Debug, Clone)]
pub struct Ponder(Arc<AtomicBool>);

impl Ponder {
    /// A search that begins on the opponent's time.
    pub fn new() -> Ponder {
        Ponder(Arc::new(AtomicBool::new(true)))
    }

    /// From here on the time is the engine's own.
    pub fn hit(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it is still the opponent's time.
    pub fn holds(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for Ponder {
    fn default() -> Ponder {
        Ponder::new()
    }
}

impl PartialEq for Ponder {
    fn eq(&self, other: &Ponder) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Ponder {}

/// What a search found, after each iteration and at its end.
#[derive(Debug, Clone)]
pub struct Report {
    /// The best move; `None` if there is no legal one.
    pub best: Option<Move>,
    /// Its worth in centipawns from the side to move, or a mate score.
    pub score: Score,
    /// The last completed iteration, in plies.
    pub depth: i32,
    /// The longest line looked at, in plies.
    pub seldepth: i32,
    /// Which of the best lines this is, from 1.
    pub rank: usize,
    /// How full the transposition table is with what this search stored, in thousandths.
    pub hashfull: u32,
    /// Positions visited, by all threads.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// The principal variation, beginning with the best move.
    pub pv: Vec<Move>,
}

/// Something that searches, whatever it evaluates with.
pub trait Engine: Send {
    /// Forgets table and histories, so that the next search depends on nothing before it.
    fn new_game(&mut self);

    /// Searches the last position of a line until a limit or `stop` ends it, calling `info` after each iteration,
    /// once for each of the lines asked for.
    ///
    /// With one thread, a node or depth limit and after [`Engine::new_game`] the result is always the same. A legal move is
    /// returned whatever the limits, if there is one.
    fn search(
        &mut self,
        line: &Line,
        limits: &Limits,
        stop: &AtomicBool,
        info: &mut dyn FnMut(&Report),
    ) -> Report;

    /// The static evaluation in centipawns from the side to move, without any search.
    fn evaluate(&mut self, position: &Chess) -> Score;

    /// The position at the end of the quiescence search's principal variation, and its static evaluation in
    /// centipawns from the side to move there. `None` if that is a stalemate, which no evaluation describes.
    fn resolve(&mut self, position: &Chess) -> Option<(Chess, Score)>;

    /// Changes the size of the transposition table, in MiB, and empties it.
    ///
    /// # Errors
    /// If there is not so much memory; the table then has the least size.
    fn resize(&mut self, hash_mb: usize) -> std::result::Result<(), String>;

    /// Changes the numbers that the search works with.
    fn set_params(&mut self, params: &params::Params);

    /// Changes the number of threads that a search uses, at least one. Only with one are results reproducible.
    fn set_threads(&mut self, threads: usize);
}

/// An engine with this evaluation and a transposition table of this many MiB. Without the memory for that, the table has
/// the least size.
pub fn engine(evaluation: &Evaluation, hash_mb: usize) -> Box<dyn Engine> {
    with_table(evaluation, Table::new(hash_mb).unwrap_or_else(|_| Table::least()))
}

/// An engine for searches of at most so many nodes, each from nothing: its table holds all that such a search finds out,
/// up to a MiB, and is soon cleared.
pub fn engine_for(evaluation: &Evaluation, nodes: u64) -> Box<dyn Engine> {
    with_table(evaluation, Table::for_nodes(nodes))
}

fn with_table(evaluation: &Evaluation, table: Table) -> Box<dyn Engine> {
    match evaluation {
        Evaluation::Hce(weights) => Box::new(Searcher::new(Hce::new(weights.clone()), table)),
        Evaluation::Nnue(network) => Box::new(Searcher::new(Nnue::new(network.clone()), table)),
    }
}
