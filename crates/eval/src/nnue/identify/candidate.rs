//! Readings of raw weights.

use crate::nnue::architecture::Architecture;
use crate::nnue::layout::Layout;
use crate::nnue::network::{About, Network};
use crate::nnue::plain::Units;

/// A reading of raw weights.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Layout of the file, in its own units.
    pub layout: Layout,
    pub architecture: Architecture,
    /// Integers of the file, not converted to a network's units.
    pub network: Network,
    /// Spearman's rank correlation with the judge's evaluations, −1 to 1.
    pub agreement: f64,
    /// Positions of the judge with the same evaluation.
    pub equal: usize,
    /// Centipawns that a pawn, knight, bishop, rook and queen are worth.
    pub values: [f64; 5],
    /// Largest weight of the hidden layer, where it is the clip of a trainer in units of QA.
    pub clipped_at: Option<f64>,
    /// Largest later weight, where it is the clip of a trainer in units of QB.
    pub outputs_clipped_at: Option<f64>,
}

impl Candidate {
    /// Units in which [`Candidate::network`] is to be evaluated.
    pub fn units(&self) -> Units {
        Units { qa: self.layout.qa.into(), qb: self.layout.qb.into(), scale: self.layout.scale.into() }
    }
}

/// A file's integers as a network, whatever their units are.
pub(super) fn unconverted(layout: &Layout, shape: &Architecture, bytes: &[u8]) -> Option<Network> {
    let layout = match layout.is_float() {
        true => layout.clone(),
        false => {
            let own = Layout::default();
            Layout { qa: own.qa, qb: own.qb, scale: own.scale, ..layout.clone() }
        }
    };
    layout.read(shape, bytes, About::default()).ok().map(|read| read.content)
}
