//! Training batches from memory or from a stream larger than memory, in an order fixed by seed and data.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use sha2::{Digest, Sha256};

use super::{Settings, TrainItem};
use crate::permutation::permutation;
use patzer_chess::rng::mix;
use patzer_io::error::{Error, Result};
use patzer_prepare::Prepared;

/// Receives a batch of indices into items; false ends the epoch.
pub(crate) type TakeBatch<'a> = dyn FnMut(&[TrainItem], &[u32]) -> Result<bool> + 'a;

/// Source of training batches.
pub trait DataLoader {
    /// Number of positions, or groups of them, of an epoch.
    fn positions(&self) -> usize;

    /// Number of batches of an epoch.
    fn batches(&self) -> usize;

    /// Size of the largest batch, in positions.
    fn largest(&self) -> usize;

    /// Hashes the identity of the data.
    fn hash(&self, hash: &mut Sha256);

    /// Runs an epoch, counted from 1. Epochs come in order but may start at any. An error ends the run.
    fn epoch(&mut self, epoch: usize, take: &mut TakeBatch<'_>) -> Result<()>;

    /// Sample of positions from all parts of the data, in whole groups; at most 65,536.
    fn sample(&self) -> Vec<TrainItem>;
}

/// Maximum number of positions to measure losses and errors on after the run.
pub(crate) const SAMPLE: usize = 1 << 16;

/// Items at equal distances in whole groups, at most `most`.
pub(crate) fn evenly(items: &[TrainItem], group: usize, most: usize) -> impl Iterator<Item = &TrainItem> {
    let groups = items.len() / group;
    let taken = groups.min(most / group);
    (0..taken).flat_map(move |n| &items[n * groups / taken * group..][..group])
}

pub(crate) fn hash_items(hash: &mut Sha256, items: &[TrainItem]) {
    for item in items {
        hash.update(item.board.0);
        hash.update([item.turn.is_black().into(), item.score.is_some().into()]);
        hash.update(item.result.to_le_bytes());
        hash.update(item.score.unwrap_or(0).to_le_bytes());
    }
}

/// Loader of positions in memory, in another order each epoch.
pub struct MemoryLoader<'a> {
    items: &'a [TrainItem],
    /// Files with weights: their number of positions, and the number that an epoch draws.
    files: Vec<[usize; 2]>,
    /// Order of groups, group size, and the expanded indices of a batch of groups.
    order: Vec<u32>,
    group: usize,
    expanded: Vec<u32>,
    batch: usize,
    seed: u64,
    /// Set if the features include the halfmove clock, or weights the ply; other networks keep their hash.
    sees_clock: bool,
    sees_ply: bool,
    /// Reads the positions of the passes after the first, if passes differ, with the settings of the loader.
    pub(crate) read_again: Option<(&'a ReadAgain<'a>, &'a Settings)>,
}

/// Reads the positions of a pass over the data, counted from 0.
pub(crate) type ReadAgain<'a> = dyn Fn(u64) -> Result<Prepared<TrainItem>> + 'a;

impl<'a> MemoryLoader<'a> {
    /// A loader of all positions. An error without positions, or for more than 2^32 − 1.
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
        let (files, expanded, seed) = (Vec::new(), Vec::new(), settings.seed);
        let sees_clock = settings.sees_clock();
        let sees_ply = settings.position_weight.is_some();
        Ok(MemoryLoader {
            items,
            files,
            order,
            group,
            expanded,
            batch,
            seed,
            sees_clock,
            sees_ply,
            read_again: None,
        })
    }

    /// A loader that draws files by their weights; `by_file` are their numbers of positions, in order.
    pub fn weighted(
        items: &'a [TrainItem],
        by_file: &[usize],
        settings: &Settings,
    ) -> Result<MemoryLoader<'a>> {
        let mut loader = MemoryLoader::new(items, settings)?;
        if settings.weights.is_empty() {
            return Ok(loader);
        }
        let most = settings.weights.iter().copied().fold(0.0, f32::max);
        let draws = |(count, weight): (&usize, &f32)| {
            [*count, (*count as f64 * f64::from(*weight) / f64::from(most)).ceil() as usize]
        };
        loader.files = by_file.iter().zip(&settings.weights).map(draws).collect();
        loader.order = vec![0; loader.files.iter().map(|[_, draws]| draws).sum()];
        Ok(loader)
    }

    /// Orders the positions of an epoch; a file that is passed several times gets another order each time.
    fn shuffle(&mut self, epoch: usize) {
        let seed = mix(self.seed, epoch as u64);
        permutation(seed, &mut self.order);
        if self.files.is_empty() {
            return;
        }
        let (mut drawn, mut first) = (Vec::with_capacity(self.order.len()), 0);
        for (file, [count, draws]) in self.files.iter().enumerate() {
            let mut order = vec![0; *count];
            let mut passed = None;
            for number in (epoch - 1) * draws..epoch * draws {
                let pass = number / count;
                if passed.replace(pass) != Some(pass) {
                    permutation(mix(mix(self.seed, file as u64), pass as u64), &mut order);
                }
                drawn.push(first + order[number % count]);
            }
            first += *count as u32;
        }
        self.order.iter_mut().for_each(|at| *at = drawn[*at as usize]);
    }

    /// Passes on the batches of an order of these positions.
    fn batches_of(&mut self, items: &[TrainItem], take: &mut TakeBatch<'_>) -> Result<()> {
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
            if !take(items, batch)? {
                break;
            }
        }
        Ok(())
    }
}

