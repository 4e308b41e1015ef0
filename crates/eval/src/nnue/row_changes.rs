//! The rows of a feature table that a change of the board adds and removes, for both perspectives at once.
//! Engine and trainer list rows here for `all` and for the blocks that have [`FeatureBlock::changes`]; from the empty
//! board the list has all active features.

use shakmaty::{Bitboard, Board, Color, Square};

use super::architecture::Architecture;
use super::features::changes::{BlockRows, BoardChange, Rows};
use super::features::{FeatureBlock, ListChanges, all};
use super::pieces::{Men, Pieces};

/// Perspective key: mirroring and bucket of a side, by its king's square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerspectiveKey {
    /// Xor mask for the files of squares: 7 if mirrored, else 0.
    flip: u16,
    base: u16,
}

impl PerspectiveKey {
    /// Key of a perspective without an accumulator.
    pub const NONE: PerspectiveKey = PerspectiveKey { flip: u16::MAX, base: u16::MAX };

    fn new(architecture: &Architecture, side: Color, king: Square) -> PerspectiveKey {
        let king = if side.is_white() { king } else { king.flip_vertical() } as usize;
        let (flip, bucket) = architecture.orientation(king);
        PerspectiveKey { flip: flip as u16, base: (bucket * all::COUNT) as u16 }
    }

    #[inline]
    fn row(self, feature: usize) -> u16 {
        self.base + (feature as u16 ^ self.flip)
    }

    #[inline]
    pub fn refresh_index(self, side: Color) -> usize {
        4 * (usize::from(self.base) / all::COUNT)
            + 2 * usize::from(self.flip & 1)
            + usize::from(side.is_black())
    }
}

#[derive(Debug, Clone)]
pub struct RowChanges {
    keys: Box<[[PerspectiveKey; 64]; 2]>,
    king_buckets: usize,
    /// The blocks after `all`, each with the row of its first feature.
    others: Vec<(ListChanges, u16)>,
    /// Added, then removed.
    lists: Box<[Rows; 2]>,
}

