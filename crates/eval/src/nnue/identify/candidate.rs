//! Readings of raw weights.

use crate::nnue::architecture::Architecture;
use crate::nnue::layout::Layout;
use crate::nnue::network::{About, Network};

/// A reading of raw weights.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Layout of the file, in its own units.
    pub layout: Layout,
    pub architecture: Architecture,
    /// Integers of the file, not converted to a network's units.
    pub network: Network,
    /// Spearman's rank correlation with the reference evaluations, −1 to 1.
    pub agreement: f64,
    /// Positions with the reference evaluation.
    pub equal: usize,
    /// Centipawns that a pawn, knight, bishop, rook and queen are worth.
    pub values: [f64; 5],
    /// Largest weight of the hidden layer, where it is the clip of a trainer in units of QA.
    pub clipped_at: Option<f64>,
    /// Largest later weight, where it is the clip of a trainer in units of QB.
    pub outputs_clipped_at: Option<f64>,
}

impl Candidate {
    /// Reads a file; `None` if it is of another size. Nothing is judged yet.
    pub(super) fn read(layout: Layout, architecture: Architecture, bytes: &[u8]) -> Option<Candidate> {
        let network = layout.unconverted().read(&architecture, bytes, About::default()).ok()?.content;
        Some(Candidate {
            layout,
            architecture,
            network,
            agreement: 0.0,
            equal: 0,
            values: [0.0; 5],
            clipped_at: None,
            outputs_clipped_at: None,
        })
    }
}
