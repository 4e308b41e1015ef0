//! Pictures: what a command found, drawn as SVG.
//!
//! In: numbers that a command has already printed. Out: one self-contained SVG file a figure, readable on light
//! and on dark ground.

pub mod heatmap;
pub mod histogram;
pub mod number;
pub mod plot;
pub mod stats;
pub mod style;
pub mod wdl;
