//! Filters by the score, in centipawns; a forced mate in n plies is ±(32,000 − n). Except for `no_score` and `depth`,
//! they keep positions without a score.

use serde::Deserialize;

use super::Record;
use super::registry::{FilterRow, KnownRange, Range, choice, filter, plain, whole};
use crate::flags;
use patzer_chess::score::is_mate;
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    FilterRow::position("no_score", "it has no score", &[], |v| plain(v, |r| r.score.is_some())),
    // Source: nnue-pytorch's `skip_placeholder_zero`.
    FilterRow::position(
        "placeholder",
        "its score is 0 after one beyond 100 centipawns in a decided game",
        &[],
        |v| plain(v, |r| !r.has(flags::PLACEHOLDER)),
    )
    .seeing(|_| Capabilities::GAME),
    // Source: Österlund, "Texel's Tuning Method" (2014), which leaves out positions where the engine found a mate.
    FilterRow::position("mate_score", "its score is a forced mate for either side", &[], |v| {
        plain(v, |r| r.score.is_none_or(|score| !is_mate(score.into())))
    }),
    FilterRow::position(
        "score_limit",
        "its score is below min or above max centipawns for either side (none: it stays)",
        &[
            whole("min", "the least that one side is ahead, in centipawns", (0, 32000), &[0]),
            whole("max", "the most that one side is ahead, in centipawns", (0, 32000), &[10000]),
        ],
        |v| {
            filter(v, |p: &Range<u16>, r: &Record| {
                r.score.is_none_or(|score| p.contains(score.unsigned_abs()))
            })
        },
    )
    .seeing(|_| Capabilities::SCORE),
    FilterRow::position(
        "score_range",
        "its score is below min or above max centipawns for a side (none: it stays)",
        &[
            whole("min", "the lowest score kept, in centipawns", (-32000, 32000), &[-32000]),
            whole("max", "the highest score kept, in centipawns", (-32000, 32000), &[32000]),
            choice("side", "the side of the score", &["mover", "white"]),
        ],
        |v| filter(v, ScoreRange::keeps),
    )
    .seeing(|v| match v["side"].as_str() {
        Some("white") => Capabilities::SCORE.and(Capabilities::TURN),
        _ => Capabilities::SCORE,
    }),
    // Source: viriformat's `max_eval_incorrectness`.
    FilterRow::position(
        "score_conflict",
        "a drawn game's score is further than max centipawns from 0, or a decided one's that far against the winner",
        &[whole("max", "the most that the score may be off, in centipawns", (0, 32000), &[1000])],
        |v| filter(v, ScoreConflict::keeps),
    )
    .seeing(|_| Capabilities::SCORE),
    // A score near 0 shortly before a decisive end is most often a placeholder, a loss on time or a crash.
    FilterRow::position(
        "equal_decisive",
        "its score is within cp of 0 fewer than plies plies before the end of a decided game",
        &[
            whole("cp", "how near to 0 counts as equal, in centipawns", (0, 32000), &[20]),
            whole("plies", "how near to the end, in plies; 255 is all but the furthest", (1, 255), &[20]),
        ],
        |v| {
            filter(v, |p: &EqualDecisive, r: &Record| {
                let equal = r.score.is_some_and(|score| score.unsigned_abs() <= p.cp);
                r.result == 0 || !equal || r.to_end >= p.plies
            })
        },
    )
    .seeing(|_| Capabilities::SCORE.and(Capabilities::DISTANCES)),
    FilterRow::position(
        "depth",
        "its score was searched to a depth below min or above max",
        &[
            whole("min", "the least depth kept, in plies", (0, 255), &[0]),
            whole("max", "the greatest depth kept; 255 is any", (0, 255), &[255]),
            choice("unknown", "what becomes of positions without a depth", &["drop", "keep"]),
        ],
        |v| filter(v, |p: &KnownRange<u8>, r: &Record| p.contains(r.depth)),
    ),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreRange {
    min: i32,
    max: i32,
    side: Side,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Mover,
    White,
}

impl ScoreRange {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let sign = if self.side == Side::White && record.turn.is_black() { -1 } else { 1 };
        record.score.is_none_or(|score| (self.min..=self.max).contains(&(sign * i32::from(score))))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScoreConflict {
    max: i32,
}

impl ScoreConflict {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let Some(score) = record.score else { return true };
        let against = match record.turn.fold_wb(record.result, -record.result) {
            0 => i32::from(score).abs(),
            result => -i32::from(result) * i32::from(score),
        };
        against <= self.max
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EqualDecisive {
    cp: u16,
    plies: u8,
}
