//! The traits of a format: reading and writing of positions.

use crate::Record;
use crate::capabilities::Capabilities;
use crate::extra::ExtraRow;
use crate::metadata::Metadata;
use patzer_io::error::Result;

/// Records of a batch; whole games may exceed it.
pub const BATCH: usize = 1 << 14;

pub trait PositionReader: Send {
    /// Appends some records; false at the end of the file.
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool>;

    /// Appends about [`BATCH`] records; false, with nothing appended, at the end of the file.
    fn next_batch(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let before = records.len();
        while records.len() - before < BATCH {
            let start = records.len();
            match self.read(records) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if self.reads_games() => {
                    records.truncate(start);
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(records.len() > before)
    }

    /// Tests whether each read is of whole games: what an error leaves of one has no distances.
    fn reads_games(&self) -> bool {
        false
    }

    /// Tests whether the file has mean results of equal positions.
    fn means(&self) -> bool {
        false
    }

    /// Tests whether the reader applies the options for scores itself.
    fn reads_scores(&self) -> bool {
        false
    }

    /// Facts missing from this file, though its format could carry them.
    fn lacks(&self) -> Capabilities {
        Capabilities::NONE
    }

    /// Search that found the leaves, if the file has leaves.
    fn resolved(&self) -> Option<String> {
        None
    }

    /// Tests whether [`ExtraRows`](crate::extra_rows::ExtraRows) gets visits from the file.
    fn has_visits(&self) -> bool {
        false
    }
}

pub trait PositionWriter: Send {
    /// Writes records; returns the number of records dropped because of an illegal move.
    fn write(&mut self, records: &[Record]) -> Result<u64>;

    /// Number of games interrupted by missing positions.
    fn gaps(&self) -> u64 {
        0
    }

    fn metadata(&mut self) -> Option<&mut Metadata> {
        None
    }

    /// Writes records with the values of the unknown columns, or of [`visits`](crate::visits) alone.
    fn write_with(&mut self, records: &[Record], _extra: Vec<ExtraRow>) -> Result<u64> {
        self.write(records)
    }

    fn finish(self: Box<Self>) -> Result<()>;
}
