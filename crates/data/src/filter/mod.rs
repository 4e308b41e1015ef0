//! Filters: which positions a dataset keeps, and the name under which each dropped position is counted.
//!
//! A [`Filter`] sees one [`Record`], which stores everything a filter needs, so filtering at `extract` and filtering
//! the dataset later give the same positions. Two exceptions: a filter of games, or one that needs the game's tags or
//! clocks, sees [`GameTags`], which a dataset does not carry, and works at `extract` only; `duplicates` remembers
//! earlier positions and comes last in every [`Pipeline`], so the first of equal positions is the first that the other
//! filters leave.
//!
//! To add a filter: its [`FilterRow`] and parameter struct in the file of its theme, with what it judges by if a file
//! may lack that, and a game in `tests.rs` that shows what it drops.

mod draw;
mod duplicates;
mod game_tags;
mod games;
mod kind;
mod listed;
mod material;
mod moves;
mod names;
mod piece_counts;
mod piece_target;
mod pipeline;
mod plies;
mod preset;
mod random;
mod registry;
mod results;
mod scores;
mod signature;
mod table;
#[cfg(test)]
mod tests;
mod wdl_skip;
mod windows;

use super::Record;

pub use game_tags::{End, GameTags};
pub use kind::ParamKind;
pub use patzer_formats::dedupe_rule::DUPLICATES;
pub use piece_counts::PieceCounts;
pub use pipeline::{FilterSet, Pipeline};
pub use preset::{PRESETS, Preset};
pub use registry::{Build, Filter, FilterError, FilterRow, Param, ParamValues};
pub use table::rows;
