//! marlinformat: 32 bytes a position, as stored by several Rust engines.
//!
//! The board as in [`patzer_chess::PackedBoard`], then side to move and en passant square in one byte, halfmove clock,
//! move number (u16), score (i16) and result (0 to 2) from White's side, and a byte without meaning. Little-endian. It
//! is the start of a game in viriformat, with a score. Source: jnlt3/marlinflow, `marlinformat/src/lib.rs`.

use crate::Record;
use crate::bytes::field;
use crate::codec::{BATCH, PositionReader};
use crate::foreign::viri;
use crate::replay;
use crate::stream::Input;
use patzer_io::error::Result;

const RECORD: usize = 32;

pub struct Reader {
    input: Input,
    buffer: Vec<u8>,
    game: u32,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        Reader { input, buffer: vec![0; BATCH / 4 * RECORD], game: 0 }
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let read = self.input.fixed::<RECORD>(&mut self.buffer)?;
        for (packed, at) in read.records.iter().zip((read.offset..).step_by(RECORD)) {
            let record = decode(packed)
                .ok_or_else(|| self.input.byte_error(at, "its position or its result is not legal"))?;
            records.push(Record { game: self.game, ..record });
            self.game = self.game.wrapping_add(1);
        }
        read.cut.map_or(Ok(!read.records.is_empty()), Err)
    }
}

pub fn decode(packed: &[u8; RECORD]) -> Option<Record> {
    let (position, result) = viri::decode_header(packed)?;
    let mut record = replay::still(&position);
    let white = i16::from_le_bytes(field(packed, 28));
    let score = record.turn.fold_wb(white, white.saturating_neg());
    replay::annotate(&mut record, &position, None, Some(score));
    Some(Record { result, ..record })
}

pub fn encode(record: &Record) -> [u8; RECORD] {
    let mut packed = viri::encode_header(record);
    let score = record.score.unwrap_or(0);
    let white = record.turn.fold_wb(score, score.saturating_neg());
    packed[28..30].copy_from_slice(&white.to_le_bytes());
    packed
}
