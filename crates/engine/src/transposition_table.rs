//! The transposition table: what earlier searches found out about positions.
//!
//! In: a position's key with what was found. Out: the same again, unless a more useful entry took the place.
//! Four entries of 16 bytes share a cache line; the whole key is stored, so two positions never share an entry.
//! All threads of a search share one table.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use patzer_chess::PackedMove;
use patzer_chess::huge_pages::prefer_large_pages;
use patzer_chess::prefetch::prefetch;
use patzer_chess::score::{MATE_IN_MAX, Score, mated_in};

/// How a stored score relates to the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// The score is exact.
    Exact = 1,
    /// The true score is at least this: a beta cut-off.
    Lower = 2,
    /// The true score is at most this: no move raised alpha.
    Upper = 3,
}

/// The least depth of an entry, in plies.
pub const SHALLOWEST: i32 = -1;

/// What the table knows about a position.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The best move found, or [`PackedMove::NONE`].
    pub best: PackedMove,
    /// Centipawns from the side to move; mates count from this position.
    pub score: Score,
    /// The static evaluation, `None` in check.
    pub eval: Option<Score>,
    /// How deep the score was searched, in plies: 0 is quiescence with quiet checks, [`SHALLOWEST`] without.
    pub depth: i32,
    /// What the score means.
    pub bound: Bound,
    /// Whether the position has been part of a principal variation.
    pub pv: bool,
}

impl Entry {
    /// A static evaluation alone, with a bound that says nothing.
    pub fn evaluated(eval: Score, pv: bool) -> Entry {
        let (best, score, bound) = (PackedMove::NONE, mated_in(0), Bound::Lower);
        Entry { best, score, eval: Some(eval), depth: 0, bound, pv }
    }

    /// Whether the score decides a search with this window.
    pub fn decides(&self, alpha: Score, beta: Score) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        }
    }

    /// The stored score where it says more about the position than its static evaluation does.
    pub fn refine(&self, eval: Score) -> Score {
        match self.bound {
            Bound::Exact => self.score,
            Bound::Lower => eval.max(self.score),
            Bound::Upper => eval.min(self.score),
        }
    }
}

/// A mate score counts from the root in the search, and from the position itself in the table, where it is found
/// again at another distance from the root.
fn from_root(score: Score, ply: usize) -> Score {
    if score >= MATE_IN_MAX {
        score + ply as Score
    } else if score <= -MATE_IN_MAX {
        score - ply as Score
    } else {
        score
    }
}

fn to_root(score: i16, ply: usize) -> Score {
    let score = Score::from(score);
    if score >= MATE_IN_MAX {
        score - ply as Score
    } else if score <= -MATE_IN_MAX {
        score + ply as Score
    } else {
        score
    }
}

const NO_EVAL: i16 = i16::MIN;
/// Less than anything is worth: of the slot that holds the same position. An empty one is worth one more.
const REPLACED_FIRST: i32 = -1024;
/// Ages count modulo this; they share a byte with the two bits of the bound and the one of the variation.
const AGES: u8 = 32;

/// What a slot holds beside the key, as 64 bits: move, score, evaluation, depth, kind.
#[derive(Debug, Clone, Copy)]
struct Data {
    best: PackedMove,
    score: i16,
    eval: i16,
    /// Plies beyond [`SHALLOWEST`].
    depth: u8,
    /// Age × 8 + variation × 4 + bound; 0 is an empty slot.
    kind: u8,
}

impl Data {
    const EMPTY: Data = Data { best: PackedMove::NONE, score: 0, eval: 0, depth: 0, kind: 0 };

    #[inline]
    fn pack(self) -> u64 {
        u64::from(self.best.0)
            | u64::from(self.score as u16) << 16
            | u64::from(self.eval as u16) << 32
            | u64::from(self.depth) << 48
            | u64::from(self.kind) << 56
    }

    #[inline]
    fn unpack(bits: u64) -> Data {
        Data {
            best: PackedMove(bits as u16),
            score: (bits >> 16) as i16,
            eval: (bits >> 32) as i16,
            depth: (bits >> 48) as u8,
            kind: (bits >> 56) as u8,
        }
    }

    #[inline]
    fn bound(self) -> Option<Bound> {
        match self.kind & 3 {
            1 => Some(Bound::Exact),
            2 => Some(Bound::Lower),
            3 => Some(Bound::Upper),
            _ => None,
        }
    }

