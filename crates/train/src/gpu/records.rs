//! Positions as the device reads them: `Record` of extract.cu, 32 bytes each.

use rayon::prelude::*;

use crate::TrainItem;

pub const RECORD: usize = 32;

/// Packs a position: board (24 bytes), score, result, Black to move, has a score.
#[inline]
fn pack(item: &TrainItem, to: &mut [u8; RECORD]) {
    to[..24].copy_from_slice(&item.board.0);
    to[24..26].copy_from_slice(&item.score.unwrap_or(0).to_le_bytes());
    to[26..28].copy_from_slice(&item.result.to_le_bytes());
    to[28..].copy_from_slice(&[item.turn.is_black().into(), item.score.is_some().into(), 0, 0]);
}

/// Positions packed by one thread at a time.
const CHUNK: usize = 1 << 10;

/// Packs a batch on all threads: its positions are scattered in memory, which takes the time.
pub fn fill(slot: &mut [u8], items: &[TrainItem], batch: &[u32]) {
    let records = slot.as_chunks_mut::<RECORD>().0;
    records.par_chunks_mut(CHUNK).zip(batch.par_chunks(CHUNK)).for_each(|(records, batch)| {
        records.iter_mut().zip(batch).for_each(|(record, at)| pack(&items[*at as usize], record));
    });
}

/// Packs consecutive positions.
pub fn copy(slot: &mut [u8], items: &[TrainItem]) {
    let records = slot.as_chunks_mut::<RECORD>().0;
    records.par_chunks_mut(CHUNK).zip(items.par_chunks(CHUNK)).for_each(|(records, items)| {
        records.iter_mut().zip(items).for_each(|(record, item)| pack(item, record));
    });
}
