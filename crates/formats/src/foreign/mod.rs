//! Formats of other programs, a file each.

pub mod binpack;
pub mod bullet;
pub mod columns;
pub mod csv;
pub mod epd;
mod evaluations;
pub mod fast_epd;
pub mod fixed;
mod joined;
pub mod jsonl;
pub mod marlin;
pub mod monty;
mod operations;
pub(crate) mod parquet_table;
pub mod sfbin;
pub mod sfplain;
pub mod table;
pub mod viri;