    /// How much this is worth keeping: deep and recent.
    #[inline]
    fn worth(self, age: u8) -> i32 {
        if self.kind == 0 {
            return REPLACED_FIRST + 1;
        }
        let searches_ago = (AGES + age - (self.kind >> 3)) % AGES;
        i32::from(self.depth) - 4 * i32::from(searches_ago)
    }
}

/// One entry, shared by all threads without locks. The key is stored combined with the data by exclusive or, so an
/// entry of which two threads wrote one half each does not match any key (Hyatt and Mann, "A Lockless Transposition
/// Table Implementation for Parallel Search", 2002).
#[derive(Debug, Default)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

impl Slot {
    /// The key and what is known about it.
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

/// Clusters in a MiB.
const LEAST: usize = (1 << 20) / size_of::<Cluster>();
/// Clusters that one thread clears at a time.
const CLEAR_AT_ONCE: usize = 1 << 16;

/// The table.
#[derive(Debug)]
pub struct Table {
    clusters: Vec<Cluster>,
    age: AtomicU8,
}

impl Table {
    /// A table of this many MiB, at least one.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub fn new(mb: usize) -> Result<Table, String> {
        let count = (mb.max(1) << 20) / size_of::<Cluster>();
        let mut clusters = Vec::new();
        clusters.try_reserve_exact(count).map_err(|_| format!("no memory for a table of {mb} MiB"))?;
        prefer_large_pages(&mut clusters);
        clusters.resize_with(count, Cluster::default);
        Ok(Table { clusters, age: AtomicU8::new(0) })
    }

    /// A table of one MiB.
    pub fn least() -> Table {
        Table::of(LEAST)
    }

    /// A table for one search of at most this many nodes: sixteen places for each, so that hardly anything is replaced,
    /// as far as a MiB goes.
    pub fn for_nodes(nodes: u64) -> Table {
        Table::of(nodes.saturating_mul(4).clamp(256, LEAST as u64) as usize)
    }

    fn of(clusters: usize) -> Table {
        Table { clusters: (0..clusters).map(|_| Cluster::default()).collect(), age: AtomicU8::new(0) }
    }

    /// Forgets everything, on all cores where the table is large.
    pub fn clear(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = self.clusters.len();
        let share = count.div_ceil(cores).max(CLEAR_AT_ONCE);
        let (first, rest) = self.clusters.split_at_mut(share.min(count));
        std::thread::scope(|scope| {
            for clusters in rest.chunks_mut(share) {
                scope.spawn(|| clusters.fill_with(Cluster::default));
            }
            first.fill_with(Cluster::default);
        });
        self.age = AtomicU8::new(0);
    }

    /// Begins a new search: what is there already becomes older by one.
    pub fn grow_older(&self) {
        self.age.store((self.age() + 1) % AGES, Relaxed);
    }

    #[inline]
    fn age(&self) -> u8 {
        self.age.load(Relaxed)
    }

    /// How much of the table this search has filled, in thousandths, judged by its first thousand entries.
    pub fn hashfull(&self) -> u32 {
        let slots = self.clusters.iter().take(250).flat_map(|cluster| &cluster.0);
        let age = self.age();
        let fresh = |slot: &&Slot| {
            let (_, data) = slot.load();
            data.kind != 0 && data.kind >> 3 == age
        };
        slots.filter(fresh).count() as u32
    }

    #[inline]
    fn index(&self, key: u64) -> usize {
        ((u128::from(key) * self.clusters.len() as u128) >> 64) as usize
    }

