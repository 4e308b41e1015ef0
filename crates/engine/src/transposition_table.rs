//! Transposition table: four entries of 16 bytes to a cache line, with the full key, shared without locks.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::sync::{Mutex, PoisonError};

use patzer_chess::PackedMove;
use patzer_chess::huge_pages::{advise_huge_pages, try_with_capacity};
use patzer_chess::prefetch::prefetch;
use patzer_chess::score::{MATE_IN_MAX, Score, mated_in};

/// Kind of bound of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Bound {
    /// The true score.
    #[default]
    Exact = 1,
    /// Fail-high: the true score is at least this.
    Lower = 2,
    /// Fail-low: the true score is at most this.
    Upper = 3,
}

/// Depth of quiescence without quiet checks, the lowest depth of an entry.
pub(crate) const DEPTH_QS_NO_CHECKS: i32 = -1;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub best: PackedMove,
    /// Centipawns from the side to move; mates count from this position.
    pub score: Score,
    /// The static evaluation, `None` in check.
    pub eval: Option<Score>,
    pub depth: i32,
    pub bound: Bound,
    /// Set if the position has been part of a principal variation.
    pub pv: bool,
}

impl Entry {
    /// An entry that holds a static evaluation and an empty bound.
    pub(crate) fn evaluated(eval: Score, pv: bool) -> Entry {
        let (best, score, bound) = (PackedMove::NONE, mated_in(0), Bound::Lower);
        Entry { best, score, eval: Some(eval), depth: 0, bound, pv }
    }

    pub(crate) fn decides(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        }
    }

    pub(crate) fn refine(&self, eval: Score) -> Score {
        match self.bound {
            Bound::Exact => self.score,
            Bound::Lower => eval.max(self.score),
            Bound::Upper => eval.min(self.score),
        }
    }
}

/// Mate scores count from the root in the search, but from the position in the table.
fn shift_mate(score: Score, plies: Score) -> Score {
    match score {
        _ if score >= MATE_IN_MAX => score + plies,
        _ if score <= -MATE_IN_MAX => score - plies,
        _ => score,
    }
}

const NO_EVAL: i16 = i16::MIN;
/// Below any quality: replaces the slot of the same position first, then empty slots.
const SAME_POSITION: i32 = -1024;
/// Ages wrap at this; they share a byte with the bound and the PV flag.
const AGE_COUNT: u8 = 32;

#[derive(Debug, Clone, Copy)]
struct Data {
    best: PackedMove,
    score: i16,
    eval: i16,
    /// Relative to [`DEPTH_QS_NO_CHECKS`].
    depth: u8,
    /// Age × 8 + PV × 4 + bound; 0 is an empty slot.
    age_pv_bound: u8,
}

impl Data {
    const EMPTY: Data = Data { best: PackedMove::NONE, score: 0, eval: 0, depth: 0, age_pv_bound: 0 };

    #[inline]
    fn pack(self) -> u64 {
        u64::from(self.best.0)
            | u64::from(self.score as u16) << 16
            | u64::from(self.eval as u16) << 32
            | u64::from(self.depth) << 48
            | u64::from(self.age_pv_bound) << 56
    }

    #[inline]
    fn unpack(bits: u64) -> Data {
        Data {
            best: PackedMove(bits as u16),
            score: (bits >> 16) as i16,
            eval: (bits >> 32) as i16,
            depth: (bits >> 48) as u8,
            age_pv_bound: (bits >> 56) as u8,
        }
    }

    #[inline]
    fn bound(self) -> Option<Bound> {
        match self.age_pv_bound & 3 {
            1 => Some(Bound::Exact),
            2 => Some(Bound::Lower),
            3 => Some(Bound::Upper),
            _ => None,
        }
    }

    /// Replacement value: deep and recent entries stay.
    #[inline]
    fn quality(self, age: u8) -> i32 {
        if self.age_pv_bound == 0 {
            return SAME_POSITION + 1;
        }
        let searches_ago = (AGE_COUNT + age - (self.age_pv_bound >> 3)) % AGE_COUNT;
        i32::from(self.depth) - 4 * i32::from(searches_ago)
    }
}

/// A lock-free entry: the key is stored XOR the data, so an entry torn between two threads matches no key
/// (Hyatt and Mann, "A Lockless Transposition Table Implementation for Parallel Search", 2002).
#[derive(Debug, Default)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

