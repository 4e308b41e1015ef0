//! Where the positions of a run come from: memory, or a stream that is larger than memory.
//!
//! In: positions. Out: for every epoch its batches, in an order that follows from the seed and the data alone.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use sha2::{Digest, Sha256};

use super::{Settings, TrainItem};
use crate::permutation::permutation;
use patzer_chess::rng::mix;
use patzer_io::error::{Error, Result};

/// Takes a batch, as indices into items; false ends the epoch.
pub type Take<'a> = dyn FnMut(&[TrainItem], &[u32]) -> Result<bool> + 'a;

/// Something that gives batches.
pub trait Source {
    /// Positions of an epoch.
    fn positions(&self) -> usize;

    /// PositionReader of an epoch.
    fn batches(&self) -> usize;

    /// Positions of the largest batch.
    fn largest(&self) -> usize;

    /// Adds what identifies the positions to a hash.
    fn hash(&self, hash: &mut Sha256);

    /// Goes through an epoch, counted from 1. Epochs come in order, from any one on.
    ///
    /// # Errors
    /// If positions cannot be read, or `take` fails.
    fn epoch(&mut self, epoch: usize, take: &mut Take<'_>) -> Result<()>;

    /// Some positions, for the error that quantising makes.
    fn record(&self) -> &[TrainItem];
}

/// Positions in memory; an epoch is one pass over them.
pub struct Memory<'a> {
    items: &'a [TrainItem],
    /// The order of the groups of items that stay together, and the items of a batch if they are more than one.
    order: Vec<u32>,
    group: usize,
    expanded: Vec<u32>,
    batch: usize,
    seed: u64,
}

impl<'a> Memory<'a> {
    /// Takes positions.
    ///
    /// # Errors
    /// If there are none, or more than 2^32 − 1.
    pub fn new(items: &'a [TrainItem], settings: &Settings) -> Result<Memory<'a>> {
        if items.is_empty() {
            return Err(Error::usage("there are no positions to train on"));
        }
        let count = u32::try_from(items.len())
            .map_err(|_| Error::usage(format!("{} positions are more than 2^32 - 1", items.len())))?;
        let group = settings.loss().group();
        if !items.len().is_multiple_of(group) {
            return Err(Error::internal(format!("{count} positions are not groups of {group}")));
        }
        let order = vec![0; count as usize / group];
        let batch = (settings.batch / group).max(1);
        Ok(Memory { items, order, group, expanded: Vec::new(), batch, seed: settings.seed })
    }
}

impl Source for Memory<'_> {
    fn positions(&self) -> usize {
        self.items.len()
    }

    fn batches(&self) -> usize {
        self.order.len().div_ceil(self.batch)
    }

    fn largest(&self) -> usize {
        self.batch.min(self.order.len()) * self.group
    }

    fn hash(&self, hash: &mut Sha256) {
        for item in self.items {
            hash.update(item.board.0);
            hash.update([item.turn.is_black().into(), item.score.is_some().into()]);
            hash.update(item.result.to_le_bytes());
            hash.update(item.score.unwrap_or(0).to_le_bytes());
        }
    }

    fn epoch(&mut self, epoch: usize, take: &mut Take<'_>) -> Result<()> {
        permutation(mix(self.seed, epoch as u64), &mut self.order);
        let (batches, count) = (self.batches(), self.order.len());
        for i in 0..batches {
            // PositionReader of equal size: a short last one would move the weights as far as a whole one.
            let mut batch = &self.order[i * count / batches..(i + 1) * count / batches];
            if self.group > 1 {
                let group = self.group as u32;
                self.expanded.clear();
                self.expanded
                    .extend(batch.iter().flat_map(|first| (0..group).map(move |at| first * group + at)));
                batch = &self.expanded;
            }
            if !take(self.items, batch)? {
                break;
            }
        }
        Ok(())
    }

    fn record(&self) -> &[TrainItem] {
        self.items
    }
}

