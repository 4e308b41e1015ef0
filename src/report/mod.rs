//! Pictures: what a command found, drawn as SVG.
//!
//! In: numbers that a command has already printed. Out: one self-contained SVG file a figure, readable on light
//! and on dark ground.

pub mod bars;
pub mod compare;
pub mod contest;
pub mod contours;
pub mod dataset;
pub mod diagram;
pub mod figure;
pub mod heatmap;
pub mod histogram;
pub mod html;
pub mod judged;
pub mod log;
pub mod network;
pub mod number;
pub mod plot;
pub mod section;
pub mod squares;
pub mod stats;
pub mod style;
pub mod table;
pub mod wdl;
pub mod weights;
