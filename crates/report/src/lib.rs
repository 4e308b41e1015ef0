#![doc = include_str!("../README.md")]
#![warn(missing_docs, unreachable_pub)]
//!
//! # Where to begin
//!
//! [`dataset`], [`weights`], [`network`], [`moves`] and [`contest`] each turn a run into a [`section::Section`] of
//! `figure::Figure`s with their numbers; [`html`] writes the page, [`compare`] puts runs side by side.

mod against;
mod axes;
mod bars;
pub mod compare;
pub mod contest;
mod contours;
mod csv_table;
pub mod dataset;
mod diagram;
pub mod evaluation;
mod figure;
mod heatmap;
mod histogram;
pub mod html;
pub mod inputs;
pub mod lab;
pub mod log;
pub mod move_values;
pub mod moves;
pub mod network;
mod plot;
mod png;
mod scale;
pub mod screen;
pub mod section;
pub mod spsa;
mod squares;
pub mod stats;
pub mod style;
pub mod table;
pub mod values;
pub mod wdl;
pub mod weights;
