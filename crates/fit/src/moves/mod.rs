//! Move prediction: ranks of played moves, and a Bradley-Terry model of move [features], which the engine's search by
//! playouts shares.

pub mod choices;
mod errors;
pub mod model;
pub mod predict;
pub mod quality;
pub mod source;
pub mod strengths;
pub mod table;
pub mod terms;

pub use patzer_chess::move_features as features;
