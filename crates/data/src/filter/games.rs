//! Filters of whole games: ratings, time control, termination, variant.

use serde::Deserialize;

use super::registry::{
    Build, BuildFilter, FilterRow, KnownRange, Param, Unknown, choice, filter, real, switch, whole,
};
use super::{End, GameTags, Record};
use crate::flags;
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    game(
        "elo",
        "a player is rated below min or above max, or the players too far apart",
        &[
            whole("min", "the lowest rating of either player", (0, 9999), &[0]),
            whole("max", "the highest rating of either player", (0, 9999), &[9999]),
            whole("difference", "the most that the players are apart", (0, 9999), &[9999]),
            choice("unknown", "what becomes of games without both ratings", &["drop", "keep"]),
        ],
        |v| filter(v, Elo::keeps),
    ),
    // Lichess separates bullet (below 180 s) from blitz (below 480 s) and rapid (below 1,500 s) by the same number.
    game(
        "time_control",
        "a player had fewer than min or more than max seconds for 40 moves",
        &[
            real("min", "the fewest seconds for 40 moves", (0.0, 1e9), &[0.0]),
            real("max", "the most seconds for 40 moves", (0.0, 1e9), &[1e9]),
            choice("unknown", "what becomes of games without a time control", &["drop", "keep"]),
        ],
        |v| filter(v, |p: &KnownRange<f64>, tags: &GameTags| tags.seconds.iter().all(|own| p.contains(*own))),
    ),
    // The result of a game lost on time or by a crash says nothing about its positions.
    game(
        "termination",
        "the game ended in one of these ways",
        &[
            switch("time_forfeit", "drop games lost on time", true),
            switch("illegal_move", "drop games that an illegal move or claim ended", true),
            switch("disconnect", "drop games abandoned, or that a crash or a stalled engine ended", true),
            switch("unterminated", "drop games that never ended", true),
            switch("adjudication", "drop games that were adjudicated", false),
            switch("unknown", "drop games that do not say how they ended", false),
        ],
        |v| filter(v, |p: &Termination, tags: &GameTags| !p.drops(tags.end)),
    ),
    // A record stores whether its game is Chess960, so this works on a dataset; `extract` reads no other variant.
    FilterRow::position(
        "variant",
        "its game is of a kind of chess not kept",
        &[
            switch("standard", "keep games of standard chess", true),
            switch("chess960", "keep games of Chess960", false),
        ],
        |v| filter(v, |p: &Variant, r: &Record| if r.has(flags::CHESS960) { p.chess960 } else { p.standard }),
    )
    .seeing(|_| Capabilities::MARKS),
];

pub(super) const fn game(
    name: &'static str,
    about: &'static str,
    params: &'static [Param],
    build: BuildFilter<GameTags>,
) -> FilterRow {
    FilterRow::new(name, about, params, Build::Game(build))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elo {
    min: u16,
    max: u16,
    difference: u16,
    unknown: Unknown,
}

impl Elo {
    fn keeps(&self, tags: &GameTags) -> bool {
        let (Some(white), Some(black)) = (tags.white_elo, tags.black_elo) else {
            return self.unknown == Unknown::Keep;
        };
        let fits = |elo| (self.min..=self.max).contains(&elo);
        fits(white) && fits(black) && white.abs_diff(black) <= self.difference
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Termination {
    time_forfeit: bool,
    illegal_move: bool,
    disconnect: bool,
    unterminated: bool,
    adjudication: bool,
    unknown: bool,
}

impl Termination {
    fn drops(&self, end: Option<End>) -> bool {
        match end {
            Some(End::Board) => false,
            Some(End::TimeForfeit) => self.time_forfeit,
            Some(End::IllegalMove) => self.illegal_move,
            Some(End::Disconnect) => self.disconnect,
            Some(End::Unterminated) => self.unterminated,
            Some(End::Adjudication) => self.adjudication,
            None => self.unknown,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    standard: bool,
    chess960: bool,
}
