//! The loop that reads games: parsing on all threads while the batch before is taken, in the order of the input.

use rayon::prelude::*;

use patzer_io::error::Result;
use patzer_io::interrupt;
use patzer_pgn::{Surveyed, SurveyedReader};

/// Parses batches of `most` events and passes each with the number of bytes read to `take`. False after an
/// interruption.
pub(crate) fn each_batch<P: Send>(
    reader: &mut SurveyedReader,
    most: usize,
    parse: impl Fn(Surveyed) -> P + Sync,
    mut take: impl FnMut(Vec<P>, u64) -> Result<()> + Send,
) -> Result<bool> {
    let mut parsed = Vec::new();
    loop {
        let batch: Vec<Surveyed> = std::iter::from_fn(|| reader.next_event()).take(most).collect();
        if interrupt::requested() {
            return Ok(false);
        }
        let (last, bytes) = (batch.is_empty(), reader.bytes());
        let (taken, next) = rayon::join(
            || take(std::mem::take(&mut parsed), bytes),
            || batch.into_par_iter().map(&parse).collect(),
        );
        taken?;
        parsed = next;
        if last {
            return Ok(true);
        }
    }
}
