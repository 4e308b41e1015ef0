//! Active feature rows per perspective; `all` is read straight from the packed board.

use shakmaty::{Color, Role};

use super::TrainItem;
use patzer_chess::PackedBoard;
use patzer_eval::nnue::features::{self, all};
use patzer_eval::nnue::{Architecture, Pieces, RowChanges, RowNumbers, oriented};

/// Lists the rows of a position; a board that cannot be unpacked has none.
fn listed(
    changes: &mut RowChanges,
    perspectives: &[Color],
    item: &TrainItem,
    rows: &mut Vec<u16>,
    ends: &mut Vec<u32>,
) {
    let board = item.board.board();
    if let Some(board) = &board {
        let keys = changes.keys(board);
        changes.list(&Pieces::NONE, &Pieces::of(board, item.halfmoves), keys);
    }
    for &side in perspectives {
        if board.is_some() {
            rows.extend_from_slice(changes.added(side));
        }
        ends.push(rows.len() as u32);
    }
}

/// First feature of each piece code, from White's perspective and from Black's.
const PLANES: [[u16; 16]; 2] = {
    let mut planes = [[0; 16]; 2];
    let mut code = 0;
    while code < 16 {
        // Code 6 is a rook with castling rights.
        let role = if code % 8 == 6 { 3 } else { code % 8 };
        let theirs = 384 * (code / 8);
        planes[0][code] = (64 * role + theirs) as u16;
        planes[1][code] = (64 * role + 384 - theirs) as u16;
        code += 1;
    }
    planes
};

#[inline]
fn codes(board: &PackedBoard) -> u128 {
    let mut codes = [0; 16];
    codes.copy_from_slice(&board.0[8..]);
    u128::from_le_bytes(codes)
}

/// False if a code is 7 or 15, which no piece has.
#[inline]
fn is_sound(board: &PackedBoard) -> bool {
    let codes = codes(board);
    codes & codes >> 1 & codes >> 2 & (u128::MAX / 15) == 0
}

/// Lists the active rows of a feature table, position by position.
#[derive(Debug, Clone)]
pub struct Extractor {
    architecture: Architecture,
    numbers: RowNumbers,
    /// Rows of blocks beside `all` that list their changes.
    changes: Option<RowChanges>,
    words: Vec<u64>,
}

impl Extractor {
    /// An extractor for networks of an architecture.
    pub fn new(architecture: &Architecture) -> Extractor {
        let is_all = architecture.features.is_all();
        Extractor {
            architecture: architecture.clone(),
            numbers: architecture.row_numbers(),
            changes: if is_all { None } else { RowChanges::new(architecture) },
            words: vec![0; architecture.features.words()],
        }
    }

    /// Appends a position's rows, one perspective after another, and the end of each perspective's rows.
    #[inline]
    pub fn rows(&mut self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        if let Some(changes) = &mut self.changes {
            return listed(changes, self.architecture.sides(item.turn), item, rows, ends);
        }
        if !self.architecture.features.is_all() || !is_sound(&item.board) {
            return self.sets(item, rows, ends);
        }
        if self.architecture.mirror || self.architecture.king_bucket_count() > 1 {
            return self.bucketed(item, rows, ends);
        }
        self.plain(item, rows, ends);
    }

    /// Piece squares only: each row of the side to move has a counterpart for the opponent.
    #[inline]
    fn plain(&self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        let (mut left, mut codes) = (item.board.occupied().0, codes(&item.board));
        let count = (left.count_ones() as usize).min(all::MAX_ACTIVE);
        let start = rows.len();
        rows.resize(start + 2 * count, 0);
        let (own, theirs) = rows[start..].split_at_mut(count);
        let turn = usize::from(self.architecture.sides(item.turn)[0].is_black());
        let ([own_planes, their_planes], [own_flip, their_flip]) =
            ([&PLANES[turn], &PLANES[1 - turn]], [[0, 56][turn], [56, 0][turn]]);
        for (own, theirs) in own.iter_mut().zip(theirs) {
            let (square, code) = (left.trailing_zeros() as u16, codes as usize & 15);
            *own = own_planes[code] + (square ^ own_flip);
            *theirs = their_planes[code] + (square ^ their_flip);
            left &= left - 1;
            codes >>= 4;
        }
        ends.push((start + count) as u32);
        if self.architecture.perspectives == 2 {
            ends.push(rows.len() as u32);
        } else {
            rows.truncate(start + count);
        }
    }

    #[inline]
    fn bucketed(&self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        let mut kings = [0usize; 2];
        for (square, piece) in item.board.pieces() {
            if piece.role == Role::King {
                kings[usize::from(piece.color.is_black())] = square as usize;
            }
        }
        for &side in self.architecture.sides(item.turn) {
            let black = usize::from(side.is_black());
            let king = kings[black] ^ (56 * black);
            let (flip, bucket) = self.architecture.orientation(king);
            let base = all::COUNT * bucket;
            for (square, piece) in item.board.pieces().take(all::MAX_ACTIVE) {
                rows.push((base + (all::both(piece, square)[black] ^ flip)) as u16);
            }
            ends.push(rows.len() as u32);
        }
    }

    fn sets(&mut self, item: &TrainItem, rows: &mut Vec<u16>, ends: &mut Vec<u32>) {
        let board = item.board.board();
        for &side in self.architecture.sides(item.turn) {
            if let Some(board) = &board {
                let (perspective, bucket) = oriented(&self.architecture, board, item.halfmoves, side);
                self.architecture.features.write(&perspective, &mut self.words);
                let numbers = self.numbers;
                rows.extend(features::ones(&self.words).map(|feature| numbers.row(bucket, feature) as u16));
            }
            ends.push(rows.len() as u32);
        }
    }

    /// Factor from the network's output to the side to move's.
    #[inline]
    pub fn sign(&self, item: &TrainItem) -> i32 {
        self.architecture.sign(item.turn)
    }

    /// Output bucket of a board.
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
    use crate::tests::{items, shapes};
    use patzer_eval::nnue::{KingBuckets, phase};

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
                assert!(!slow.is_empty());
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