/// How a stream is cut: each epoch into portions that are shuffled in memory, each portion into batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Positions of a batch.
    pub batch: usize,
    /// PositionReader of a portion.
    pub batches: usize,
    /// Portions of an epoch.
    pub portions: usize,
}

impl Cut {
    /// For epochs of about so many positions, of which at most `buffer` are shuffled together.
    pub fn new(superbatch: usize, buffer: usize, batch: usize) -> Cut {
        let batch = batch.min(superbatch).max(1);
        let portions = superbatch.div_ceil(buffer.max(batch)).max(1);
        Cut { batch, batches: (superbatch / portions / batch).max(1), portions }
    }

    /// Positions of a portion.
    pub fn portion(self) -> usize {
        self.batch * self.batches
    }
}

/// Positions that are trained on together, and their order.
struct Portion {
    items: Vec<TrainItem>,
    order: Vec<u32>,
}

/// What fills a stream: it collects positions, draws their order and hands both over.
pub struct Feeder {
    sender: SyncSender<Portion>,
    items: Vec<TrainItem>,
    portion: usize,
    seed: u64,
    count: u64,
}

impl Feeder {
    /// Adds a position; false when nobody wants more.
    pub fn push(&mut self, item: TrainItem) -> bool {
        self.items.push(item);
        if self.items.len() < self.portion {
            return true;
        }
        let mut order = vec![0; self.portion];
        permutation(mix(self.seed, self.count), &mut order);
        self.count += 1;
        let next = Vec::with_capacity(self.portion);
        self.sender.send(Portion { items: std::mem::replace(&mut self.items, next), order }).is_ok()
    }
}

/// Positions that come from a [`Feeder`] in another thread.
pub struct Stream {
    receiver: Receiver<Portion>,
    cut: Cut,
    /// What identifies the data.
    identity: String,
    record: Vec<TrainItem>,
    /// Epochs that were taken or skipped.
    passed: usize,
}

impl Stream {
    /// Both ends of a stream. `record` is some of its positions, `identity` names its data.
    pub fn new(cut: Cut, seed: u64, identity: String, record: Vec<TrainItem>) -> (Feeder, Stream) {
        // One portion waits while one is trained on and one is filled.
        let (sender, receiver) = sync_channel(1);
        let items = Vec::with_capacity(cut.portion());
        let feeder = Feeder { sender, items, portion: cut.portion(), seed, count: 0 };
        (feeder, Stream { receiver, cut, identity, record, passed: 0 })
    }

    fn portion(&self) -> Result<Portion> {
        self.receiver.recv().map_err(|_| Error::usage("reading positions ended; see the message before"))
    }
}

impl Source for Stream {
    fn positions(&self) -> usize {
        self.cut.portion() * self.cut.portions
    }

    fn batches(&self) -> usize {
        self.cut.batches * self.cut.portions
    }

    fn largest(&self) -> usize {
        self.cut.batch
    }

    fn hash(&self, hash: &mut Sha256) {
        hash.update(&self.identity);
    }

    fn epoch(&mut self, epoch: usize, take: &mut Take<'_>) -> Result<()> {
        // A run that goes on reads again what it has seen, so that what follows is the same.
        while self.passed + 1 < epoch {
            for _ in 0..self.cut.portions {
                self.portion()?;
            }
            self.passed += 1;
        }
        for _ in 0..self.cut.portions {
            let Portion { items, order } = self.portion()?;
            for batch in order.chunks(self.cut.batch) {
                if !take(&items, batch)? {
                    return Ok(());
                }
            }
        }
        self.passed += 1;
        Ok(())
    }

    fn record(&self) -> &[TrainItem] {
        &self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_cut_into_whole_batches() {
        assert_eq!(Cut::new(100_000, 1 << 20, 1000), Cut { batch: 1000, batches: 100, portions: 1 });
        assert_eq!(Cut::new(10_000_000, 4_000_000, 16_384), Cut { batch: 16_384, batches: 203, portions: 3 });
        assert_eq!(Cut::new(10, 5, 1000), Cut { batch: 10, batches: 1, portions: 1 });
    }
}