impl RowChanges {
    /// Row changes of an architecture; `None` unless the features are `all` and blocks that list their changes.
    pub fn new(architecture: &Architecture) -> Option<RowChanges> {
        let (first, rest) = architecture.features.blocks().split_first()?;
        let mut feature = first.count;
        let numbers = architecture.row_numbers();
        let other = |block: &&'static FeatureBlock| {
            let row = numbers.row(0, feature) as u16;
            feature += block.count;
            Some((block.changes?, row))
        };
        let others = rest.iter().map(other).collect::<Option<Vec<_>>>()?;
        let key = |side| Square::ALL.map(|king| PerspectiveKey::new(architecture, side, king));
        (first.name == "all").then(|| RowChanges {
            keys: Box::new(Color::ALL.map(key)),
            king_buckets: architecture.king_bucket_count(),
            others,
            lists: Box::new([Rows::NONE; 2]),
        })
    }

    /// Buckets of the own king's square.
    pub fn king_buckets(&self) -> usize {
        self.king_buckets
    }

    #[inline]
    pub fn keys(&self, board: &Board) -> [PerspectiveKey; 2] {
        let king = |side: Color| board.king_of(side).map_or(0, |square| square as usize);
        [self.keys[0][king(Color::White)], self.keys[1][king(Color::Black)]]
    }

    #[inline]
    pub fn list(&mut self, from: &Pieces, to: &Pieces, keys: [PerspectiveKey; 2]) {
        let changed = from.changed(to);
        for (pieces, rows) in [to, from].into_iter().zip(&mut *self.lists) {
            rows.clear();
            for square in Bitboard(changed & pieces.occupied()) {
                let [white, black] = all::both_of(pieces.feature(square as usize));
                rows.push([keys[0].row(white), keys[1].row(black)]);
            }
        }
        if !self.others.is_empty() {
            self.list_others(from, to, changed, keys);
        }
    }

    fn list_others(&mut self, from: &Pieces, to: &Pieces, changed: u64, keys: [PerspectiveKey; 2]) {
        let change = BoardChange { before: Men::of(from), after: Men::of(to), changed };
        let flips = [usize::from(keys[0].flip & 7), 56 ^ usize::from(keys[1].flip & 7)];
        for &(changes, base) in &self.others {
            changes(&change, &mut BlockRows { lists: &mut self.lists, base, flips });
        }
    }

    /// Tests for blocks beside `all`: with them many rows change, in a table larger than the caches.
    #[inline]
    pub fn is_large(&self) -> bool {
        !self.others.is_empty()
    }

    #[inline]
    pub fn added(&self, side: Color) -> &[u16] {
        self.lists[0].of(side)
    }

    #[inline]
    pub fn removed(&self, side: Color) -> &[u16] {
        self.lists[1].of(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::KingBuckets;
    use crate::nnue::features::{FEATURE_BLOCKS, Features, ones};
    use crate::nnue::oriented;
    use patzer_chess::testing::along_random_games;
    use shakmaty::Position;

    fn sorted(rows: &[u16]) -> Vec<usize> {
        let mut rows: Vec<usize> = rows.iter().map(|row| usize::from(*row)).collect();
        rows.sort_unstable();
        rows
    }

    #[test]
    fn every_change_lists_the_rows_in_which_the_boards_differ() {
        let listing = FEATURE_BLOCKS.iter().filter(|block| block.changes.is_some());
        let each = listing.map(|block| format!("all+{}", block.name));
        let together = FEATURE_BLOCKS.iter().filter(|block| !block.bucketed).map(|block| block.name);
        let all = ["all"].into_iter().chain(together).collect::<Vec<_>>().join("+");
        for text in each.chain([all]) {
            for mirror in [false, true] {
                let architecture = Architecture {
                    features: Features::parse(&text).unwrap(),
                    mirror,
                    king_buckets: KingBuckets::parse(if mirror { "five" } else { "none" }).unwrap(),
                    ..Architecture::plain(8)
                };
                let mut changes = RowChanges::new(&architecture).unwrap();
                let numbers = architecture.row_numbers();
                let mut words = vec![0; architecture.features.words()];
                let mut rows = |(board, halfmoves): &(Board, u8), side: Color| -> Vec<usize> {
                    let (perspective, bucket) = oriented(&architecture, board, *halfmoves, side);
                    architecture.features.write(&perspective, &mut words);
                    ones(&words).map(|feature| numbers.row(bucket, feature)).collect()
                };
                // The empty board, the position before, and one from long ago.
                let mut boards = vec![(Board::empty(), 0); 40];
                along_random_games(11, 4, 120, |position| {
                    // A clock that wanders, or it would be 0 in nearly every position.
                    let now = (position.board().clone(), boards.len() as u8);
                    let keys = changes.keys(&now.0);
                    let far = &boards[boards.len() - 40];
                    for from in [None, boards.last(), Some(far)] {
                        let from = from.filter(|(board, _)| board.occupied().any());
                        let pieces = from.map_or(Pieces::NONE, |(board, clock)| Pieces::of(board, *clock));
                        changes.list(&pieces, &Pieces::of(&now.0, now.1), keys);
                        for side in Color::ALL {
                            let key = |keys: [PerspectiveKey; 2]| keys[usize::from(side.is_black())];
                            if from.is_some_and(|(board, _)| key(changes.keys(board)) != key(keys)) {
                                continue;
                            }
                            let old = from.map_or(Vec::new(), |from| rows(from, side));
                            let new = rows(&now, side);
                            let only = |a: &[usize], b: &[usize]| -> Vec<usize> {
                                a.iter().copied().filter(|row| !b.contains(row)).collect()
                            };
                            let listed = [changes.added(side), changes.removed(side)].map(sorted);
                            assert_eq!(listed, [only(&new, &old), only(&old, &new)], "{text}, {side}");
                        }
                    }
                    boards.push(now);
                });
            }
        }
    }
}
