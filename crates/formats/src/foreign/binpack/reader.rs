//! Decodes blocks to records.

use super::bits::{BitReader, PADDING, unfolded};
use super::stem::{self, STEM};
use super::{LONGEST_BLOCK, MAGIC, moves, score};
use crate::Record;
use crate::codec::PositionReader;
use crate::replay::{self, Replay, pseudo_legal};
use crate::stream::Input;
use patzer_chess::PackedMove;
use patzer_io::error::Result;
use patzer_pgn::Placeholders;
use shakmaty::Move;

pub struct Reader {
    input: Input,
    /// The block, followed by [`PADDING`].
    block: Vec<u8>,
    /// Decoded bytes of the block.
    used: usize,
    chains: u32,
    placeholders: Placeholders,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        Reader { input, block: Vec::new(), used: 0, chains: 0, placeholders: Placeholders::default() }
    }

    /// Reads the next block; false at the end of the file.
    fn next_block(&mut self) -> Result<bool> {
        let start = self.input.offset;
        let mut header = [0; 8];
        let filled = self.input.fill(&mut header)?;
        let error = |reason: &str| Err(self.input.byte_error(start, reason));
        match filled {
            0 => return Ok(false),
            8 => {}
            _ => return error("the file ends within the header of a block"),
        }
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        if &header[..4] != MAGIC {
            return error("no block starts here (it would with BINP)");
        }
        if length > LONGEST_BLOCK {
            return error("a block of more than 100 MiB");
        }
        self.block.clear();
        self.used = 0;
        if self.input.take(length.into(), &mut self.block)? < length.into() {
            return Err(self.input.byte_error(start, "the file ends within this block"));
        }
        self.block.extend_from_slice(&[0; PADDING]);
        Ok(true)
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        if self.used + PADDING >= self.block.len() {
            return self.next_block();
        }
        let start = self.input.offset - (self.block.len() - PADDING - self.used) as u64;
        match decode(&self.block[self.used..], self.chains, records, &mut self.placeholders) {
            Ok(used) => self.used += used,
            Err(reason) => return Err(self.input.byte_error(start, format!("{reason} in this chain"))),
        }
        self.chains = self.chains.wrapping_add(1);
        Ok(true)
    }

    fn reads_games(&self) -> bool {
        true
    }
}

/// Decodes the chain at the start of `bytes`, which end with the padding; returns its length in bytes.
fn decode(
    bytes: &[u8],
    game: u32,
    records: &mut Vec<Record>,
    placeholders: &mut Placeholders,
) -> std::result::Result<usize, &'static str> {
    const ENDS: &str = "the block ends";
    let first = records.len();
    let (stem, rest) = bytes.split_first_chunk::<STEM>().ok_or(ENDS)?;
    let (count, rest) = rest.split_first_chunk::<2>().ok_or(ENDS)?;
    if rest.len() < PADDING {
        return Err(ENDS);
    }
    let plies = u16::from_be_bytes(*count);
    let stem = stem::decode(stem)?;
    if stem.played == PackedMove::NONE {
        if plies > 0 {
            return Err("plies after no move");
        }
        let mut record = replay::still(&stem.position);
        replay::annotate(&mut record, &stem.position, None, score(stem.score));
        records.push(Record { game, result: stem.result, ..record });
        placeholders.mark(&mut records[first..]);
        return Ok(STEM + 2);
    }
    let played = stem.played.unpack(&stem.position).ok_or("an illegal move")?;
    let mut game = Replay::new(stem.position, game, stem.result);
    records.push(game.play(played, score(stem.score)).ok_or("an illegal move")?);
    let (mut bits, mut last) = (BitReader::new(rest), stem.score);
    for _ in 0..plies {
        let m = moves::take(&mut bits, game.position()).ok_or("bits that name no move")?;
        if matches!(m, Move::Castle { .. }) && !pseudo_legal(game.position(), m) {
            return Err("an illegal castling move");
        }
        let change = bits.take_blocks().ok_or("bits that name no score")?;
        last = last.wrapping_neg().wrapping_add(unfolded(change));
        records.push(game.play(m, score(last)).ok_or("an illegal move")?);
    }
    replay::close(&mut records[first..], game.mate(), placeholders);
    Ok(STEM + 2 + bits.bytes())
}
