//! marlinformat: 32 bytes a position, as stored by several Rust engines.
//!
//! The board as in [`patzer_chess::PackedBoard`], then side to move and en passant square in one byte, halfmove clock,
//! move number (u16), score (i16) and result (0 to 2) from White's side, and a byte without meaning. Little-endian. It
//! is the start of a game in viriformat, with a score. Source: jnlt3/marlinflow, `marlinformat/src/lib.rs`.

use crate::Record;
use crate::bytes::field;
use crate::foreign::viri;
use crate::replay;

pub const RECORD: usize = 32;

pub fn decode(packed: &[u8; RECORD]) -> Result<Record, &'static str> {
    let (position, result) = viri::decode_header(packed).ok_or("its position or its result is not legal")?;
    let mut record = replay::still(&position);
    let white = i16::from_le_bytes(field(packed, 28));
    let score = record.turn.fold_wb(white, white.saturating_neg());
    replay::annotate(&mut record, &position, None, Some(score));
    Ok(Record { result, ..record })
}

pub fn encode(record: &Record) -> [u8; RECORD] {
    let mut packed = viri::encode_header(record);
    let score = record.score.unwrap_or(0);
    let white = record.turn.fold_wb(score, score.saturating_neg());
    packed[28..30].copy_from_slice(&white.to_le_bytes());
    packed
}
