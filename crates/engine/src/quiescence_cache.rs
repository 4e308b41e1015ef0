//! Quiescence cache: evaluations and score bounds of a small tree, whose capture orders transpose and whose
//! zero-window searches repeat. Entries compare all that decides a quiescence score: there are no collisions.

use shakmaty::{Chess, Position};

use patzer_chess::score::{INFINITE, Score};

/// Number of slots: more than nearly any tree has nodes, and few enough for the processor's cache.
const SLOTS: usize = 1024;

/// Castling rights decide no quiescence score. Three planes hold the roles in binary, with 7 on the empty en
/// passant square; the fourth holds Black's pieces, or their complement if Black is to move.
type Planes = [u64; 4];

pub(crate) struct CacheKey {
    planes: Planes,
    slot: usize,
}

impl CacheKey {
    #[inline]
    pub(crate) fn new(position: &Chess) -> CacheKey {
        let planes = planes(position);
        CacheKey { planes, slot: slot(&planes) }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheEntry {
    planes: Planes,
    pub eval: Option<Score>,
    pub low: Score,
    pub high: Score,
}

impl CacheEntry {
    const fn empty(planes: Planes) -> CacheEntry {
        CacheEntry { planes, eval: None, low: -INFINITE, high: INFINITE }
    }
}

pub(crate) struct QuiescenceCache {
    slots: Box<[CacheEntry]>,
}

impl QuiescenceCache {
    pub(crate) fn new() -> QuiescenceCache {
        // No position has black pieces everywhere.
        QuiescenceCache { slots: vec![CacheEntry::empty([0, 0, 0, u64::MAX]); SLOTS].into_boxed_slice() }
    }

    #[inline]
    pub(crate) fn entry(&mut self, key: &CacheKey) -> &mut CacheEntry {
        let entry = &mut self.slots[key.slot];
        if entry.planes != key.planes {
            *entry = CacheEntry::empty(key.planes);
        }
        entry
    }
}

#[inline]
fn planes(position: &Chess) -> Planes {
    let board = position.board();
    let en_passant = position.maybe_ep_square().map_or(0, |square| 1 << square as u32);
    let odd = board.pawns() | board.bishops() | board.queens();
    let twos = board.knights() | board.bishops() | board.kings();
    let fours = board.rooks() | board.queens() | board.kings();
    let black = position.turn().fold_wb(board.black(), !board.black());
    [odd.0 | en_passant, twos.0 | en_passant, fours.0 | en_passant, black.0]
}

#[inline]
fn slot(planes: &Planes) -> usize {
    let mix = |state: u64, plane: &u64| (state.rotate_left(29) ^ plane).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (planes.iter().fold(0, mix) >> 40) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::testing::from_fen;

    #[test]
    fn positions_that_differ_in_one_respect_have_entries_of_their_own() {
        let varied =
            ["p w - d6", "p w - -", "p b - -", "P w - -", "n w - -", "b w - -", "r w - -", "q w - -"];
        let seen = varied.map(|parts| {
            let (piece, rest) = parts.split_at(1);
            planes(&from_fen(&format!("4k3/8/8/3{piece}P3/8/8/8/4K3{rest} 0 1")))
        });
        for (i, a) in seen.iter().enumerate() {
            assert!(seen[..i].iter().all(|b| a != b), "{}", varied[i]);
        }
    }

    #[test]
    fn an_entry_lasts_until_another_position_needs_its_place() {
        let position = from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1");
        let mut cache = QuiescenceCache::new();
        let key = CacheKey::new(&position);
        assert_eq!(cache.entry(&key).eval, None);
        cache.entry(&key).eval = Some(7);
        assert_eq!(cache.entry(&key).eval, Some(7));
        let other = CacheEntry::empty([1, 2, 3, 4]);
        cache.slots.fill(other);
        assert_eq!(cache.entry(&key).eval, None);
    }
}
