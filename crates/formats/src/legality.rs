//! A quick check of records that were read without checksums: what damage leaves legal is not noticed.

use shakmaty::{Bitboard, Color, Square, attacks};

use crate::Record;
use crate::nibbles::{self, BLACK_KING, CASTLING_ROOK, ONES, WHITE_KING};
use patzer_chess::score::MATE;

/// Returns what is illegal in a record's board, result or scores, if anything.
#[inline]
pub fn fault(record: &Record) -> Option<&'static str> {
    let in_range = |score: i16| i32::from(score).abs() <= MATE;
    if !(-1..=1).contains(&record.result) {
        return Some("the result is none of 1, 0 and -1");
    }
    if !record.score.is_none_or(in_range) || !record.leaf.is_none_or(|leaf| in_range(leaf.score)) {
        return Some("a score is beyond 32,000 centipawns");
    }
    let occupied = record.board.occupied().0;
    let (codes, pieces) = (nibbles::codes(&record.board), occupied.count_ones());
    let used = nibbles::used(pieces);
    if pieces > 32 || codes & !used != 0 || codes & codes >> 1 & codes >> 2 & ONES != 0 {
        return Some("the board has pieces that do not exist");
    }
    let [ours, theirs] = record.turn.fold_wb([WHITE_KING, BLACK_KING], [BLACK_KING, WHITE_KING]);
    let [ours, theirs] = [ours, theirs].map(|king| nibbles::equal(codes, king) & used);
    if !ours.is_power_of_two() || !theirs.is_power_of_two() {
        return Some("not one king a side");
    }
    let pawns = !(codes | codes >> 1 | codes >> 2) & ONES & used;
    let (first, last) = ((occupied & 0xff).count_ones(), (occupied >> 56).count_ones());
    if pawns & (nibbles::used(first) | used & !nibbles::used(pieces - last)) != 0 {
        return Some("a pawn on the first or last rank");
    }
    let king = nth(occupied, theirs.trailing_zeros() / 4);
    attacked(occupied, codes, king, record.turn).then_some("the side that has moved is in check")
}

/// The square of the piece with `before` pieces before it.
#[inline]
fn nth(occupied: u64, before: u32) -> Square {
    let mut left = occupied;
    (0..before).for_each(|_| left &= left - 1);
    Square::new(left.trailing_zeros())
}

#[inline]
fn attacked(occupied: u64, codes: u128, square: Square, by: Color) -> bool {
    let diagonal = attacks::bishop_attacks(square, Bitboard(occupied)).0;
    let straight = attacks::rook_attacks(square, Bitboard(occupied)).0;
    let knights = attacks::knight_attacks(square).0;
    let mut left = (diagonal | straight | knights) & occupied;
    while left != 0 {
        let one = left & left.wrapping_neg();
        left ^= one;
        let code = (codes >> (4 * (occupied & (one - 1)).count_ones())) as u8 & 15;
        let reach = match code ^ by.fold_wb(0, 8) {
            0 => attacks::pawn_attacks(!by, square).0,
            1 => knights,
            2 => diagonal,
            3 | CASTLING_ROOK => straight,
            4 => diagonal | straight,
            5 => attacks::king_attacks(square).0,
            _ => 0,
        };
        if reach & one != 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::still;
    use patzer_chess::rng::Rng;

    const POSITIONS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
        "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1",
    ];

    /// Compares with shakmaty, for boards with a piece moved, added, removed or exchanged.
    #[test]
    fn a_board_without_castling_is_at_fault_exactly_if_shakmaty_refuses_it() {
        let (mut rng, mut legal) = (Rng::new(3), 0);
        for fen in POSITIONS {
            let start = still(&patzer_chess::fen::position(fen, false).unwrap());
            assert_eq!(fault(&start), None, "{fen}");
            for _ in 0..20_000 {
                let mut pieces: Vec<(u32, u8)> = start
                    .board
                    .pieces()
                    .map(|(square, piece)| {
                        (square.into(), piece.color.fold_wb(0, 8) | (piece.role as u8 - 1))
                    })
                    .collect();
                for _ in 0..1 + rng.below(3) {
                    let (square, code) = (rng.below(64) as u32, rng.below(16) as u8);
                    pieces.retain(|piece| piece.0 != square);
                    if rng.below(2) == 0 && code & 7 < 6 {
                        pieces.push((square, code));
                    }
                }
                pieces.sort_unstable();
                let occupied = pieces.iter().fold(0, |squares, piece| squares | 1 << piece.0);
                let codes =
                    pieces.iter().rev().take(32).fold(0, |codes, piece| codes << 4 | u128::from(piece.1));
                if pieces.len() > 32 {
                    continue;
                }
                let record = Record {
                    board: nibbles::board(occupied, codes),
                    ep: 255,
                    turn: Color::from_black(rng.below(2) == 1),
                    ..start
                };
                assert_eq!(
                    fault(&record).is_none(),
                    record.position().is_some(),
                    "{record:?} {:?}",
                    fault(&record)
                );
                legal += u32::from(fault(&record).is_none());
            }
        }
        assert!((10_000..90_000).contains(&legal), "{legal}");
    }

    #[test]
    fn results_and_scores_have_ranges_and_boards_no_unknown_pieces() {
        let start = still(&patzer_chess::fen::position(POSITIONS[0], false).unwrap());
        let mut board = start.board;
        board.0[8] |= 7;
        for (record, reason) in [
            (Record { result: 2, ..start }, "the result"),
            (Record { score: Some(-32_001), ..start }, "a score"),
            (Record { board, ..start }, "pieces that do not exist"),
        ] {
            assert!(fault(&record).is_some_and(|fault| fault.contains(reason)), "{reason}");
        }
    }
}
