//! Sample of a dataset by which static evaluations are compared.

use std::path::Path;

use crate::{Error, Result, Ui};
use patzer_data::DataFile;
use patzer_experiments::why::is_comparable;
use patzer_pgn::Record;

/// Quiet positions with scores, about `most` at even distances in the dataset.
pub fn scored_sample(data: &Path, most: usize, ui: &Ui) -> Result<Vec<Record>> {
    let options = ui.read_options(None);
    let mut source = DataFile { path: data, options: &options }.open()?;
    let (mut records, mut batch) = (Vec::new(), Vec::new());
    let mut seen = 0_u64;
    let mut step = 1;
    while source.next_batch(&mut batch)? {
        for record in batch.drain(..).filter(is_comparable) {
            if seen.is_multiple_of(step) {
                records.push(record);
            }
            seen += 1;
            if records.len() > 2 * most.max(1) {
                let mut index = 0_u64;
                records.retain(|_| (index.is_multiple_of(2), index += 1).0);
                step *= 2;
            }
        }
    }
    if records.is_empty() {
        return Err(Error::data(data, "has no quiet position with a score"));
    }
    Ok(records)
}
