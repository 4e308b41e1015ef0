//! The hidden layer of networks with any feature blocks, mirroring and input buckets, kept up to date.
//!
//! In: a position, the side that looks, and the distance from the root. Out: the sums of the hidden layer for that side.
//! Each ply keeps the features that its sums stand for, as bits, and the input bucket. A new position is compared with
//! those of its own ply and of the ply before, if the bucket is the same, and with the last position in the same bucket
//! that was built from there, whichever differs least; only the difference is added and removed. So a king that changes
//! its bucket costs the difference to when it was there before (the idea of Koivisto's refresh tables).
//!
//! Sums are integers that wrap, so the result is that of adding everything anew, whatever was stored.

use shakmaty::{Board, Color};

use super::features::View;
use super::network::{Block, Network};
use super::simd::Kernel;
use super::arena::{PLIES, Slots, slot};

/// The sums of every ply for both sides, and of every input bucket.
#[derive(Debug, Clone)]
pub struct SetStack {
    plies: Store,
    buckets: Store,
    words: Vec<u64>,
    added: Vec<u16>,
    removed: Vec<u16>,
}

/// Sums with what they stand for.
#[derive(Debug, Clone)]
struct Store {
    /// Words of a set.
    width: usize,
    buckets: Vec<u16>,
    words: Vec<u64>,
    sums: Slots,
}

impl Store {
    /// Of the empty set.
    fn new(network: &Network, slots: usize) -> Store {
        let width = network.architecture().features.words();
        Store {
            width,
            buckets: vec![0; slots],
            words: vec![0; width * slots],
            sums: Slots::new(network, slots),
        }
    }

    #[inline]
    fn words(&self, slot: usize) -> &[u64] {
        &self.words[self.width * slot..self.width * (slot + 1)]
    }

    #[inline]
    fn set(&mut self, slot: usize, bucket: u16, words: &[u64]) {
        self.buckets[slot] = bucket;
        self.words[self.width * slot..self.width * (slot + 1)].copy_from_slice(words);
    }

    /// How many features differ from those of a slot.
    #[inline]
    fn distance(&self, slot: usize, words: &[u64]) -> u32 {
        self.words(slot).iter().zip(words).map(|(a, b)| (a ^ b).count_ones()).sum()
    }
}

/// The board as a network's side sees it, and the input bucket of its king.
#[inline]
pub fn oriented(network: &super::Architecture, board: &Board, side: Color) -> (View, usize) {
    let view = View::new(board, side);
    let (flip, bucket) = network.orientation(view.king());
    (if flip > 0 { view.mirrored() } else { view }, bucket)
}

impl SetStack {
    /// A stack that has seen the empty board everywhere.
    pub fn new(network: &Network) -> SetStack {
        let mut buckets = Store::new(network, 2 * network.architecture().king_bucket_count());
        // Two slots for each bucket, one for each side.
        buckets.buckets.iter_mut().zip(0..).for_each(|(bucket, slot)| *bucket = slot / 2);
        SetStack {
            plies: Store::new(network, PLIES),
            buckets,
            words: vec![0; network.architecture().features.words()],
            added: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// Brings one side's sums of a ply up to date; [`SetStack::sums`] gives them.
    pub fn update(&mut self, network: &Network, kernel: Kernel, board: &Board, side: Color, ply: usize) {
        let slot = slot(side, ply);
        let (view, bucket) = oriented(network.architecture(), board, side);
        network.architecture().features.write(&view, &mut self.words);
        let stored = 2 * bucket + usize::from(side.is_black());
        let away = |slot: usize| match usize::from(self.plies.buckets[slot]) == bucket {
            true => self.plies.distance(slot, &self.words),
            false => u32::MAX,
        };
        let here = away(slot);
        let before = if slot >= 2 { away(slot - 2) } else { u32::MAX };
        // To start from a bucket's slot costs a copy more.
        let there = self.buckets.distance(stored, &self.words) + 1;
        if here <= before.min(there) {
            self.list(Place::Ply(slot), network, bucket);
            kernel.change(network, self.plies.sums.at_mut(slot), &self.added, &self.removed);
        } else if before <= there {
            self.list(Place::Ply(slot - 2), network, bucket);
            let (from, to) = self.plies.sums.before_and_at(slot);
            kernel.carry(network, from, to, &self.added, &self.removed);
        } else {
            self.list(Place::Bucket(stored), network, bucket);
            kernel.change(network, self.buckets.sums.at_mut(stored), &self.added, &self.removed);
            self.buckets.set(stored, bucket as u16, &self.words);
            self.plies.sums.at_mut(slot).copy_from_slice(self.buckets.sums.at(stored));
        }
        self.plies.set(slot, bucket as u16, &self.words);
    }

    /// The sums of a ply as a side sees it, as they were brought up to date last.
    #[inline]
    pub fn sums(&self, side: Color, ply: usize) -> &[Block] {
        self.plies.sums.at(slot(side, ply))
    }

    /// Lists the rows that differ from a place's.
    fn list(&mut self, place: Place, network: &Network, bucket: usize) {
        let base = bucket * network.architecture().features.count();
        let from = match place {
            Place::Ply(slot) => self.plies.words(slot),
            Place::Bucket(slot) => self.buckets.words(slot),
        };
        self.added.clear();
        self.removed.clear();
        for (i, (&from, &to)) in from.iter().zip(&self.words).enumerate() {
            for (mut bits, list) in [(to & !from, &mut self.added), (from & !to, &mut self.removed)] {
                while bits != 0 {
                    list.push((base + 64 * i + bits.trailing_zeros() as usize) as u16);
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Place {
    Ply(usize),
    Bucket(usize),
}
