//! Dataset formats: one file and one row of the [`registry`] each. [`any`] reads and writes all of them.
//!
//! Parquet is native, because DuckDB, Spark and DataFusion read it directly.

pub mod any;
pub mod any_writer;
pub mod binpack;
mod block;
pub mod bullet;
pub(crate) mod bytes;
pub mod capabilities;
pub(crate) mod chain;
pub mod codec;
pub mod columns;
mod companion;
pub mod csv;
pub mod dedupe_rule;
mod delta;
pub mod description;
mod dictionary;
mod encode;
pub mod epd;
pub mod extra;
mod extra_columns;
pub mod extra_rows;
pub mod fen;
mod file_columns;
#[cfg(all(test, unix))]
mod flips;
mod footer;
mod foreign;
mod joined;
pub mod jsonl;
mod kind;
mod legality;
pub mod marlin;
pub mod metadata;
mod missing;
pub mod monty;
pub(crate) mod nibbles;
pub(crate) mod operations;
mod page;
mod page_header;
pub mod parquet;
pub mod parquet_file;
mod parquet_table;
pub(super) mod positioned;
pub mod projection;
pub mod readable;
pub mod recognise;
pub mod registry;
mod replay;
mod rle;
pub mod sfbin;
pub mod sfplain;
mod sound_pages;
pub(crate) mod spillable;
mod spooled;
pub mod stream;
pub mod table;
mod thrift;
mod values;
pub mod viri;
pub mod visits;
mod writer;

pub use columns::EMPTY;
pub use replay::{UNKNOWN, game_records};
pub use writer::LEVEL;
