//! Move prediction: ranks of played moves among an engine's choices, and a generalised Bradley-Terry model of
//! move [features] that gives every legal move a probability.

pub mod choices;
pub mod features;
pub mod model;
pub mod predict;
pub mod table;
