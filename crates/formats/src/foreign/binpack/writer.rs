//! Encodes records to blocks.

use super::bits::{BitWriter, folded};
use super::stem::{self, LAST_PLY};
use super::{MAGIC, NO_SCORE, moves};
use crate::Record;
use crate::chain::Chain;
use crate::codec::PositionWriter;
use crate::stream::CompressedOutput;
use patzer_io::error::Result;

/// Bytes after which a block ends, as in Stockfish.
const BLOCK: usize = 1 << 20;

/// Bytes after which a chain ends: other programs reserve 10 KiB.
const LONGEST_CHAIN: usize = 8 << 10;

/// Blocks of the chains written so far.
#[derive(Default)]
struct Encoder {
    chain: Chain,
    /// Whole blocks with their heads.
    blocks: Vec<u8>,
    block: Vec<u8>,
    bits: BitWriter,
    /// Plies after the stem; `None` before the first chain.
    plies: Option<u16>,
    score: i16,
}

impl Encoder {
    /// Adds records; returns the number of those dropped because of an illegal move.
    fn add(&mut self, records: &[Record]) -> u64 {
        let mut illegal = 0;
        for record in records {
            if self.bits.bytes.len() > LONGEST_CHAIN || self.plies == Some(u16::MAX) {
                self.chain.split();
            }
            let Some(link) = self.chain.follow(record) else {
                illegal += 1;
                continue;
            };
            let score = record.score.unwrap_or(NO_SCORE);
            match &mut self.plies {
                Some(plies) if !link.starts => {
                    moves::put(&mut self.bits, &link.position, link.played);
                    self.bits.put_blocks(folded(score.wrapping_sub(self.score.wrapping_neg())));
                    *plies += 1;
                }
                _ => {
                    self.end_chain();
                    let ply = record.game_ply().min(u32::from(LAST_PLY)) as u16;
                    self.block.extend_from_slice(&stem::encode(record, link.played, score, ply));
                    self.plies = Some(0);
                }
            }
            self.score = score;
        }
        illegal
    }

    fn end_chain(&mut self) {
        if let Some(plies) = self.plies.take() {
            self.block.extend_from_slice(&plies.to_be_bytes());
            self.block.extend_from_slice(&self.bits.bytes);
            self.bits.clear();
        }
        if self.block.len() >= BLOCK {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        if !self.block.is_empty() {
            self.blocks.extend_from_slice(MAGIC);
            self.blocks.extend_from_slice(&(self.block.len() as u32).to_le_bytes());
            self.blocks.append(&mut self.block);
        }
    }

    fn end(&mut self) {
        self.end_chain();
        self.end_block();
    }
}

/// Encodes records as whole blocks, to be appended to a file.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.add(records);
    encoder.end();
    encoder.blocks
}

pub struct Writer {
    out: CompressedOutput,
    encoder: Encoder,
}

impl Writer {
    pub fn new(out: CompressedOutput) -> Writer {
        Writer { out, encoder: Encoder::default() }
    }

    fn put(&mut self) -> Result<()> {
        self.out.put(&self.encoder.blocks)?;
        self.encoder.blocks.clear();
        Ok(())
    }
}

impl PositionWriter for Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        let illegal = self.encoder.add(records);
        self.put().map(|()| illegal)
    }

    fn gaps(&self) -> u64 {
        self.encoder.chain.gaps
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.encoder.end();
        self.put()?;
        self.out.commit()
    }
}