impl DataLoader for MemoryLoader<'_> {
    fn positions(&self) -> usize {
        self.order.len()
    }

    fn batches(&self) -> usize {
        self.order.len().div_ceil(self.batch)
    }

    fn largest(&self) -> usize {
        self.batch.min(self.order.len()) * self.group
    }

    fn hash(&self, hash: &mut Sha256) {
        self.files.iter().flatten().for_each(|count| hash.update(count.to_le_bytes()));
        hash_items(hash, self.items);
        if self.sees_clock {
            self.items.iter().for_each(|item| hash.update([item.halfmoves]));
        }
        if self.sees_ply {
            self.items.iter().for_each(|item| hash.update(item.ply.to_le_bytes()));
        }
    }

    fn epoch(&mut self, epoch: usize, take: &mut TakeBatch<'_>) -> Result<()> {
        if let Some((read_again, settings)) = self.read_again.filter(|_| epoch > 1) {
            let Prepared { train, by_file, .. } = read_again(epoch as u64 - 1)?;
            let mut pass = MemoryLoader::weighted(&train, &by_file, settings)?;
            pass.shuffle(epoch);
            // All passes have as many positions as the first, a few of them twice or not at all.
            self.order = pass.order.iter().copied().cycle().take(self.order.len()).collect();
            return self.batches_of(&train, take);
        }
        self.shuffle(epoch);
        self.batches_of(self.items, take)
    }

    /// Each file has its share of an epoch.
    fn sample(&self) -> Vec<TrainItem> {
        if self.files.is_empty() {
            return evenly(self.items, self.group, SAMPLE).copied().collect();
        }
        let (whole, mut rest, mut sample) = (self.order.len(), self.items, Vec::new());
        for [count, draws] in &self.files {
            let (file, others) = rest.split_at(*count);
            sample.extend(evenly(file, 1, SAMPLE.min(whole) * draws / whole));
            rest = others;
        }
        sample
    }
}

/// Sizes of an epoch of streamed data: equal shuffle buffers of whole batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Superbatch {
    /// Positions of a batch.
    pub batch: usize,
    /// Batches of a buffer.
    pub batches: usize,
    /// Buffers of an epoch.
    pub buffers: usize,
}

impl Superbatch {
    /// Divides epochs of about `superbatch` positions, shuffled at most `buffer` together.
    pub fn new(superbatch: usize, buffer: usize, batch: usize) -> Superbatch {
        let batch = batch.min(superbatch).max(1);
        let buffers = superbatch.div_ceil(buffer.max(batch)).max(1);
        Superbatch { batch, batches: (superbatch / buffers / batch).max(1), buffers }
    }

    /// Superbatches of a stream with these settings.
    pub fn of(settings: &Settings) -> Superbatch {
        Superbatch::new(settings.superbatch, settings.buffer, settings.batch)
    }

    /// Positions of a buffer.
    pub fn buffer_size(self) -> usize {
        self.batch * self.batches
    }

    /// Positions of an epoch.
    pub fn positions(self) -> usize {
        self.buffer_size() * self.buffers
    }
}

struct Buffer {
    items: Vec<TrainItem>,
    order: Vec<u32>,
}

/// Sending end of a stream: fills shuffle buffers for a [`StreamLoader`].
pub struct StreamSender {
    sender: SyncSender<Buffer>,
    /// Buffers already trained on, whose memory is used again.
    used: Receiver<Vec<TrainItem>>,
    items: Vec<TrainItem>,
    buffer_size: usize,
    seed: u64,
    count: u64,
}

impl StreamSender {
    /// Adds a position; false once the loader is gone.
    pub fn push(&mut self, item: TrainItem) -> bool {
        self.items.push(item);
        if self.items.len() < self.buffer_size {
            return true;
        }
        let mut order = vec![0; self.buffer_size];
        permutation(mix(self.seed, self.count), &mut order);
        self.count += 1;
        let mut next = self.used.try_recv().unwrap_or_default();
        next.clear();
        next.reserve(self.buffer_size);
        self.sender.send(Buffer { items: std::mem::replace(&mut self.items, next), order }).is_ok()
    }
}

