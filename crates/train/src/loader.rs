//! Training batches from memory or from a stream larger than memory, in an order fixed by seed and data.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use sha2::{Digest, Sha256};

use super::{Settings, TrainItem};
use crate::permutation::permutation;
use patzer_chess::rng::mix;
use patzer_io::error::{Error, Result};

/// Receives a batch of indices into items; false ends the epoch.
pub type TakeBatch<'a> = dyn FnMut(&[TrainItem], &[u32]) -> Result<bool> + 'a;

/// Source of training batches.
pub trait DataLoader {
    fn positions(&self) -> usize;

    fn batches(&self) -> usize;

    fn largest(&self) -> usize;

    fn hash(&self, hash: &mut Sha256);

    /// Runs an epoch, counted from 1. Epochs come in order but may start at any.
    fn epoch(&mut self, epoch: usize, take: &mut TakeBatch<'_>) -> Result<()>;

    fn sample(&self) -> &[TrainItem];
}

pub struct MemoryLoader<'a> {
    items: &'a [TrainItem],
    /// Order of groups, group size, and the expanded indices of a batch of groups.
    order: Vec<u32>,
    group: usize,
    expanded: Vec<u32>,
    batch: usize,
    seed: u64,
}

impl<'a> MemoryLoader<'a> {
    pub fn new(items: &'a [TrainItem], settings: &Settings) -> Result<MemoryLoader<'a>> {
        if items.is_empty() {
            return Err(Error::input("there are no positions to train on"));
        }
        let count = u32::try_from(items.len())
            .map_err(|_| Error::input(format!("{} positions are more than 2^32 - 1", items.len())))?;
        let group = settings.loss().group();
        if !items.len().is_multiple_of(group) {
            return Err(Error::internal(format!("{count} positions are not groups of {group}")));
        }
        let order = vec![0; count as usize / group];
        let batch = (settings.batch / group).max(1);
        Ok(MemoryLoader { items, order, group, expanded: Vec::new(), batch, seed: settings.seed })
    }
}

impl DataLoader for MemoryLoader<'_> {
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

    fn epoch(&mut self, epoch: usize, take: &mut TakeBatch<'_>) -> Result<()> {
        permutation(mix(self.seed, epoch as u64), &mut self.order);
        let (batches, count) = (self.batches(), self.order.len());
        for i in 0..batches {
            // Equal batches: a short last one would move the weights as far as a full one.
            let mut batch = &self.order[i * count / batches..(i + 1) * count / batches];
            if self.group > 1 {
                let group = self.group as u32;
                let members = |n: &u32| n * group..(n + 1) * group;
                self.expanded.clear();
                self.expanded.extend(batch.iter().flat_map(members));
                batch = &self.expanded;
            }
            if !take(self.items, batch)? {
                break;
            }
        }
        Ok(())
    }

    fn sample(&self) -> &[TrainItem] {
        self.items
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superbatch {
    pub batch: usize,
    pub batches: usize,
    pub buffers: usize,
}

impl Superbatch {
    /// Divides epochs of about `superbatch` positions, shuffled at most `buffer` together.
    pub fn new(superbatch: usize, buffer: usize, batch: usize) -> Superbatch {
        let batch = batch.min(superbatch).max(1);
        let buffers = superbatch.div_ceil(buffer.max(batch)).max(1);
        Superbatch { batch, batches: (superbatch / buffers / batch).max(1), buffers }
    }

    pub fn buffer_size(self) -> usize {
        self.batch * self.batches
    }
}

struct Buffer {
    items: Vec<TrainItem>,
    order: Vec<u32>,
}

pub struct StreamSender {
    sender: SyncSender<Buffer>,
    items: Vec<TrainItem>,
    buffer_size: usize,
    seed: u64,
    count: u64,
}

impl StreamSender {
    pub fn push(&mut self, item: TrainItem) -> bool {
        self.items.push(item);
        if self.items.len() < self.buffer_size {
            return true;
        }
        let mut order = vec![0; self.buffer_size];
        permutation(mix(self.seed, self.count), &mut order);
        self.count += 1;
        let next = Vec::with_capacity(self.buffer_size);
        self.sender.send(Buffer { items: std::mem::replace(&mut self.items, next), order }).is_ok()
    }
}

/// Receiving end of a stream that a [`StreamSender`] on another thread fills.
pub struct StreamLoader {
    receiver: Receiver<Buffer>,
    superbatch: Superbatch,
    identity: String,
    sample: Vec<TrainItem>,
    passed: usize,
}

impl StreamLoader {
    /// Creates both ends of a stream. `sample` is some of its positions, `identity` names its data.
    pub fn new(
        superbatch: Superbatch,
        seed: u64,
        identity: String,
        sample: Vec<TrainItem>,
    ) -> (StreamSender, StreamLoader) {
        // One buffer waits while one is trained on and one is filled.
        let (sender, receiver) = sync_channel(1);
        let items = Vec::with_capacity(superbatch.buffer_size());
        let feeder = StreamSender { sender, items, buffer_size: superbatch.buffer_size(), seed, count: 0 };
        (feeder, StreamLoader { receiver, superbatch, identity, sample, passed: 0 })
    }

    fn receive(&self) -> Result<Buffer> {
        self.receiver.recv().map_err(|_| Error::input("reading positions ended; see the message before"))
    }
}

impl DataLoader for StreamLoader {
    fn positions(&self) -> usize {
        self.superbatch.buffer_size() * self.superbatch.buffers
    }

    fn batches(&self) -> usize {
        self.superbatch.batches * self.superbatch.buffers
    }

    fn largest(&self) -> usize {
        self.superbatch.batch
    }

    fn hash(&self, hash: &mut Sha256) {
        hash.update(&self.identity);
    }

    fn epoch(&mut self, epoch: usize, take: &mut TakeBatch<'_>) -> Result<()> {
        // A resumed run reads again what it has seen, so that the rest is the same.
        while self.passed + 1 < epoch {
            (0..self.superbatch.buffers).try_for_each(|_| self.receive().map(drop))?;
            self.passed += 1;
        }
        for _ in 0..self.superbatch.buffers {
            let Buffer { items, order } = self.receive()?;
            for batch in order.chunks(self.superbatch.batch) {
                if !take(&items, batch)? {
                    return Ok(());
                }
            }
        }
        self.passed += 1;
        Ok(())
    }

    fn sample(&self) -> &[TrainItem] {
        &self.sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_cut_into_whole_batches() {
        for ([superbatch, buffer, most], [batch, batches, buffers]) in [
            ([100_000, 1 << 20, 1000], [1000, 100, 1]),
            ([10_000_000, 4_000_000, 16_384], [16_384, 203, 3]),
            ([10, 5, 1000], [10, 1, 1]),
        ] {
            let expected = Superbatch { batch, batches, buffers };
            assert_eq!(Superbatch::new(superbatch, buffer, most), expected);
        }
    }
}
