#![doc = include_str!("../README.md")]
#![warn(missing_docs, unreachable_pub)]

pub mod bench;
mod correction;
mod engine;
mod extensions;
mod genfens;
mod history;
mod history_table;
mod history_update;
mod known_draw;
mod limits;
mod mate;
mod mcts;
mod move_picker;
mod option_error;
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

pub use self::engine::{Engine, Report};
pub use self::limits::{Clock, Limits, Ponder};
use self::mcts::PlayoutSearcher;
pub use self::mcts::SearchKind;
use self::searcher::Searcher;
use self::transposition_table::TranspositionTable;
pub use option_error::OptionError;
pub use params::Params;
use patzer_eval::{Evaluation, with_evaluator};
pub use quiescence_leaf::{LeafSearch, leaf_search};
pub use strength::Noise;
pub use tables::Tables;
pub use transposition_table::{Bound, OutOfMemory};
pub use uci::PlayerSettings;

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
    if search == SearchKind::AlphaBeta {
        return engine(evaluation, hash_mb);
    }
    Ok(with_evaluator!(evaluation, evaluator => Box::new(PlayoutSearcher::new(evaluator, search, hash_mb))))
}

/// Creates an engine for searches of at most this many nodes, whose table is cheap to clear.
pub fn engine_for(evaluation: &Evaluation, nodes: u64) -> Box<dyn Engine> {
    with_table(evaluation, TranspositionTable::for_nodes(nodes))
}

fn with_table(evaluation: &Evaluation, table: TranspositionTable) -> Box<dyn Engine> {
    with_evaluator!(evaluation, evaluator => Box::new(Searcher::new(evaluator, table)))
}