/// Receiving end of a stream that a [`StreamSender`] on another thread fills.
pub struct StreamLoader {
    receiver: Receiver<Buffer>,
    used: Sender<Vec<TrainItem>>,
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
        let ((sender, receiver), (give_back, used)) = (sync_channel(1), channel());
        let buffer_size = superbatch.buffer_size();
        let items = Vec::with_capacity(buffer_size);
        let feeder = StreamSender { sender, used, items, buffer_size, seed, count: 0 };
        (feeder, StreamLoader { receiver, used: give_back, superbatch, identity, sample, passed: 0 })
    }

    fn receive(&self) -> Result<Buffer> {
        self.receiver.recv().map_err(|_| Error::input("reading positions ended; see the message before"))
    }
}

impl DataLoader for StreamLoader {
    fn positions(&self) -> usize {
        self.superbatch.positions()
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
            // A sender that is gone needs no memory.
            let _ = self.used.send(items);
        }
        self.passed += 1;
        Ok(())
    }

    fn sample(&self) -> Vec<TrainItem> {
        evenly(&self.sample, 1, SAMPLE).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_files_are_drawn_as_often_as_they_weigh() {
        let items = crate::tests::items(100, 1);
        let data = vec!["a".into(), "b".into()];
        let settings = Settings { data, weights: vec![1.0, 4.0], batch: 7, ..Settings::default() };
        let mut loader = MemoryLoader::weighted(&items, &[60, 40], &settings).unwrap();
        assert_eq!((loader.positions(), loader.batches()), (15 + 40, 8));
        let mut seen = vec![0; 100];
        let mut orders = Vec::new();
        for epoch in 1..=4 {
            let mut order = Vec::new();
            loader
                .epoch(epoch, &mut |_, batch| {
                    order.extend_from_slice(batch);
                    Ok(true)
                })
                .unwrap();
            order.iter().for_each(|at| seen[*at as usize] += 1);
            orders.push(order);
        }
        // Four epochs are one pass of the first file and four of the second.
        assert!(seen[..60].iter().all(|n| *n == 1) && seen[60..].iter().all(|n| *n == 4), "{seen:?}");
        assert_ne!(orders[0], orders[1]);
        // A run that goes on at an epoch has its order.
        let mut again = MemoryLoader::weighted(&items, &[60, 40], &settings).unwrap();
        let mut order = Vec::new();
        again
            .epoch(3, &mut |_, batch| {
                order.extend_from_slice(batch);
                Ok(true)
            })
            .unwrap();
        assert_eq!(order, orders[2]);
    }

    #[test]
    fn a_sample_is_of_all_files_as_often_as_they_are_drawn() {
        let mut items = crate::tests::items(1000, 1).repeat(106);
        items.iter_mut().zip(0..).for_each(|(item, n)| item.ply = (n / 1000) as u16);
        let most = |sample: &[TrainItem], ply: u16| sample.iter().filter(|item| item.ply < ply).count();
        let settings = Settings::default();
        let sample = MemoryLoader::new(&items, &settings).unwrap().sample();
        assert_eq!(sample.len(), SAMPLE);
        assert!(most(&sample, 50).abs_diff(SAMPLE * 50_000 / items.len()) <= 1);
        // Of 50,000 positions and the rest, the first are drawn a quarter as often.
        let (data, weights) = (vec!["a".into(), "b".into()], vec![0.25, 1.0]);
        let settings = Settings { data, weights, ..settings };
        let rest = items.len() - 50_000;
        let sample = MemoryLoader::weighted(&items, &[50_000, rest], &settings).unwrap().sample();
        assert!(sample.len() <= SAMPLE && sample.len() > SAMPLE - 2);
        assert!(most(&sample, 50).abs_diff(SAMPLE * 12_500 / (rest + 12_500)) <= 1);
        // Few positions are all taken, groups are whole.
        assert!(evenly(&items[..50], 1, 60).eq(&items[..50]));
        let groups: Vec<_> = evenly(&items[..3000], 3, 100).map(|item| item as *const TrainItem).collect();
        assert!(groups.len() == 99 && groups.chunks(3).all(|group| group[2] == group[0].wrapping_add(2)));
    }

    #[test]
    fn epochs_are_cut_into_whole_batches() {
        for ([superbatch, buffer, most], [batch, batches, buffers]) in [
            ([100_000, 1 << 20, 1000], [1000, 100, 1]),
            ([10_000_000, 4_000_000, 16_384], [16_384, 203, 3]),
            ([10, 5, 1000], [10, 1, 1]),
        ] {
            let expected = Superbatch { batch, batches, buffers };
            let found = Superbatch::new(superbatch, buffer, most);
            assert_eq!((found, found.positions()), (expected, batch * batches * buffers));
        }
    }
}
