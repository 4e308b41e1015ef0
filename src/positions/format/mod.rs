//! Files of positions.
//!
//! In and out: [`Sample`](super::Sample)s. One file a format, one row each in the [`registry`]; Parquet is the native
//! one, because DuckDB, Spark and DataFusion read it as it is. [`any`] reads and writes them all.

pub mod any;
pub mod binpack;
pub mod bullet;
mod chain;
mod columns;
pub mod csv;
pub mod epd;
pub mod facts;
pub mod fen;
pub mod metadata;
mod nibbles;
pub mod parquet;
mod positioned;
pub mod registry;
mod replay;
pub mod sfplain;
pub mod stream;
pub mod viri;
