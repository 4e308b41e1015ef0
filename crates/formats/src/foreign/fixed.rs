//! Records of one size, each a position that stands for itself, decoded on all threads.

use rayon::prelude::*;

use crate::Record;
use crate::codec::{BATCH, PositionReader};
use crate::replay::UNKNOWN;
use crate::stream::{FixedRecords, Input};
use patzer_io::error::Result;

const CHUNK: usize = 1 << 10;

/// Reader of records of `N` bytes, each of which counts as a game.
pub struct FixedReader<const N: usize, D> {
    input: Input,
    buffer: Vec<u8>,
    game: u32,
    decode: D,
}

impl<const N: usize, D> FixedReader<N, D> {
    pub fn new(input: Input, decode: D) -> FixedReader<N, D> {
        FixedReader { input, buffer: vec![0; BATCH * N], game: 0, decode }
    }
}

impl<const N: usize, D> PositionReader for FixedReader<N, D>
where
    D: Fn(&[u8; N]) -> std::result::Result<Record, &'static str> + Send + Sync,
{
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let FixedRecords { offset, records: encoded, cut } = self.input.fixed::<N>(&mut self.buffer)?;
        let before = records.len();
        records.resize(before + encoded.len(), UNKNOWN);
        let chunks = records[before..].par_chunks_mut(CHUNK).zip(encoded.par_chunks(CHUNK)).enumerate();
        let errors = chunks.filter_map(|(nth, (records, encoded))| {
            let first = nth * CHUNK;
            let mut decoded = records.iter_mut().zip(encoded).enumerate();
            decoded.find_map(|(at, (record, packed))| match (self.decode)(packed) {
                Ok(decoded) => {
                    *record = Record { game: self.game.wrapping_add((first + at) as u32), ..decoded };
                    None
                }
                Err(reason) => Some((first + at, reason)),
            })
        });
        // Report the first error in file order.
        if let Some((at, reason)) = errors.min() {
            records.truncate(before + at);
            return Err(self.input.byte_error(offset + (at * N) as u64, reason));
        }
        self.game = self.game.wrapping_add(encoded.len() as u32);
        cut.map_or(Ok(!encoded.is_empty()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::bullet::{RECORD, decode, encode};
    use patzer_chess::PackedBoard;

    #[test]
    fn records_are_numbered_and_the_first_bad_one_is_reported() {
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        let record = Record { board: start, score: Some(20), result: 1, ..UNKNOWN };
        let mut bytes = encode(&record).repeat(BATCH + 3 * CHUNK);
        let read = |bytes: &[u8]| {
            let input = Input::of("x".as_ref(), Box::new(std::io::Cursor::new(bytes.to_vec())))?;
            let (mut reader, mut records) = (FixedReader::new(input, decode), Vec::new());
            while reader.next_batch(&mut records)? {}
            Ok(records)
        };
        let found: Vec<Record> = read(&bytes).unwrap();
        assert_eq!(found.len(), BATCH + 3 * CHUNK);
        assert!(found.iter().zip(0..).all(|(found, game)| found.game == game && found.result == 1));
        for bad in [BATCH + 2 * CHUNK, BATCH + 700, BATCH + 699] {
            bytes[bad * RECORD + 26] = 3;
            let error = read(&bytes).map_err(|error: patzer_io::error::Error| error.to_string()).err();
            let place = format!("x: byte {}: its result is none of 0, 1 and 2", bad * RECORD);
            assert_eq!(error.as_deref(), Some(&*place));
        }
        bytes.truncate(bytes.len() - 1);
        assert!(
            read(&bytes[..RECORD + 5])
                .is_err_and(|error| error.to_string().contains("byte 32: the file ends"))
        );
    }
}
