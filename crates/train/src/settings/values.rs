//! Values of keys that have a fixed list of names.

use serde::{Deserialize, Serialize};

/// Precision of the forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forward {
    /// 16-bit copy of the feature weights, finer than the quantised network's: half the memory traffic.
    #[default]
    I16,
    /// The float weights themselves.
    F32,
}

/// The epoch whose network a run keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The epoch of the lowest loss on held-out positions, or without them on those trained on; the start may be it.
    #[default]
    Best,
    /// The last epoch.
    Last,
}

impl Keep {
    pub(super) fn is_best(&self) -> bool {
        *self == Keep::Best
    }
}

/// Loss of a position by its output and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// |σ(out) − target|^p; p = 2 is the squared error
    #[default]
    Power,
    /// −t ln σ(out) − (1 − t) ln(1 − σ(out)), less what a perfect output would have
    CrossEntropy,
    /// A position P, the one Q after its best move and the one R after another, each worth 2σ(out) − 1 to its side to
    /// move: −ln σ(r − q) − κ ln σ(p + q) − κ ln σ(−p − q)
    Pqr,
}

/// Optimisers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Adam with decoupled weight decay
    #[default]
    AdamW,
    /// Adam
    Adam,
    /// Rectified Adam
    RAdam,
    /// Rectified Adam that looks ahead
    Ranger,
    /// Gradient descent with momentum
    Sgd,
}