impl Slot {
    #[inline]
    fn load(&self) -> (u64, Data) {
        let data = self.data.load(Relaxed);
        (self.check.load(Relaxed) ^ data, Data::unpack(data))
    }

    #[inline]
    fn store(&self, key: u64, data: u64) {
        self.check.store(key ^ data, Relaxed);
        self.data.store(data, Relaxed);
    }
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Cluster([Slot; 4]);

const CLUSTERS_PER_MIB: usize = (1 << 20) / size_of::<Cluster>();
const CLUSTERS_PER_THREAD: usize = 1 << 16;

/// A transposition table that the system has no memory for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The requested size, in MiB.
    pub mb: usize,
}

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no memory for a table of {} MiB", self.mb)
    }
}

impl std::error::Error for OutOfMemory {}

#[derive(Debug)]
pub(crate) struct TranspositionTable {
    clusters: Vec<Cluster>,
    age: AtomicU8,
}

impl TranspositionTable {
    pub(crate) fn new(mb: usize) -> Result<TranspositionTable, OutOfMemory> {
        let count = (mb.max(1) << 20) / size_of::<Cluster>();
        let mut clusters = try_with_capacity(count).map_err(|_| OutOfMemory { mb })?;
        advise_huge_pages(&mut clusters);
        clusters.resize_with(count, Cluster::default);
        Ok(TranspositionTable { clusters, age: AtomicU8::new(0) })
    }

    pub(crate) fn smallest() -> TranspositionTable {
        TranspositionTable::of(CLUSTERS_PER_MIB)
    }

    /// A table of sixteen slots for each node, up to 1 MiB, in which replacement is rare.
    pub(crate) fn for_nodes(nodes: u64) -> TranspositionTable {
        TranspositionTable::of(nodes.saturating_mul(4).clamp(256, CLUSTERS_PER_MIB as u64) as usize)
    }

    fn of(count: usize) -> TranspositionTable {
        let clusters = (0..count).map(|_| Cluster::default()).collect();
        TranspositionTable { clusters, age: AtomicU8::new(0) }
    }

