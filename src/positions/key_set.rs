//! A set of 128-bit position keys, made for hundreds of millions of insertions.
//!
//! In: keys. Out: whether each is new. Open addressing with linear probing, 16 bytes a slot. The keys are already
//! random ([`Sample::key`](super::Sample::key)), so they need no hashing: the highest bits are the slot. Two things
//! follow from that. Growing passes once through the old slots and once through the new ones, in order, instead of
//! jumping about. And since where a key belongs is known beforehand, [`KeySet::insert_all`] touches the slots of
//! many keys before it needs the first, so that their cache misses overlap.

/// A set of keys.
#[derive(Debug, Default)]
pub struct KeySet {
    /// A power of two in number, or none; 0 is an empty slot.
    slots: Vec<u128>,
    taken: usize,
    /// Whether the key 0 is in the set.
    zero: bool,
}

const SMALLEST: usize = 1 << 10;

/// How many keys' slots to touch at once: more than a core can wait for at a time, few enough to stay in its cache.
const AHEAD: usize = 32;

impl KeySet {
    /// An empty set.
    pub fn new() -> KeySet {
        KeySet::default()
    }

    /// How many keys are in the set.
    pub fn len(&self) -> usize {
        self.taken + usize::from(self.zero)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every key, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = u128> + '_ {
        self.zero.then_some(0).into_iter().chain(self.slots.iter().copied().filter(|key| *key != 0))
    }

    /// The most memory that it takes while so many more keys are added, in bytes.
    pub fn bytes_with(&self, more: usize) -> usize {
        let mut slots = self.slots.len();
        let mut peak = slots;
        while (self.taken + more) * 3 > slots * 2 {
            let larger = (slots * 2).max(SMALLEST);
            peak = slots + larger;
            slots = larger;
        }
        peak * size_of::<u128>()
    }

    /// Adds a key; true if it was not there.
    #[inline]
    pub fn insert(&mut self, key: u128) -> bool {
        self.reserve(1);
        self.insert_reserved(key)
    }

    /// Adds keys in their order, and tells of each whether it was not there.
    pub fn insert_all(&mut self, keys: &[u128], mut new: impl FnMut(bool)) {
        for some in keys.chunks(AHEAD) {
            self.reserve(some.len());
            let touched = some.iter().fold(0, |bits, key| bits | self.slots[self.home(*key)]);
            std::hint::black_box(touched);
            some.iter().for_each(|key| new(self.insert_reserved(*key)));
        }
    }

    #[inline]
    fn insert_reserved(&mut self, key: u128) -> bool {
        if key == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let new = self.place(key);
        self.taken += usize::from(new);
        new
    }

    /// The slot at which the search for a key begins.
    #[inline]
    fn home(&self, key: u128) -> usize {
        let shift = 64 - self.slots.len().trailing_zeros();
        ((key >> 64) as u64 >> shift) as usize
    }

    /// Puts a key into its slot; false if it is there already. There has to be an empty slot.
    #[inline]
    fn place(&mut self, key: u128) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = self.home(key);
        loop {
            let slot = &mut self.slots[at & mask];
            if *slot == 0 {
                *slot = key;
                return true;
            }
            if *slot == key {
                return false;
            }
            at += 1;
        }
    }

    /// Makes room for more keys: two thirds full at most, since beyond that linear probing gets slow.
    #[inline]
    fn reserve(&mut self, more: usize) {
        while (self.taken + more) * 3 > self.slots.len() * 2 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; (self.slots.len() * 2).max(SMALLEST)];
        let old = std::mem::replace(&mut self.slots, larger);
        for key in old.into_iter().filter(|key| *key != 0) {
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
        let mut rng = crate::rng::Rng::new(3);
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
    }

    #[test]
    fn it_says_beforehand_how_much_memory_it_takes() {
        let mut set = KeySet::new();
        for key in 1..5000u128 {
            let foretold = set.bytes_with(1);
            let before = set.slots.len();
            set.insert(key << 64);
            let grown = set.slots.len() != before;
            let peak = if grown { before + set.slots.len() } else { before };
            assert_eq!(foretold, peak * 16);
        }
    }
}
