//! Runs engines on positions: quiescence leaves, scores by a teacher or endgame tables, and self-play games.

pub mod labelled_cache;
pub mod leaf;
pub mod prepare;
pub mod selfplay;
pub mod tables;
pub mod teacher;
