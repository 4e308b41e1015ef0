//! Files with transparent compression and atomic output, errors with exit codes, and interruption.

#![warn(missing_docs)]

pub mod error;
mod files;
pub mod interrupt;
mod lock;
pub mod number;
mod printable;
pub mod run_folder;

pub use files::{
    Compression, Output, check_writable, decompressed, is_stream, open, parse, raw, read, read_text,
    sync_folder, write,
};
pub use lock::{Lock, try_lock};
pub use printable::{Printable, printable};
