//! Figures as SVG or PNG, and reports of several runs as one self-contained HTML file.
//!
//! [`dataset`], [`weights`], [`network`] and [`contest`] each turn a run into a [`section::Section`] of
//! [`figure::Figure`]s with their numbers; [`html`] writes the page, [`compare`] puts runs side by side.

pub mod bars;
pub mod compare;
pub mod contest;
pub mod contours;
mod csv_table;
pub mod dataset;
pub mod diagram;
pub mod evaluation;
pub mod figure;
pub mod heatmap;
pub mod histogram;
pub mod html;
pub mod log;
pub mod network;
pub mod plot;
mod png;
pub mod section;
pub mod squares;
pub mod stats;
pub mod style;
pub mod table;
pub mod wdl;
pub mod weights;
