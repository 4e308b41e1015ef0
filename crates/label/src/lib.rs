//! Engines on positions: the quiescence leaf of each, and games of self-play to learn from.

pub mod labelled_cache;
pub mod leaf;
pub mod prepare;
pub mod selfplay;
