//! A set of 128-bit position keys, made for hundreds of millions of insertions.
//!
//! In: keys. Out: whether each is new. Open addressing with linear probing: one cache miss an insertion, and 16
//! bytes a slot. The keys are already random ([`Sample::key`](super::Sample::key)), so they need no hashing.

/// A set of keys.
#[derive(Debug)]
pub struct KeySet {
    /// A power of two in number; 0 is an empty slot.
    slots: Vec<u128>,
    taken: usize,
    /// Whether the key 0 is in the set.
    zero: bool,
}

const SMALLEST: usize = 1 << 10;

impl Default for KeySet {
    fn default() -> KeySet {
        KeySet::new()
    }
}

impl KeySet {
    /// An empty set.
    pub fn new() -> KeySet {
        KeySet { slots: Vec::new(), taken: 0, zero: false }
    }

    /// How many keys are in the set.
    pub fn len(&self) -> usize {
        self.taken + usize::from(self.zero)
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a key; true if it was not there.
    #[inline]
    pub fn insert(&mut self, key: u128) -> bool {
        if key == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        // Two thirds full at most: beyond that linear probing gets slow.
        if self.taken * 3 >= self.slots.len() * 2 {
            self.grow();
        }
        let new = place(&mut self.slots, key);
        self.taken += usize::from(new);
        new
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(SMALLEST)];
        for &key in self.slots.iter().filter(|key| **key != 0) {
            place(&mut slots, key);
        }
        self.slots = slots;
    }
}

/// Puts a key into its slot; false if it is there already. There has to be an empty slot.
#[inline]
fn place(slots: &mut [u128], key: u128) -> bool {
    let mask = slots.len() - 1;
    let mut at = key as usize & mask;
    loop {
        if slots[at] == 0 {
            slots[at] = key;
            return true;
        }
        if slots[at] == key {
            return false;
        }
        at = (at + 1) & mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_standard_set() {
        let mut rng = crate::rng::Rng::new(3);
        let (mut ours, mut theirs) = (KeySet::new(), std::collections::HashSet::new());
        for _ in 0..50_000 {
            // Few low bits, so that probing runs into neighbours.
            let key = u128::from(rng.next_u64() & 0x7fff) | u128::from(rng.next_u64() & 1) << 90;
            assert_eq!(ours.insert(key), theirs.insert(key));
        }
        assert_eq!(ours.len(), theirs.len());
    }
}
