//! Which rows of the feature table a position adds up.
//!
//! In: training items. Out: rows, for the side to move and, with two views, for the other. The sets of features are those
//! of the engine; where only the squares of the pieces count, they are found without building sets.

use shakmaty::{Color, Role};

use super::TrainItem;
use crate::chess::PackedBoard;
use crate::eval::nnue::features::{self, all};
use crate::eval::nnue::{Architecture, oriented};

/// Finds rows; holds the memory for it.
#[derive(Debug, Clone)]
pub struct Extractor {
    architecture: Architecture,
    words: Vec<u64>,
}

impl Extractor {
    /// For an architecture.
    pub fn new(architecture: &Architecture) -> Extractor {
        Extractor { architecture: architecture.clone(), words: vec![0; architecture.features.words()] }
    }

    /// Adds a position's rows, view by view, and after each view where its rows end.
    #[inline]
    pub fn rows(&mut self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        if !self.architecture.features.is_all() {
            return self.sets(item, rows, ends);
        }
        if self.architecture.mirror || self.architecture.king_bucket_count() > 1 {
            return self.bucketed(item, rows, ends);
        }
        // Own features first, their twins behind them.
        let start = rows.len();
        let mut theirs = [0u16; all::MAX_ACTIVE];
        let swap = usize::from(item.turn == Color::Black);
        for (i, (square, piece)) in item.board.pieces().take(all::MAX_ACTIVE).enumerate() {
            let both = all::both(piece, square);
            rows.push(both[swap] as u16);
            theirs[i] = both[1 - swap] as u16;
        }
        let count = rows.len() - start;
        ends.push(rows.len() as u32);
        if self.architecture.views == 2 {
            rows.extend_from_slice(&theirs[..count]);
            ends.push(rows.len() as u32);
        }
    }

    /// Squares of pieces with mirroring or input buckets.
    #[inline]
    fn bucketed(&self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        let mut kings = [0usize; 2];
        for (square, piece) in item.board.pieces() {
            if piece.role == Role::King {
                kings[usize::from(piece.color.is_black())] = square as usize;
            }
        }
        for side in [item.turn, item.turn.other()].into_iter().take(self.architecture.views) {
            let black = usize::from(side.is_black());
            let king = kings[black] ^ (56 * black);
            let flip = if self.architecture.mirror && king % 8 > 3 { 7 } else { 0 };
            let base = 768 * self.architecture.king_buckets.bucket(king ^ flip, self.architecture.mirror);
            for (square, piece) in item.board.pieces().take(all::MAX_ACTIVE) {
                rows.push((base + (all::both(piece, square)[black] ^ flip)) as u16);
            }
            ends.push(rows.len() as u32);
        }
    }

    /// Any features.
    fn sets(&mut self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        let board = item.board.board();
        for side in [item.turn, item.turn.other()].into_iter().take(self.architecture.views) {
            if let Some(board) = &board {
                let (view, bucket) = oriented(&self.architecture, board, side);
                self.architecture.features.write(&view, &mut self.words);
                let base = bucket * self.architecture.features.count();
                rows.extend(features::ones(&self.words).map(|feature| (base + feature) as u16));
            }
            ends.push(rows.len() as u32);
        }
    }

    /// The output bucket of a position.
    #[inline]
    pub fn bucket(&self, board: &PackedBoard) -> usize {
        if self.architecture.output_buckets == 1 {
            return 0;
        }
        let weight = |role| match role {
            Role::Knight | Role::Bishop => 1,
            Role::Rook => 2,
            Role::Queen => 4,
            Role::Pawn | Role::King => 0,
        };
        let phase = board.pieces().map(|(_, piece)| weight(piece.role)).sum();
        self.architecture.output_bucket(board.count() as usize, phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::{KingBuckets, phase};
    use crate::train::tests::{items, shapes};

    #[test]
    fn the_quick_ways_find_what_the_sets_say() {
        let halfka = KingBuckets::parse("halfka").unwrap();
        let whole = Architecture { king_buckets: halfka, ..Architecture::plain(8) };
        for architecture in shapes().into_iter().chain([whole]) {
            let mut extractor = Extractor::new(&architecture);
            for item in items(200, 9) {
                let (mut quick, mut ends) = (Vec::new(), Vec::new());
                extractor.rows(&item, &mut quick, &mut ends);
                let (mut slow, mut expected) = (Vec::new(), Vec::new());
                extractor.sets(&item, &mut slow, &mut expected);
                assert_eq!(ends, expected);
                let mut start = 0;
                for end in ends.into_iter().map(|end| end as usize) {
                    quick[start..end].sort_unstable();
                    assert_eq!(quick[start..end], slow[start..end], "{architecture}");
                    start = end;
                }
                let board = item.board.board().unwrap();
                let bucket = architecture.output_bucket(board.occupied().count(), phase(&board));
                assert_eq!(extractor.bucket(&item.board), bucket);
            }
        }
    }
}
