//! Engines on positions: the quiescence leaf of each, and games of self-play to learn from.

pub mod leaf;
pub mod selfplay;
