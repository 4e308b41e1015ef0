//! Files of positions.
//!
//! In and out: [`Record`](super::Record)s. One file a format, one row each in the [`registry`]; Parquet is the native
//! one, because DuckDB, Spark and DataFusion read it as it is. [`any`] reads and writes them all.

pub mod any;
pub mod binpack;
mod block;
pub mod bullet;
mod chain;
pub mod columns;
pub mod csv;
mod dictionary;
mod encode;
pub mod epd;
pub mod facts;
pub mod fen;
mod hybrid;
pub mod metadata;
mod nibbles;
mod page;
pub mod parquet;
pub(super) mod positioned;
pub mod registry;
mod replay;
pub mod sfplain;
pub mod stream;
pub mod viri;
mod writer;

pub use columns::EMPTY;
pub use replay::UNKNOWN;
pub use writer::LEVEL;
