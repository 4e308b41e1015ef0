#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`extract::extract`] makes a dataset from games. [`AnyReader`] and [`AnyWriter`] read and write every format; a
//! [`Dataset`] is the native one, Parquet. A [`filter::Pipeline`] decides which positions stay; every position that was
//! read is either written or counted under the reason that dropped it. [`merge::merge`], [`shuffle::shuffle`],
//! [`split::split`],
//! [`interleave::interleave`], [`stats::stats`] and [`validate::validate`] work on whole datasets of any size.
//! [`games::select`] writes whole games.

pub mod card;
pub mod dedupe;
pub mod extract;
pub mod fast_epd;
pub mod filter;
pub mod format;
pub mod funnel;
pub mod games;
pub mod interleave;
pub mod key_set;
pub mod lines;
pub mod memory;
pub mod merge;
pub mod notices;
mod output_stage;
mod position_keys;
mod rejects;
mod row_groups;
mod sampling;
pub mod show;
pub mod shuffle;
mod spill;
mod spill_file;
pub mod split;
pub mod stats;
pub mod validate;

pub use format::any::{AnyReader, DataFile};
pub use format::any_writer::{AnyWriter, Target, Written};
pub use format::metadata::{Metadata, Source};
pub use format::parquet::{Dataset, Writer};
pub use output_stage::{OutputCounts, OutputSettings};
pub use patzer_pgn::{FAR, Leaf, MeanResult, Record, Wdl, flags};
pub use row_groups::{PositionBlocks, RowGroup, RowGroups};
pub use sampling::{Sampler, Thinned};