    pub(crate) fn clear(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = self.clusters.len();
        let share = count.div_ceil(cores).max(CLUSTERS_PER_THREAD);
        let shares = Mutex::new(self.clusters.chunks_mut(share));
        let next = || shares.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(clusters) = next() {
                clusters.fill_with(Cluster::default);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..count.div_ceil(share) {
                // With fewer threads it takes longer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        self.age = AtomicU8::new(0);
    }

    pub(crate) fn new_search(&self) {
        self.age.store((self.age() + 1) % AGE_COUNT, Relaxed);
    }

    #[inline]
    fn age(&self) -> u8 {
        self.age.load(Relaxed)
    }

    /// Permille of slots filled by this search, sampled from the first thousand.
    pub(crate) fn hashfull(&self) -> u32 {
        let slots = self.clusters.iter().take(250).flat_map(|cluster| &cluster.0);
        let age = self.age();
        let fresh = |slot: &&Slot| {
            let (_, data) = slot.load();
            data.age_pv_bound != 0 && data.age_pv_bound >> 3 == age
        };
        slots.filter(fresh).count() as u32
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        ((u128::from(key) * self.clusters.len() as u128) >> 64) as usize
    }

    #[inline]
    pub(crate) fn prefetch(&self, key: u64) {
        prefetch(&self.clusters[self.index(key)]);
    }

    #[inline]
    pub(crate) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let slots = &self.clusters[self.index(key)].0;
        // Branchless over all slots: which one matches is unpredictable, and a misprediction costs more.
        let held = slots.iter().rev().map(Slot::load);
        let none = (false, Data::EMPTY);
        let (found, data) = held.fold(none, |known, (at, data)| if at == key { (true, data) } else { known });
        if !found {
            return None;
        }
        Some(Entry {
            best: data.best,
            score: shift_mate(data.score.into(), -(ply as Score)),
            eval: (data.eval != NO_EVAL).then_some(Score::from(data.eval)),
            depth: i32::from(data.depth) + DEPTH_QS_NO_CHECKS,
            bound: data.bound()?,
            pv: data.age_pv_bound & 4 != 0,
        })
    }

    /// Replaces the least valuable slot; a shallower result of this search replaces a deeper one only if exact.
    pub(crate) fn store(&self, key: u64, ply: usize, entry: Entry) {
        let age = self.age();
        let slots = &self.clusters[self.index(key)].0;
        // The index in the low bits breaks ties towards the first slot.
        let quality = |i: usize| {
            let (found, data) = slots[i].load();
            let quality = if found == key { SAME_POSITION } else { data.quality(age) };
            quality * 4 + i as i32
        };
        let at = quality(0).min(quality(1)).min(quality(2)).min(quality(3)).rem_euclid(4) as usize;
        let (found, old) = slots[at].load();
        let same = found == key && old.age_pv_bound != 0;
        let fresh = old.age_pv_bound >> 3 == age;
        let shallower = entry.depth + 3 < i32::from(old.depth) + DEPTH_QS_NO_CHECKS;
        if same && fresh && entry.bound != Bound::Exact && shallower {
            return;
        }
        // A fail-low without a move keeps the previous best move.
        let best = if same && entry.best == PackedMove::NONE { old.best } else { entry.best };
        let data = Data {
            best,
            score: shift_mate(entry.score, ply as Score) as i16,
            eval: entry.eval.map_or(NO_EVAL, |eval| eval as i16),
            depth: (entry.depth - DEPTH_QS_NO_CHECKS).clamp(0, 255) as u8,
            age_pv_bound: age << 3 | u8::from(entry.pv) << 2 | entry.bound as u8,
        };
        slots[at].store(key, data.pack());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::score::mate_in;

    fn entry(score: Score, depth: i32) -> Entry {
        Entry { best: PackedMove(7), score, eval: Some(-3), depth, bound: Bound::Lower, pv: true }
    }

    #[test]
    fn what_is_stored_is_found_again() {
        assert_eq!((size_of::<Slot>(), size_of::<Cluster>()), (16, 64));
        assert_eq!(TranspositionTable::new(3).unwrap().clusters.len() * size_of::<Cluster>(), 3 << 20);
        let mut table = TranspositionTable::new(1).unwrap();
        assert!(table.probe(99, 0).is_none());
        assert!(table.probe(0, 0).is_none(), "an empty slot is not an entry for key 0");
        table.store(99, 0, entry(120, 5));
        let found = table.probe(99, 3).unwrap();
        assert_eq!((found.score, found.eval, found.depth), (120, Some(-3), 5));
        assert_eq!((found.best, found.bound, found.pv), (PackedMove(7), Bound::Lower, true));
        table.clear();
        assert!(table.probe(99, 0).is_none());
        // An evaluation alone decides nothing.
        table.store(99, 4, Entry::evaluated(-45, false));
        let found = table.probe(99, 2).unwrap();
        assert_eq!((found.eval, found.depth, found.best), (Some(-45), 0, PackedMove::NONE));
        assert!([-20_000, -45, 20_000].iter().all(|&beta| !found.decides(beta - 1, beta)));
        assert!([-20_000, -45, 20_000].iter().all(|&eval| found.refine(eval) == eval));
    }

    #[test]
    fn mates_are_counted_from_the_position() {
        let table = TranspositionTable::new(1).unwrap();
        // At ply 4, mate at ply 7 of the line: mate in 3 plies from the position.
        table.store(5, 4, entry(mate_in(7), 9));
        assert_eq!(table.probe(5, 0).unwrap().score, mate_in(3));
        assert_eq!(table.probe(5, 10).unwrap().score, mate_in(13));
        table.store(6, 4, entry(-mate_in(8), 9));
        assert_eq!(table.probe(6, 2).unwrap().score, -mate_in(6));
    }

    #[test]
    fn the_oldest_and_shallowest_entry_gives_way() {
        let table = TranspositionTable::new(1).unwrap();
        // Small keys share the first cluster.
        for key in 1..=4 {
            table.store(key, 0, entry(0, 10 + key as i32));
        }
        table.store(5, 0, entry(0, 1));
        assert!(table.probe(1, 0).is_none());
        table.new_search();
        table.store(4, 0, entry(0, 1));
        table.new_search();
        table.new_search();
        table.store(6, 0, entry(0, 1));
        assert!(table.probe(5, 0).is_none());
        assert_eq!(table.probe(4, 0).unwrap().depth, 1, "an older search's result gives way to a new one");
    }
}
