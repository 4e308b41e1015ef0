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
use crate::error::{Error, Result};
use crate::io;

/// Something that evaluates positions, with whatever it remembers between them.
pub trait Evaluator: Clone + Send {
    /// The worth of a position in centipawns from the side to move, always short of a mate score.
    ///
    /// `ply` is the distance from the root of a search, below [`crate::chess::score::MAX_PLY`] + 1. It is a hint
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

    /// Reads a file, or takes an embedded evaluation by name. A file is recognised by its content.
    ///
    /// # Errors
    /// If there is no such file, or it is neither a network nor weights.
    pub fn load(path: &Path) -> Result<Evaluation> {
        match path.to_str() {
            Some("default") => return Ok(Evaluation::default()),
            Some("default-hce") => return Ok(Evaluation::default_hce()),
            Some("untuned-hce") => return Ok(Evaluation::Hce(Arc::new(hce::Weights::untuned()))),
            _ => {}
        }
        let bytes = io::read(path)?;
        if bytes.is_empty() {
            return Err(Error::data(path, "is empty"));
        }
        if nnue::file::has_magic(&bytes) {
            let network = nnue::Network::parse(&bytes).map_err(|reason| Error::data(path, reason))?;
            return Ok(Evaluation::Nnue(Arc::new(network)));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Evaluation::Hce(Arc::new(hce::Weights::parse(text, path)?))),
            Err(_) => Err(Error::data(
                path,
                "is neither a patzer network nor a weight file; `patzer net convert` reads a raw network",
            )),
        }
    }
}
