//! Files in and out, errors with exit codes, and interruption: what every command shares.

pub mod error;
mod files;
pub mod interrupt;
pub mod number;

pub use files::*;
