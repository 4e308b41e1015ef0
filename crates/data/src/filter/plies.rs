//! Filters by ply, move number, halfmove clock and length of the game.

use serde::Deserialize;

use super::Record;
use super::registry::{FilterRow, Range, choice, filter, whole};
use super::windows::Window;
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    // After an opening from a book of FENs, the ply by the move number is what Stockfish's formats call the ply.
    FilterRow::position(
        "ply",
        "it lies fewer than min or more than max plies from the start",
        &[
            whole("min", "the fewest plies kept", (0, 131_071), &[0]),
            whole("max", "the most plies kept", (0, 131_071), &[131_071]),
            choice(
                "from",
                "the start: of the movetext, or move 1 by the move number",
                &["movetext", "move1"],
            ),
        ],
        |v| filter(v, Ply::keeps),
    )
    .seeing(|v| match v["from"].as_str() {
        Some("move1") => Capabilities::FULLMOVE,
        _ => Capabilities::PLY,
    }),
    FilterRow::position(
        "move_number",
        "its move number is below min or above max",
        &[
            whole("min", "the lowest move number kept", (1, 65535), &[1]),
            whole("max", "the highest move number kept", (1, 65535), &[65535]),
        ],
        |v| filter(v, |p: &Range<u16>, r: &Record| p.contains(r.fullmove)),
    )
    .seeing(|_| Capabilities::FULLMOVE),
    // Near the fifty-move rule the result depends on the clock more than on the position.
    FilterRow::position(
        "halfmove",
        "its halfmove clock is below min or above max plies",
        &[
            whole("min", "the fewest plies kept", (0, 255), &[0]),
            whole("max", "the most plies kept", (0, 255), &[255]),
        ],
        |v| filter(v, |p: &Range<u8>, r: &Record| p.contains(r.halfmove)),
    )
    .seeing(|_| Capabilities::HALFMOVE),
    // A record stores distances to the end up to 254 plies, so 255 is the greatest length to ask for.
    FilterRow::position(
        "short_game",
        "its game has fewer than plies plies",
        &[whole("plies", "the fewest plies that a game has to have", (1, 255), &[20])],
        |v| filter(v, |p: &Window, r: &Record| u32::from(r.ply) + u32::from(r.to_end) + 1 >= p.plies.into()),
    )
    .seeing(|_| Capabilities::DISTANCES),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ply {
    min: u32,
    max: u32,
    from: Start,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Start {
    Movetext,
    Move1,
}

impl Ply {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        let ply = match self.from {
            Start::Movetext => record.ply.into(),
            Start::Move1 => record.game_ply(),
        };
        (self.min..=self.max).contains(&ply)
    }
}
