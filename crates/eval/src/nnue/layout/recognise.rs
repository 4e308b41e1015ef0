//! Raw weights whose layout is not known: what their size, padding and first bytes say.

use super::{LAYOUTS, NamedLayout};
use crate::nnue::architecture::Architecture;

/// Formats of other programs that a size alone would take for weights.
pub fn foreign_format(bytes: &[u8]) -> Option<&'static str> {
    const STOCKFISH: u32 = 0x7AF3_2F20;
    match bytes.first_chunk()? {
        b"BINP" => Some("a binpack of positions, not a network"),
        magic if *magic == STOCKFISH.to_le_bytes() => {
            Some("a network of Stockfish, which patzer does not read")
        }
        _ => None,
    }
}

/// Tests whether the layouts `patzer`, `bullet` and `bullet-columns` have the numbers of an architecture in another
/// order.
pub fn layouts_differ(shape: &Architecture) -> bool {
    !shape.wdl_head && (!shape.layers.is_empty() || shape.output_buckets > 1)
}

/// Names of the layouts whose own architecture has files of this size and padding.
pub fn layouts_of_size(bytes: &[u8]) -> Vec<&'static str> {
    let fits = |named: &&NamedLayout| (named.layout)().hidden(&(named.architecture)(), bytes).is_some();
    LAYOUTS.iter().filter(fits).map(|named| named.name).collect()
}
