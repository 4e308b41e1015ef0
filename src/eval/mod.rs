//! Evaluations: what a position is worth to the side to move.
//!
//! In: a position. Out: centipawns. Two real things stand behind [`Evaluator`]: the hand-crafted evaluation and
//! networks. The search is generic over it and the choice is made once, when an engine is made.

pub mod hce;
pub mod nnue;

use shakmaty::Chess;

use crate::chess::score::Score;

/// Something that evaluates positions, with whatever it remembers between them.
pub trait Evaluator: Clone + Send {
    /// The worth of a position in centipawns from the side to move, always short of a mate score.
    ///
    /// `ply` is the distance from the root of a search, below [`crate::chess::score::MAX_PLY`] + 1. It is a hint
    /// where to look for a position that differs little; the result depends on the position alone.
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score;
}

// Temporary stand-in of the engine branch from here on: the lead owns this file.

/// A loaded evaluation, ready to be put into any number of engines.
#[derive(Debug, Clone)]
pub enum Evaluation {
    /// Hand-crafted.
    Hce(std::sync::Arc<hce::Weights>),
    /// A network.
    Nnue(std::sync::Arc<nnue::Network>),
}

impl Evaluation {
    /// Loads a weight file or a network.
    ///
    /// # Errors
    /// If the file is neither.
    pub fn load(path: &std::path::Path) -> crate::error::Result<Self> {
        let bytes = crate::io::read(path)?;
        Err(crate::error::Error::data(path, format!("{} bytes that are no evaluation", bytes.len())))
    }

    /// The embedded network.
    #[allow(clippy::should_implement_trait)]
    pub fn default() -> Self {
        Self::default_hce()
    }

    /// The embedded hand-crafted weights.
    pub fn default_hce() -> Self {
        Evaluation::Hce(std::sync::Arc::new(hce::Weights))
    }
}
