//! Positions as the device reads them: `Record` of extract.cu, 32 bytes each.

use rayon::prelude::*;

use crate::TrainItem;

pub(super) const RECORD: usize = 32;

/// Packs a position: board (24 bytes), score, result, flags, halfmove clock, ply.
#[inline]
fn pack(item: &TrainItem, to: &mut [u8; RECORD]) {
    to[..24].copy_from_slice(&item.board.0);
    to[24..26].copy_from_slice(&item.score.unwrap_or(0).to_le_bytes());
    to[26..28].copy_from_slice(&item.result.to_le_bytes());
    to[28] = u8::from(item.turn.is_black()) | u8::from(item.score.is_some()) << 1;
    to[29] = item.halfmoves;
    to[30..].copy_from_slice(&item.ply.to_le_bytes());
}

/// Positions packed by one thread at a time.
const CHUNK: usize = 1 << 10;

/// Packs positions on all threads: those of a batch are scattered in memory, which takes the time.
pub(super) fn fill<'a>(slot: &mut [u8], count: usize, item: impl Fn(usize) -> &'a TrainItem + Sync) {
    let records = &mut slot.as_chunks_mut::<RECORD>().0[..count];
    records.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, records)| {
        records.iter_mut().zip(chunk * CHUNK..).for_each(|(record, at)| pack(item(at), record));
    });
}
