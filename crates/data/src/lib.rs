#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`extract::extract`] makes a dataset from games. The crate `patzer-formats` reads and writes
//! every format. A [`filter::Pipeline`] decides which positions stay; every position that was
//! read is either written or counted under the reason that dropped it. [`merge::merge`], [`shuffle::shuffle`],
//! [`split::split`],
//! [`interleave::interleave`], [`stats::stats`] and [`validate::validate`] work on whole datasets of any size.
//! [`games::select`] writes whole games.

pub mod card;
pub mod convert;
pub mod dedupe;
pub mod extract;
pub mod filter;
#[cfg(all(test, unix))]
mod flips;
pub mod funnel;
pub mod games;
pub mod interleave;
pub mod key_set;
pub mod lines;
pub mod memory;
pub mod merge;
mod output_stage;
mod position_keys;
mod rejects;
mod sampling;
pub mod show;
mod show_rows;
pub mod shuffle;
mod spill;
mod spill_file;
pub mod split;
pub mod stats;
pub mod validate;

pub use output_stage::{OutputCounts, OutputSettings};
pub use patzer_formats::{
    AnyReader, AnyWriter, DataFile, Dataset, FAR, Leaf, MeanResult, Metadata, PositionBlocks, Record,
    RowGroup, RowGroups, Source, Target, Wdl, Writer, Written, flags,
};
pub use sampling::{Sampler, Thinned};
