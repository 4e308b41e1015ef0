#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! Each format has a file and a row of the [`registry`]. [`AnyReader`] and [`AnyWriter`] read and write all of them; a
//! [`Dataset`] is the native one, Parquet, because DuckDB, Spark and DataFusion read it directly. [`RowGroups`] reads a
//! file of any format on all threads.

pub mod any;
pub mod any_writer;
mod bad_rows;
pub mod bytes;
pub mod capabilities;
pub mod chain;
pub mod codec;
mod companion;
pub mod dedupe_rule;
pub mod extra;
mod extra_columns;
pub mod extra_rows;
pub mod fen;
pub mod foreign;
pub mod legality;
pub mod listing;
pub mod metadata;
pub mod native;
mod nibbles;
pub mod notices;
pub mod read_options;
pub mod recognise;
pub mod registry;
mod replay;
pub mod row_groups;
pub mod score_form;
pub mod score_reading;
pub mod spillable;
mod spooled;
pub mod stream;
pub mod visits;

pub use any::{AnyReader, DataFile};
pub use any_writer::{AnyWriter, Target, Written};
pub use metadata::{Metadata, Source};
pub use native::columns::EMPTY;
pub use native::parquet::{Dataset, Writer};
pub use native::writer::LEVEL;
pub use patzer_pgn::{FAR, Leaf, MeanResult, Record, Wdl, flags};
pub use read_options::ReadOptions;
pub use replay::{UNKNOWN, game_records};
pub use row_groups::{PositionBlocks, RowGroup, RowGroups};
