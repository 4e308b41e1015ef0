//! Files of positions.
//!
//! In and out: [`Sample`](super::Sample)s. One file a format; Parquet is the native one, because DuckDB, Spark
//! and DataFusion read it as it is.

mod block;
pub mod columns;
mod encode;
pub mod metadata;
pub mod parquet;
mod plain;
pub(super) mod positioned;
mod writer;

pub use writer::LEVEL;
