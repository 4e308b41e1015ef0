//! Evaluations: what a position is worth to the side to move.
//!
//! In: a position. Out: centipawns. Two real things stand behind [`Evaluator`]: the hand-crafted evaluation and
//! networks. The search is generic over it and the choice is made once, when an engine is made.

pub mod hce;
pub mod nnue;

use std::path::Path;
use std::sync::Arc;

use shakmaty::Chess;

use crate::chess::score::Score;
use crate::error::Result;

/// Something that evaluates positions, with whatever it remembers between them.
pub trait Evaluator: Clone + Send {
    /// The worth of a position in centipawns from the side to move, always short of a mate score.
    ///
    /// `ply` is the distance from the root of a search, below [`crate::chess::score::MAX_PLY`] + 1. It is a hint
    /// where to look for a position that differs little; the result depends on the position alone.
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score;
}

/// An evaluation of either kind (stand-in).
#[derive(Debug, Clone)]
pub enum Evaluation {
    /// The hand-crafted evaluation.
    Hce(Arc<hce::Weights>),
    /// A network.
    Nnue(Arc<nnue::Network>),
}

impl Evaluation {
    /// Loads an evaluation.
    ///
    /// # Errors
    /// If the file is not one.
    pub fn load(path: &Path) -> Result<Evaluation> {
        Ok(Evaluation::Hce(Arc::new(hce::Weights::load(path)?)))
    }

    /// The embedded hand-crafted evaluation.
    pub fn default_hce() -> Evaluation {
        Evaluation::Hce(Arc::new(hce::Weights::default()))
    }
}
