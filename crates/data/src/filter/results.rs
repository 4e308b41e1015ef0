//! Filters by the result of the game.

use serde::Deserialize;

use super::Record;
use super::registry::{FilterRow, choice, filter, plain, switch};
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    // Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).
    FilterRow::position("draws", "the game was drawn", &[], |v| plain(v, |r| r.result != 0)),
    FilterRow::position(
        "result",
        "the game's result is not among those kept",
        &[
            switch("white_wins", "keep games that White won", true),
            switch("drawn", "keep drawn games", true),
            switch("black_wins", "keep games that Black won", true),
        ],
        |v| {
            filter(v, |p: &GameResult, r: &Record| match r.result {
                0 => p.drawn,
                1.. => p.white_wins,
                _ => p.black_wins,
            })
        },
    )
    .seeing(|v| if v["white_wins"] == v["black_wins"] { Capabilities::NONE } else { Capabilities::TURN }),
    // For move prediction: the loser's moves are worse.
    FilterRow::position(
        "winner",
        "the side to move did not win the game",
        &[
            choice("keep", "which side has to be to move", &["winner", "loser"]),
            switch("drawn", "keep drawn games", false),
        ],
        |v| {
            filter(v, |p: &Winner, r: &Record| match r.turn.fold_wb(r.result, -r.result) {
                0 => p.drawn,
                result => (result == 1) == (p.keep == Mover::Winner),
            })
        },
    ),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GameResult {
    white_wins: bool,
    drawn: bool,
    black_wins: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Winner {
    keep: Mover,
    drawn: bool,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mover {
    Winner,
    Loser,
}
