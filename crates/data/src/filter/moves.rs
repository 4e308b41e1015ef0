//! Filters by the move that was played.

use serde::Deserialize;

use super::Record;
use super::registry::{FilterRow, filter, params, plain, switch};
use crate::flags;
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    // nnue-pytorch looks at the target square alone, so that it keeps captures en passant.
    FilterRow::position(
        "capture",
        "the move played captures",
        &[switch("en_passant", "captures en passant count", true)],
        |v| {
            filter(v, |p: &Capture, r: &Record| {
                let there = || r.board.occupied().contains(r.played.to());
                !r.has(flags::CAPTURE) || (!p.en_passant && !there())
            })
        },
    )
    .seeing(|_| Capabilities::MOVE),
    FilterRow::position("promotion", "the move played promotes", &[], |v| {
        plain(v, |r| !r.has(flags::PROMOTION))
    })
    .seeing(|_| Capabilities::MOVE),
    FilterRow::position("gives_check", "the move played gives check", &[], |v| {
        plain(v, |r| !r.has(flags::GIVES_CHECK))
    })
    .seeing(|_| Capabilities::MOVE),
    // Trainers whose move type knows only normal moves leave castling out (bullet's example for Stockfish's binpacks,
    // viriformat's `filter_castling`).
    FilterRow::position("castling", "the move played castles", &[], |v| plain(v, |r| r.played.0 >> 15 == 0))
        .seeing(|_| Capabilities::MOVE),
    // One filter for moves that trainers often drop together.
    FilterRow::position(
        "tactical",
        "any of these holds of the move played",
        &[
            switch("captures", "the move captures", true),
            switch("promotions", "the move promotes", true),
            switch("checks", "the move gives check", true),
            switch("evasions", "the side to move is in check", true),
        ],
        |v| {
            let dropped = params::<Tactical>(v)?.flags();
            Ok(Box::new(move |r: &Record| r.flags & dropped == 0))
        },
    )
    .seeing(|_| Capabilities::MOVE),
    // The flag is set where the move's comment says `book`. Source: Österlund, "Texel's Tuning Method" (2014), which
    // leaves book positions out.
    FilterRow::position("book", "the move played is commented as a book move", &[], |v| {
        plain(v, |r| !r.has(flags::BOOK))
    })
    .seeing(|_| Capabilities::MARKS),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Capture {
    en_passant: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tactical {
    captures: bool,
    promotions: bool,
    checks: bool,
    evasions: bool,
}

impl Tactical {
    fn flags(&self) -> u16 {
        let dropped = |on, flag| if on { flag } else { 0 };
        dropped(self.captures, flags::CAPTURE)
            | dropped(self.promotions, flags::PROMOTION)
            | dropped(self.checks, flags::GIVES_CHECK)
            | dropped(self.evasions, flags::IN_CHECK)
    }
}
