//! Filters by the pieces on the board; kings count. Source of the first two: zurichess, "Choosing positions for Texel's
//! Tuning Method" (2016).

use serde::Deserialize;

use super::registry::{FilterRow, Param, Range, filter, whole};
use super::{PieceCounts, Record};

pub(super) const ROWS: &[FilterRow] = &[
    FilterRow::position(
        "piece_count",
        "it has fewer than min or more than max pieces, kings and pawns counted",
        PIECES,
        |v| filter(v, |p: &Range<u32>, r: &Record| p.contains(r.board.count())),
    ),
    FilterRow::position(
        "non_pawn_pieces",
        "it has fewer than min or more than max pieces other than pawns, kings counted",
        PIECES,
        |v| filter(v, |p: &Range<u32>, r: &Record| p.contains(PieceCounts::of(&r.board).non_pawns())),
    ),
    FilterRow::position(
        "side_pieces",
        "a side has fewer or more pieces than wanted, its king and pawns counted",
        &[
            whole("white_min", "the fewest White pieces", (0, 16), &[0]),
            whole("white_max", "the most White pieces", (0, 16), &[16]),
            whole("black_min", "the fewest Black pieces", (0, 16), &[0]),
            whole("black_max", "the most Black pieces", (0, 16), &[16]),
        ],
        |v| filter(v, SidePieces::keeps),
    ),
    // nnue-pytorch's `simple_eval_skipping` is a lower bound of this kind, in other units.
    FilterRow::position(
        "imbalance",
        "one side's material is ahead by fewer than min or more than max pawns (3, 3, 5, 9)",
        &[
            whole("min", "the least difference, in pawns", (0, 103), &[0]),
            whole("max", "the greatest difference, in pawns", (0, 103), &[103]),
        ],
        |v| {
            filter(v, |p: &Range<u32>, r: &Record| {
                p.contains(PieceCounts::of(&r.board).balance().unsigned_abs())
            })
        },
    ),
];

const PIECES: &[Param] = &[
    whole("min", "the fewest pieces kept", (0, 32), &[0]),
    whole("max", "the most pieces kept", (0, 32), &[32]),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SidePieces {
    white_min: u32,
    white_max: u32,
    black_min: u32,
    black_max: u32,
}

impl SidePieces {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let PieceCounts { white, black, .. } = PieceCounts::of(&record.board);
        (self.white_min..=self.white_max).contains(&white)
            && (self.black_min..=self.black_max).contains(&black)
    }
}
