//! Encodes records to blocks.

use super::bits::{BitWriter, folded};
use super::stem::{self, LAST_PLY};
use super::{MAGIC, NO_SCORE, moves};
use crate::Record;
use crate::format::any::PositionWriter;
use crate::format::chain::Chain;
use crate::format::stream::CompressedOutput;
use patzer_io::error::Result;

/// Bytes after which a block ends, as in Stockfish.
const BLOCK: usize = 1 << 20;

/// Bytes after which a chain ends: other programs reserve 10 KiB.
const LONGEST_CHAIN: usize = 8 << 10;

pub struct Writer {
    out: CompressedOutput,
    chain: Chain,
    block: Vec<u8>,
    bits: BitWriter,
    /// Plies after the stem; `None` before the first chain.
    plies: Option<u16>,
    score: i16,
}

impl Writer {
    pub fn new(out: CompressedOutput) -> Writer {
        Writer {
            out,
            chain: Chain::default(),
            block: Vec::new(),
            bits: BitWriter::default(),
            plies: None,
            score: 0,
        }
    }

    fn end_chain(&mut self) -> Result<()> {
        if let Some(plies) = self.plies.take() {
            self.block.extend_from_slice(&plies.to_be_bytes());
            self.block.extend_from_slice(&self.bits.bytes);
            self.bits.clear();
        }
        if self.block.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.out.put(MAGIC)?;
        self.out.put(&(self.block.len() as u32).to_le_bytes())?;
        self.out.put(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

impl PositionWriter for Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
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
                    self.end_chain()?;
                    let ply = record.game_ply().min(u32::from(LAST_PLY)) as u16;
                    self.block.extend_from_slice(&stem::encode(record, link.played, score, ply));
                    self.plies = Some(0);
                }
            }
            self.score = score;
        }
        Ok(illegal)
    }

    fn gaps(&self) -> u64 {
        self.chain.gaps
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.end_chain()?;
        self.end_block()?;
        self.out.commit()
    }
}
