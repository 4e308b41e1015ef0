//! Accumulators of networks with any feature blocks, mirroring and king buckets.
//! Each ply keeps its active features as bits, and its king bucket. An update starts from whichever differs least: this
//! ply or the previous one, if the bucket matches, or the last position seen in the bucket (Koivisto's refresh tables).
//! Accumulators are wrapping integers, so the result is that of a full refresh.

use shakmaty::{Board, Color};

use super::architecture::RowNumbers;
use super::arena::{AccumulatorArena, PLIES, slot};
use super::block::Block;
use super::features::Perspective;
use super::network::Network;
use super::simd::Kernel;

#[derive(Debug, Clone)]
pub struct FeatureStack {
    plies: Snapshots,
    buckets: Snapshots,
    numbers: RowNumbers,
    words: Vec<u64>,
    added: Vec<u16>,
    removed: Vec<u16>,
}

#[derive(Debug, Clone)]
struct Snapshots {
    width: usize,
    buckets: Vec<u16>,
    words: Vec<u64>,
    accumulators: AccumulatorArena,
}

impl Snapshots {
    fn new(network: &Network, slots: usize) -> Snapshots {
        let width = network.architecture().features.words();
        Snapshots {
            width,
            buckets: vec![0; slots],
            words: vec![0; width * slots],
            accumulators: AccumulatorArena::new(&network.table, slots),
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

    #[inline]
    fn distance(&self, slot: usize, words: &[u64]) -> u32 {
        self.words(slot).iter().zip(words).map(|(a, b)| (a ^ b).count_ones()).sum()
    }
}

/// A side's perspective on a board, mirrored as the network wants it, and the side's king bucket.
#[inline]
pub fn oriented(
    network: &super::Architecture,
    board: &Board,
    halfmoves: u8,
    side: Color,
) -> (Perspective, usize) {
    let perspective = Perspective::new(board, halfmoves, side);
    let (flip, bucket) = network.orientation(perspective.king());
    (if flip > 0 { perspective.mirrored() } else { perspective }, bucket)
}

impl FeatureStack {
    pub fn new(network: &Network) -> FeatureStack {
        let mut buckets = Snapshots::new(network, 2 * network.architecture().king_bucket_count());
        // Two slots for each bucket, one for each perspective.
        buckets.buckets.iter_mut().zip(0..).for_each(|(bucket, slot)| *bucket = slot / 2);
        FeatureStack {
            plies: Snapshots::new(network, PLIES),
            buckets,
            numbers: network.architecture().row_numbers(),
            words: vec![0; network.architecture().features.words()],
            added: Vec::new(),
            removed: Vec::new(),
        }
    }

    pub fn update(
        &mut self,
        network: &Network,
        kernel: Kernel,
        (board, halfmoves): (&Board, u8),
        side: Color,
        ply: usize,
    ) {
        let slot = slot(side, ply);
        let (perspective, bucket) = oriented(network.architecture(), board, halfmoves, side);
        network.architecture().features.write(&perspective, &mut self.words);
        let stored = 2 * bucket + usize::from(side.is_black());
        let distance = |slot: usize| match usize::from(self.plies.buckets[slot]) == bucket {
            true => self.plies.distance(slot, &self.words),
            false => u32::MAX,
        };
        let same = distance(slot);
        let previous = if slot >= 2 { distance(slot - 2) } else { u32::MAX };
        // Starting from the bucket's accumulator costs one more copy.
        let refresh = self.buckets.distance(stored, &self.words) + 1;
        if same <= previous.min(refresh) {
            self.list(Origin::Ply(slot), bucket);
            kernel.change(&network.table, self.plies.accumulators.at_mut(slot), &self.added, &self.removed);
        } else if previous <= refresh {
            self.list(Origin::Ply(slot - 2), bucket);
            let (from, to) = self.plies.accumulators.before_and_at(slot);
            kernel.carry(&network.table, from, to, &self.added, &self.removed);
        } else {
            self.list(Origin::Bucket(stored), bucket);
            kernel.change(
                &network.table,
                self.buckets.accumulators.at_mut(stored),
                &self.added,
                &self.removed,
            );
            self.buckets.set(stored, bucket as u16, &self.words);
            self.plies.accumulators.at_mut(slot).copy_from_slice(self.buckets.accumulators.at(stored));
        }
        self.plies.set(slot, bucket as u16, &self.words);
    }

    #[inline]
    pub fn accumulator(&self, side: Color, ply: usize) -> &[Block] {
        self.plies.accumulators.at(slot(side, ply))
    }

    fn list(&mut self, origin: Origin, bucket: usize) {
        let from = match origin {
            Origin::Ply(slot) => self.plies.words(slot),
            Origin::Bucket(slot) => self.buckets.words(slot),
        };
        self.added.clear();
        self.removed.clear();
        for (i, (&from, &to)) in from.iter().zip(&self.words).enumerate() {
            for (mut bits, list) in [(to & !from, &mut self.added), (from & !to, &mut self.removed)] {
                while bits != 0 {
                    list.push(self.numbers.row(bucket, 64 * i + bits.trailing_zeros() as usize) as u16);
                    bits &= bits - 1;
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Origin {
    Ply(usize),
    Bucket(usize),
}
