//! Checks labels by asking the teacher again about a sample of the blocks.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use super::answer::Answer;
use super::blocks::{Blocks, Cut, legal};
use super::pool::{Block, Labeller, Labels};
use patzer_chess::rng::Rng;
use patzer_data::{DataFile, Record};
use patzer_io::error::{Error, Result};

/// Differences with an example; further ones are only counted.
const NAMED: usize = 10;

/// Result of a check of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Positions of the file.
    pub of: u64,
    /// Positions of the sample.
    pub positions: u64,
    pub differing: u64,
    pub examples: Vec<Difference>,
}

/// A position whose label is not the teacher's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Index in the file, from 0.
    pub row: u64,
    pub fen: String,
    /// In centipawns.
    pub score: Option<i16>,
    pub teacher: Option<i16>,
}

/// Draws a share of the blocks, one from each stretch of equal length.
pub fn sample(cut: &Cut, share: f64, seed: u64) -> BTreeSet<u64> {
    let blocks = cut.blocks.end - cut.blocks.start;
    let count = ((blocks as f64 * share).ceil() as u64).clamp(blocks.min(1), blocks);
    let mut rng = Rng::new(seed);
    let bound = |i: u64| (u128::from(blocks) * u128::from(i) / u128::from(count)) as u64;
    let draw = |i: u64| cut.blocks.start + bound(i) + rng.below((bound(i + 1) - bound(i)) as usize) as u64;
    (0..count).map(draw).collect()
}

/// Compares the labels of the sampled blocks with the labeller's answers, whose unit is worth `unit` centipawns.
pub fn verify(
    mut labeller: impl Labeller,
    data: DataFile<'_>,
    cut: &Cut,
    sample: &BTreeSet<u64>,
    unit: f64,
    halt: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Verified> {
    let mut found = Verified { of: cut.positions, ..Verified::default() };
    let (mut blocks, mut records) = (Blocks::open(data, cut)?, Vec::new());
    while let Some(block) = blocks.next(&mut records)? {
        if halt.load(Ordering::Relaxed) {
            return Err(Error::Interrupted("the labels were not all checked"));
        }
        progress(records.len() as u64);
        if !sample.contains(&block) {
            continue;
        }
        let asked = Block { number: block, records: &records, halt, trouble: &|_| {} };
        let interrupted = Error::Interrupted("the labels were not all checked");
        let Labels { answers, .. } = labeller.label(&asked)?.ok_or(interrupted)?;
        let first = block * cut.size as u64;
        for ((record, answer), row) in records.iter().zip(&answers).zip(first..) {
            found.compare(record, answer, row, unit)?;
        }
    }
    Ok(found)
}

impl Verified {
    fn compare(&mut self, record: &Record, answer: &Answer, row: u64, unit: f64) -> Result<()> {
        self.positions += 1;
        let mut asked = *record;
        answer.apply(&mut asked, unit);
        if asked == *record {
            return Ok(());
        }
        self.differing += 1;
        if self.examples.len() < NAMED {
            let fen = Fen::from_position(&legal(record)?, EnPassantMode::Legal).to_string();
            self.examples.push(Difference { row, fen, score: record.score, teacher: asked.score });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_its_share_of_every_stretch() {
        let cut = Cut { size: 64, blocks: 10..1010, positions: 64_000 };
        for (share, count) in [(0.0, 1), (0.001, 1), (0.05, 50), (1.0, 1000)] {
            let drawn = sample(&cut, share, 3);
            assert_eq!(drawn.len(), count);
            for (i, block) in drawn.iter().enumerate() {
                let stretch = 1000 / count;
                assert_eq!((*block as usize - 10) / stretch, i, "{share}");
            }
        }
        assert_ne!(sample(&cut, 0.05, 3), sample(&cut, 0.05, 4));
        assert!(sample(&Cut { size: 64, blocks: 0..0, positions: 0 }, 0.5, 1).is_empty());
    }
}
