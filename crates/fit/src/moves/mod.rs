//! Which move is played: how well engines foresee it, and a model that tells why.
//!
//! In: positions of games in their order, with the moves played. Out: how often the played move is an engine's first,
//! second, third choice ([`predict`]), and the strengths of move [features] in a generalised Bradley-Terry model
//! ([`model`]), which give every legal move its probability. [`choices`] turns games into choices.

pub mod choices;
pub mod features;
pub mod model;
pub mod predict;
pub mod table;
