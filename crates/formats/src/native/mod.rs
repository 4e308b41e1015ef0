//! The native format: Parquet, read and written page by page.

mod block;
pub mod columns;
mod delta;
pub mod description;
mod dictionary;
pub mod encode;
mod file_columns;
mod footer;
pub(crate) mod foreign_column;
mod kind;
mod missing;
mod page;
mod page_header;
pub mod parquet;
pub mod parquet_file;
pub mod positioned;
pub mod projection;
pub mod readable;
mod rle;
mod sound_pages;
mod thrift;
pub(crate) mod values;
pub(crate) mod writer;
