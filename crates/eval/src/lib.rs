//! Evaluations: what a position is worth to the side to move.
//!
//! In: a position. Out: centipawns. Two real things stand behind [`Evaluator`]: the hand-crafted evaluation and
//! networks. The search is generic over it and the choice is made once, when an engine is made.

mod error;
pub mod hce;
pub mod nnue;

use std::path::Path;
use std::sync::Arc;

use shakmaty::Chess;

pub use error::EvalError;
use patzer_chess::score::Score;

/// Something that evaluates positions, with whatever it remembers between them.
pub trait Evaluator: Clone + Send {
    /// The worth of a position in centipawns from the side to move, always short of a mate score.
    ///
    /// `ply` is the distance from the root of a search, below [`patzer_chess::score::MAX_PLY`] + 1. It is a hint
    /// where to look for a position that differs little; the result depends on the position alone.
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score;
}

/// The parameters of an evaluation, as a file holds them; cheap to clone.
#[derive(Clone)]
pub enum Evaluation {
    /// Weights of the hand-crafted evaluation.
    Hce(Arc<hce::Weights>),
    /// A network.
    Nnue(Arc<nnue::Network>),
}

impl Default for Evaluation {
    /// The embedded network: what the engine plays with if nothing else is asked for.
    fn default() -> Evaluation {
        Evaluation::Nnue(Arc::new(nnue::Network::embedded()))
    }
}

impl Evaluation {
    /// The names of the embedded evaluations.
    pub const EMBEDDED: [&str; 3] = ["default", "default-hce", "untuned-hce"];

    /// The embedded hand-crafted evaluation.
    pub fn default_hce() -> Evaluation {
        Evaluation::Hce(Arc::new(hce::Weights::default()))
    }

    /// The embedded evaluation of this name, one of [`Evaluation::EMBEDDED`].
    pub fn embedded(name: &str) -> Option<Evaluation> {
        match name {
            "default" => Some(Evaluation::default()),
            "default-hce" => Some(Evaluation::default_hce()),
            "untuned-hce" => Some(Evaluation::Hce(Arc::new(hce::Weights::untuned()))),
            _ => None,
        }
    }

    /// Reads the bytes of a network or a weights file, recognised by content.
    ///
    /// # Errors
    /// Bytes that are neither, or are damaged.
    pub fn parse(bytes: &[u8]) -> Result<Evaluation, EvalError> {
        if bytes.is_empty() {
            return Err(EvalError::Empty);
        }
        if nnue::file::has_magic(bytes) {
            return Ok(Evaluation::Nnue(Arc::new(nnue::Network::parse(bytes)?)));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| EvalError::Unrecognised)?;
        Ok(Evaluation::Hce(Arc::new(hce::Weights::parse(text)?)))
    }

    /// Takes an embedded evaluation by name, or reads a file that is not compressed.
    ///
    /// # Errors
    /// As [`Evaluation::parse`], or the file cannot be read.
    pub fn load(path: &Path) -> Result<Evaluation, EvalError> {
        match path.to_str().and_then(Evaluation::embedded) {
            Some(evaluation) => Ok(evaluation),
            None => Evaluation::parse(&std::fs::read(path).map_err(EvalError::Io)?),
        }
    }

    /// Terms that a weights file lacked; see [`hce::Weights::missing`].
    pub fn missing(&self) -> &[String] {
        match self {
            Evaluation::Hce(weights) => weights.missing(),
            Evaluation::Nnue(_) => &[],
        }
    }
}
