#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`Evaluation`] names an evaluation, embedded or from a file; an [`Evaluator`] evaluates positions by it, and the
//! search is generic over it.

mod error;
mod evaluator;
pub mod hce;
pub mod named_weights;
pub mod nnue;
pub mod stockfish;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use error::EvalError;
pub use evaluator::{BoardEvaluator, Evaluator};

/// Parameters of an evaluation, embedded or from a file; cheap to clone.
#[derive(Clone)]
pub enum Evaluation {
    Hce(Arc<hce::Weights>),
    Nnue(Arc<nnue::Network>),
    Stockfish(Arc<stockfish::Network>),
}

/// Evaluates an expression with a new evaluator of an [`Evaluation`], of whichever type it is.
///
/// ```
/// # use patzer_eval::{Evaluation, Evaluator, with_evaluator};
/// let start = shakmaty::Chess::default();
/// let score = with_evaluator!(&Evaluation::default(), mut evaluator => evaluator.evaluate(&start, 0));
/// assert!(score.abs() < 100);
/// ```
#[macro_export]
macro_rules! with_evaluator {
    ($evaluation:expr, $evaluator:pat => $body:expr) => {
        match $evaluation {
            $crate::Evaluation::Hce(weights) => {
                let $evaluator = $crate::hce::Hce::new(weights.clone());
                $body
            }
            $crate::Evaluation::Nnue(network) => {
                let $evaluator = $crate::nnue::Nnue::new(network.clone());
                $body
            }
            $crate::Evaluation::Stockfish(network) => {
                let $evaluator = $crate::stockfish::Stockfish::new(network.clone());
                $body
            }
        }
    };
}

/// Tests whether a file begins as a network does, patzer's or of Stockfish.
pub fn begins_network(bytes: &[u8]) -> bool {
    nnue::file::has_magic(bytes) || stockfish::has_magic(bytes)
}

/// Reads a network of up to 512 MiB, or weights of up to 16 MiB.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut bytes)?;
    let mib = match begins_network(&bytes) {
        true => 512,
        // Weights are text; the parser rejects what is neither.
        false if bytes.contains(&0) => return Ok(bytes),
        false => 16,
    };
    // The size of a pipe is known at its end only.
    if size <= mib << 20 {
        file.take(mib << 20).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= mib << 20 {
            return Ok(bytes);
        }
    }
    Err(std::io::Error::other(format!("is larger than {mib} MiB, the limit for its kind")))
}

impl Default for Evaluation {
    /// The embedded network, the engine's default.
    fn default() -> Evaluation {
        Evaluation::Nnue(Arc::new(nnue::Network::embedded()))
    }
}

impl Evaluation {
    pub const EMBEDDED: [&str; 3] = ["default", "default-hce", "untuned-hce"];

    pub fn default_hce() -> Evaluation {
        Evaluation::Hce(Arc::new(hce::Weights::default()))
    }

    pub fn embedded(name: &str) -> Option<Evaluation> {
        match name {
            "default" => Some(Evaluation::default()),
            "default-hce" => Some(Evaluation::default_hce()),
            "untuned-hce" => Some(Evaluation::Hce(Arc::new(hce::Weights::untuned()))),
            _ => None,
        }
    }

    /// Reads the bytes of a network or a weights file, recognised by content.
    pub fn parse(bytes: &[u8]) -> Result<Evaluation, EvalError> {
        if bytes.is_empty() {
            return Err(EvalError::Empty);
        }
        if nnue::file::has_magic(bytes) {
            return Ok(Evaluation::Nnue(Arc::new(nnue::Network::parse(bytes)?)));
        }
        if stockfish::has_magic(bytes) {
            return Ok(Evaluation::Stockfish(Arc::new(stockfish::Network::parse(bytes)?)));
        }
        // Raw weights often begin with zeros, which are text, too.
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or(EvalError::Unrecognised)?;
        Ok(Evaluation::Hce(Arc::new(hce::Weights::parse(text)?)))
    }

    /// Takes an embedded evaluation by name, or reads an uncompressed file.
    pub fn load(path: &Path) -> Result<Evaluation, EvalError> {
        match path.to_str().and_then(Evaluation::embedded) {
            Some(evaluation) => Ok(evaluation),
            None => Evaluation::parse(&read(path).map_err(EvalError::Io)?),
        }
    }

    /// Terms and parts missing from a weights file; see [`hce::Weights::missing`].
    pub fn missing(&self) -> &[String] {
        match self {
            Evaluation::Hce(weights) => weights.missing(),
            Evaluation::Nnue(_) | Evaluation::Stockfish(_) => &[],
        }
    }
}