    /// Begins to fetch what is known about a position, which is asked for soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.clusters[self.index(key)]);
    }

    /// What is known about a position that stands `ply` plies from the root.
    #[inline]
    pub fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let slots = &self.clusters[self.index(key)].0;
        // Every slot is looked at: nothing foretells which of them it is, and to jump the wrong way takes longer.
        let held = slots.iter().rev().map(Slot::load);
        let none = (false, Data::EMPTY);
        let (found, data) = held.fold(none, |known, (at, data)| if at == key { (true, data) } else { known });
        if !found {
            return None;
        }
        Some(Entry {
            best: data.best,
            score: to_root(data.score, ply),
            eval: (data.eval != NO_EVAL).then_some(Score::from(data.eval)),
            depth: i32::from(data.depth) + SHALLOWEST,
            bound: data.bound()?,
            pv: data.kind & 4 != 0,
        })
    }

    /// Stores what was found about a position, in place of the least useful entry of its cluster.
    ///
    /// A shallower result about the same position does not replace a deeper one of this search unless it is exact.
    pub fn store(&self, key: u64, ply: usize, entry: Entry) {
        let age = self.age();
        let slots = &self.clusters[self.index(key)].0;
        // Of equal ones the first, by the place in the low bits.
        let worth = |i: usize| {
            let (found, data) = slots[i].load();
            let worth = if found == key { REPLACED_FIRST } else { data.worth(age) };
            worth * 4 + i as i32
        };
        let at = worth(0).min(worth(1)).min(worth(2)).min(worth(3)).rem_euclid(4) as usize;
        let (found, old) = slots[at].load();
        let same = found == key && old.kind != 0;
        let fresh = old.kind >> 3 == age;
        if same && fresh && entry.bound != Bound::Exact && entry.depth + 3 < i32::from(old.depth) + SHALLOWEST
        {
            return;
        }
        // A search that found no good move does not forget the move of one that did.
        let best = if same && entry.best == PackedMove::NONE { old.best } else { entry.best };
        let data = Data {
            best,
            score: from_root(entry.score, ply) as i16,
            eval: entry.eval.map_or(NO_EVAL, |eval| eval as i16),
            depth: (entry.depth - SHALLOWEST).clamp(0, 255) as u8,
            kind: age << 3 | u8::from(entry.pv) << 2 | entry.bound as u8,
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
    fn entries_are_sixteen_bytes_four_to_a_cache_line() {
        assert_eq!(size_of::<Slot>(), 16);
        assert_eq!(size_of::<Cluster>(), 64);
        assert_eq!(Table::new(3).unwrap().clusters.len() * size_of::<Cluster>(), 3 << 20);
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let mut table = Table::new(1).unwrap();
        assert!(table.probe(99, 0).is_none());
        assert!(table.probe(0, 0).is_none(), "an empty slot is not an entry for key 0");
        table.store(99, 0, entry(120, 5));
        let found = table.probe(99, 3).unwrap();
        assert_eq!((found.score, found.eval, found.depth), (120, Some(-3), 5));
        assert_eq!((found.best, found.bound, found.pv), (PackedMove(7), Bound::Lower, true));
        table.clear();
        assert!(table.probe(99, 0).is_none());
    }

    #[test]
    fn an_evaluation_alone_decides_nothing() {
        let table = Table::new(1).unwrap();
        table.store(99, 4, Entry::evaluated(-45, false));
        let found = table.probe(99, 2).unwrap();
        assert_eq!((found.eval, found.depth, found.best), (Some(-45), 0, PackedMove::NONE));
        assert!([-20_000, -45, 20_000].iter().all(|&beta| !found.decides(beta - 1, beta)));
        assert!([-20_000, -45, 20_000].iter().all(|&eval| found.refine(eval) == eval));
    }

    #[test]
    fn mates_are_counted_from_the_position() {
        let table = Table::new(1).unwrap();
        // Seen 4 plies from the root, mate at ply 7 of the line: a mate in 3 plies from the position.
        table.store(5, 4, entry(mate_in(7), 9));
        assert_eq!(table.probe(5, 0).unwrap().score, mate_in(3));
        assert_eq!(table.probe(5, 10).unwrap().score, mate_in(13));
        table.store(6, 4, entry(-mate_in(8), 9));
        assert_eq!(table.probe(6, 2).unwrap().score, -mate_in(6));
    }

    #[test]
    fn the_oldest_and_shallowest_entry_gives_way() {
        let table = Table::new(1).unwrap();
        // Small keys share the first cluster.
        for key in 1..=4 {
            table.store(key, 0, entry(0, 10 + key as i32));
        }
        table.store(5, 0, entry(0, 1));
        assert!(table.probe(1, 0).is_none());
        table.grow_older();
        table.store(4, 0, entry(0, 1));
        table.grow_older();
        table.grow_older();
        table.store(6, 0, entry(0, 1));
        assert!(table.probe(5, 0).is_none());
        assert_eq!(
            table.probe(4, 0).unwrap().depth,
            1,
            "an older result of another search gives way to a new one"
        );
    }
}
