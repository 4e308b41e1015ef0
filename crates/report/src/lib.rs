//! Pictures and reports: what commands found, drawn as SVG, and what runs did, as a page.
//!
//! In: numbers that a command has printed, and what a run has left on disk. Out: one self-contained SVG file a figure, or
//! one HTML file for several runs. [`dataset`], [`weights`], [`network`] and [`contest`] each make a
//! [`section::Section`] of what is known of a run, in [`figure::Figure`]s that carry their numbers; [`html`] writes the
//! page, [`compare`] puts runs side by side. Which file is which run is the command's business.

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
mod png;
pub mod section;
pub mod sheet;
pub mod squares;
pub mod stats;
pub mod style;
pub mod table;
pub mod wdl;
pub mod weights;
