//! Runs the engine on positions: quiescence leaves of records, and self-play games for training.

pub mod leaf;
pub mod selfplay;
