//! Runs the engine on positions: quiescence leaves of records, and self-play games for training.

pub mod labelled_cache;
pub mod leaf;
pub mod prepare;
pub mod selfplay;
