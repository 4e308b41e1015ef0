//! A set of 128-bit position keys, made for hundreds of millions of insertions.
//!
//! Open addressing, 16 bytes a slot, four slots to a cache line: a key is searched in its home line and, where that is
//! full, in the following ones. Keys are random already ([`Record::key`](super::Record::key)), so their highest bits
//! are the place without hashing. Three things follow. The set has `SEGMENTS` segments of different initial sizes that
//! grow one after another: there is never a second table beside the first, nor a long pause. Growing passes once
//! through the old lines of a segment and once through the new ones, in order. And since the home of a key is known
//! beforehand, [`KeySet::insert_all`] prefetches the lines of coming keys, so that their cache misses overlap.

use patzer_chess::huge_pages::prefaulted;
use patzer_chess::prefetch::prefetch;

#[derive(Debug)]
pub struct KeySet {
    segments: Vec<Segment>,
    /// True if the key 0 is in the set.
    zero: bool,
}

#[derive(Debug)]
struct Segment {
    lines: Vec<CacheLine>,
    taken: usize,
}

/// Keys of one cache line in order of insertion; 0 is an empty slot.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct CacheLine([u128; LINE]);

const LINE: usize = 4;

const SEGMENTS: usize = 1 << SEGMENT_BITS;
const SEGMENT_BITS: u32 = 6;

const SMALLEST: usize = 1 << 4;

/// Prefetch distance in keys: about as many cache misses as a core can have in flight.
const AHEAD: usize = 16;

impl Default for KeySet {
    fn default() -> KeySet {
        KeySet::new()
    }
}

impl KeySet {
    pub fn new() -> KeySet {
        let lines = |segment: usize| (SMALLEST as f64 * (segment as f64 / SEGMENTS as f64).exp2()) as usize;
        let empty = |segment| Segment { lines: vec![CacheLine([0; LINE]); lines(segment)], taken: 0 };
        KeySet { segments: (0..SEGMENTS).map(empty).collect(), zero: false }
    }

    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.taken).sum::<usize>() + usize::from(self.zero)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = u128> + '_ {
        let lines = self.segments.iter().flat_map(|segment| &segment.lines);
        let keys = lines.flat_map(|line| line.0).filter(|key| *key != 0);
        self.zero.then_some(0).into_iter().chain(keys)
    }

    /// Upper bound of its bytes while `more` random keys are added: a segment gets hardly more than its share of them,
    /// and never twice that.
    pub fn bytes_with(&self, more: usize) -> usize {
        let share = 2 * more.div_ceil(SEGMENTS) + LINE * SMALLEST;
        let (mut lines, mut largest) = (0, 0);
        for segment in &self.segments {
            let after = segment.lines_with(share);
            lines += after;
            largest = largest.max(if after > segment.lines.len() { after / 2 } else { 0 });
        }
        (lines + largest) * size_of::<CacheLine>()
    }

    /// Adds a key; true if it was not there.
    #[inline]
    pub fn insert(&mut self, key: u128) -> bool {
        if key == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        self.segments[segment_of(key)].insert(key)
    }

    #[inline]
    pub fn contains(&self, key: u128) -> bool {
        if key == 0 { self.zero } else { self.segments[segment_of(key)].contains(key) }
    }

    /// Adds keys in their order; `new` gets for each whether it was absent.
    pub fn insert_all(&mut self, keys: &[u128], mut new: impl FnMut(bool)) {
        keys.iter().take(AHEAD).for_each(|key| self.prefetch_home(*key));
        for (at, key) in keys.iter().enumerate() {
            if let Some(later) = keys.get(at + AHEAD) {
                self.prefetch_home(*later);
            }
            new(self.insert(*key));
        }
    }

    #[inline]
    fn prefetch_home(&self, key: u128) {
        let segment = &self.segments[segment_of(key)];
        prefetch(&segment.lines[segment.home(key)]);
    }
}

#[inline]
fn segment_of(key: u128) -> usize {
    (key >> (128 - SEGMENT_BITS)) as usize
}

