//! Move prediction: ranks of played moves, and a Bradley-Terry model of move [features].

pub mod choices;
pub mod features;
pub mod model;
pub mod predict;
pub mod table;
