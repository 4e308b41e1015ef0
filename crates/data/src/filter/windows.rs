//! Filters of tense positions: in check, or within a window of plies before a check, a capture or the end of the game.
//!
//! A window of n plies counts the event's move as its first ply, so it drops distances 0 to n − 1. Source of the
//! windows: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use serde::Deserialize;

use super::Record;
use super::registry::{FilterRow, Param, filter, plain, whole};
use crate::flags;
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    // A static evaluation says nothing about a position in check.
    FilterRow::position("in_check", "the side to move is in check", &[], |v| {
        plain(v, |r| !r.has(flags::IN_CHECK))
    }),
    FilterRow::position("before_check", "a check is given within a window of plies", WINDOW, |v| {
        filter(v, |p: &Window, r: &Record| r.to_check >= p.plies)
    })
    .seeing(|_| Capabilities::DISTANCES),
    FilterRow::position("before_capture", "a capture is played within a window of plies", WINDOW, |v| {
        filter(v, |p: &Window, r: &Record| r.to_capture >= p.plies)
    })
    .seeing(|_| Capabilities::DISTANCES),
    FilterRow::position("before_mate", "checkmate is given within a window of plies", WINDOW, |v| {
        filter(v, |p: &Window, r: &Record| !r.has(flags::MATE_END) || r.to_end >= p.plies)
    })
    .seeing(|_| Capabilities::DISTANCES),
    // The moves before an adjudication or a resignation add little to the result.
    FilterRow::position("before_end", "the game ends within a window of plies", WINDOW, |v| {
        filter(v, |p: &Window, r: &Record| r.to_end >= p.plies)
    })
    .seeing(|_| Capabilities::DISTANCES),
];

const WINDOW: &[Param] = &[whole("plies", "length of the window, in plies", (1, 255), &[5])];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Window {
    pub(super) plies: u8,
}