impl Segment {
    #[inline]
    fn insert(&mut self, key: u128) -> bool {
        if self.lines_with(1) > self.lines.len() {
            self.grow();
        }
        let new = self.place(key);
        self.taken += usize::from(new);
        new
    }

    #[inline]
    fn contains(&self, key: u128) -> bool {
        let mut at = self.home(key);
        loop {
            match self.lines[at].0.iter().find(|slot| **slot == key || **slot == 0) {
                Some(slot) => return *slot == key,
                None => at = if at + 1 == self.lines.len() { 0 } else { at + 1 },
            }
        }
    }

    /// The line at which the search for a key begins: as far from the first as the key is from the segment's lowest.
    #[inline]
    fn home(&self, key: u128) -> usize {
        let within = (key << SEGMENT_BITS) >> 64;
        ((within * self.lines.len() as u128) >> 64) as usize
    }

    /// Puts a key into its slot; false if it is there already. Needs an empty slot.
    #[inline]
    fn place(&mut self, key: u128) -> bool {
        let mut at = self.home(key);
        loop {
            for slot in &mut self.lines[at].0 {
                if *slot == 0 {
                    *slot = key;
                    return true;
                }
                if *slot == key {
                    return false;
                }
            }
            at = if at + 1 == self.lines.len() { 0 } else { at + 1 };
        }
    }

    /// Lines needed for `more` keys: at most two thirds full, since beyond that too many keys miss their home line.
    #[inline]
    fn lines_with(&self, more: usize) -> usize {
        let mut lines = self.lines.len();
        while (self.taken + more) * 3 > lines * LINE * 2 {
            lines *= 2;
        }
        lines
    }

    #[cold]
    fn grow(&mut self) {
        let larger = prefaulted(self.lines.len() * 2, CacheLine([0; LINE]));
        let old = std::mem::replace(&mut self.lines, larger);
        for key in old.into_iter().flat_map(|line| line.0).filter(|key| *key != 0) {
            self.place(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn it_agrees_with_the_standard_set() {
        let mut rng = patzer_chess::rng::Rng::new(3);
        // Few high bits, so that probing runs into neighbours and past the end.
        let mut key =
            || u128::from(rng.next_u64() & 0x3fff | 0x3fff << 50) << 64 | u128::from(rng.next_u64() & 1);
        let keys: Vec<u128> = (0..40_000).map(|_| key()).chain([0, 0, 1, 1]).collect();
        let mut theirs = HashSet::new();
        let expected: Vec<bool> = keys.iter().map(|key| theirs.insert(*key)).collect();
        let (mut one, mut many, mut new) = (KeySet::new(), KeySet::new(), Vec::new());
        assert_eq!(keys.iter().map(|key| one.insert(*key)).collect::<Vec<_>>(), expected);
        for some in keys.chunks(1001) {
            many.insert_all(some, |is_new| new.push(is_new));
        }
        assert_eq!(new, expected);
        assert_eq!((one.len(), many.len()), (theirs.len(), theirs.len()));
        assert_eq!(many.iter().collect::<HashSet<_>>(), theirs);
        let near = keys.iter().flat_map(|key| [*key, key ^ 1, key ^ 1 << 64]);
        near.for_each(|key| assert_eq!(many.contains(key), theirs.contains(&key)));
    }

    #[test]
    fn it_says_beforehand_how_much_memory_it_takes() {
        let (mut set, mut rng) = (KeySet::new(), patzer_chess::rng::Rng::new(5));
        let lines =
            |set: &KeySet| -> Vec<usize> { set.segments.iter().map(|segment| segment.lines.len()).collect() };
        for _ in 0..50 {
            let (foretold, mut before) = (set.bytes_with(1000), lines(&set));
            for _ in 0..1000 {
                set.insert(u128::from(rng.next_u64()) << 64);
                let after = lines(&set);
                // While a segment grows, what it had is there too.
                let grown: usize = before.iter().zip(&after).filter(|(b, a)| b != a).map(|(b, _)| *b).sum();
                assert!((after.iter().sum::<usize>() + grown) * size_of::<CacheLine>() <= foretold);
                before = after;
            }
        }
        assert!(set.bytes_with(1000) < 4 * 16 * set.len());
    }
}
