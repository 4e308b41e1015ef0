//! Units of the integers of a network.

/// Units of a feature weight, and the activation at which the clipped ReLU stops.
pub const QA: i32 = 255;
/// Units of an output weight.
pub const QB: i32 = 64;
/// Centipawns for an output of 1.
pub const SCALE: i32 = 400;
/// An activation of 1 after the first layer.
pub(super) const ONE: i64 = (QA * QB) as i64;
