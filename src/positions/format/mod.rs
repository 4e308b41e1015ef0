//! Files of positions.
//!
//! In and out: [`Sample`](super::Sample)s. One file a format; Parquet is the native one, because DuckDB, Spark
//! and DataFusion read it as it is.

mod columns;
pub use columns::EMPTY;
pub mod metadata;
pub mod parquet;
mod positioned;
