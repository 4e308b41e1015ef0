//! Accumulators of networks whose blocks list their changes, with any mirroring and king buckets.
//! Each ply keeps the pieces of its accumulators and the key of each perspective. A new position usually differs from
//! the previous ply's by one move: only the difference is added and removed, listed once for both perspectives. After a
//! king move that changes the key, the update starts from whichever position differs least: the previous ply's, the one
//! last seen at this ply, or the last one seen with this key (Koivisto's refresh tables). Accumulators are wrapping
//! integers, so the result is that of a full refresh. The search needs no hook in making and unmaking moves (akimbo's
//! accumulator cache).

use shakmaty::{Board, Color};

use super::arena::{AccumulatorArena, PLIES, slot};
use super::block::Block;
use super::feature_table::FeatureTable;
use super::pieces::Pieces;
use super::row_changes::{PerspectiveKey, RowChanges};
use super::simd::Kernel;
use patzer_chess::score::MAX_PLY;

/// Castling changes the most squares of any move: it vacates two and occupies two.
const A_MOVE: u32 = 4;
/// A distance greater than that of any two boards.
const NEVER: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Snapshot {
    pieces: Pieces,
    keys: [PerspectiveKey; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    PreviousPly,
    SamePly,
    Refresh(usize),
}

#[derive(Debug, Clone)]
pub struct PieceStack {
    changes: RowChanges,
    plies: Vec<Snapshot>,
    accumulators: AccumulatorArena,
    refresh: Vec<Pieces>,
    refresh_accumulators: AccumulatorArena,
}

impl PieceStack {
    /// A stack for the rows that `changes` lists.
    pub fn new(table: &FeatureTable, changes: RowChanges) -> PieceStack {
        let keys = 4 * changes.king_buckets();
        PieceStack {
            changes,
            plies: vec![Snapshot { pieces: Pieces::NONE, keys: [PerspectiveKey::NONE; 2] }; MAX_PLY + 1],
            accumulators: AccumulatorArena::new(table, PLIES),
            refresh: vec![Pieces::NONE; keys],
            refresh_accumulators: AccumulatorArena::new(table, keys),
        }
    }

    #[inline]
    pub fn update(
        &mut self,
        table: &FeatureTable,
        kernel: Kernel,
        (board, halfmoves): (&Board, u8),
        perspectives: &[Color],
        ply: usize,
    ) {
        let ply = ply.min(MAX_PLY);
        let pieces = Pieces::of(board, halfmoves);
        let keys = self.changes.keys(board);
        let mut snapshot = Snapshot { pieces, keys: [PerspectiveKey::NONE; 2] };
        for &side in perspectives {
            snapshot.keys[usize::from(side.is_black())] = keys[usize::from(side.is_black())];
        }
        let previous = ply.checked_sub(1).map_or(NEVER, |ply| self.plies[ply].pieces.distance(&pieces));
        if previous <= A_MOVE && self.plies[ply - 1].keys == snapshot.keys {
            let from = self.plies[ply - 1].pieces;
            self.changes.list(&from, &pieces, keys);
            if self.changes.is_large() {
                for &side in perspectives {
                    let rows = self.changes.added(side).iter().chain(self.changes.removed(side));
                    rows.for_each(|&row| table.prefetch(row));
                }
            }
            for &side in perspectives {
                self.apply(table, kernel, Origin::PreviousPly, side, ply);
            }
        } else {
            self.update_from_afar(table, kernel, &pieces, keys, perspectives, (ply, previous));
        }
        self.plies[ply] = snapshot;
    }

    /// Slow path: a perspective is more than one move away from the previous ply's accumulator.
    fn update_from_afar(
        &mut self,
        table: &FeatureTable,
        kernel: Kernel,
        pieces: &Pieces,
        keys: [PerspectiveKey; 2],
        perspectives: &[Color],
        (ply, previous): (usize, u32),
    ) {
        let same = self.plies[ply].pieces.distance(pieces);
        let mut listed = None;
        for &side in perspectives {
            let key = keys[usize::from(side.is_black())];
            let origin = self.origin(pieces, side, key, ply, [previous, same]);
            if listed != Some(origin) {
                let from = match origin {
                    Origin::PreviousPly => self.plies[ply - 1].pieces,
                    Origin::SamePly => self.plies[ply].pieces,
                    Origin::Refresh(index) => self.refresh[index],
                };
                self.changes.list(&from, pieces, keys);
                listed = Some(origin);
            }
            self.apply(table, kernel, origin, side, ply);
            if let Origin::Refresh(index) = origin {
                self.refresh[index] = *pieces;
            }
        }
    }

    #[inline]
    pub fn accumulator(&self, side: Color, ply: usize) -> &[Block] {
        self.accumulators.at(slot(side, ply))
    }

    /// Picks the cheapest origin, given the distances to the positions of the previous ply and of this ply.
    #[inline]
    fn origin(
        &self,
        pieces: &Pieces,
        side: Color,
        key: PerspectiveKey,
        ply: usize,
        [previous, same]: [u32; 2],
    ) -> Origin {
        let key_matches = |ply: usize| self.plies[ply].keys[usize::from(side.is_black())] == key;
        let previous = if previous < NEVER && key_matches(ply - 1) { previous } else { NEVER };
        if previous <= A_MOVE {
            return Origin::PreviousPly;
        }
        let same = if key_matches(ply) { same } else { NEVER };
        let index = key.refresh_index(side);
        // Starting from the refresh table costs one more copy.
        let refresh = self.refresh[index].distance(pieces) + 1;
        if same <= previous.min(refresh) {
            Origin::SamePly
        } else if previous <= refresh {
            Origin::PreviousPly
        } else {
            Origin::Refresh(index)
        }
    }

    #[inline]
    fn apply(&mut self, table: &FeatureTable, kernel: Kernel, origin: Origin, side: Color, ply: usize) {
        let (added, removed) = (self.changes.added(side), self.changes.removed(side));
        let slot = slot(side, ply);
        match origin {
            Origin::PreviousPly => {
                let (from, to) = self.accumulators.before_and_at(slot);
                kernel.carry(table, from, to, added, removed);
            }
            Origin::SamePly => kernel.change(table, self.accumulators.at_mut(slot), added, removed),
            Origin::Refresh(index) => {
                let accumulator = self.refresh_accumulators.at_mut(index);
                kernel.change(table, accumulator, added, removed);
                self.accumulators.at_mut(slot).copy_from_slice(accumulator);
            }
        }
    }
}
