//! Records as bytes of a temporary file.

use std::io;

/// Records that a temporary file can hold.
pub trait Spillable: Sized + Send + Sync {
    fn encode(records: &[Self]) -> io::Result<Vec<u8>>;

    /// Appends the records that [`Spillable::encode`] wrote.
    fn decode(bytes: &[u8], to: &mut Vec<Self>) -> io::Result<()>;
}
