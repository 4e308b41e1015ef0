//! Openings from games.
//!
//! In: PGN. Out: of each game the position in which it ends, or the one after so many plies. Games go through
//! the reader that `extract` uses, so no token of theirs is passed over.

use std::path::Path;

use shakmaty::{Chess, Position};

use super::playable;
use patzer_io::error::{Error, Result};
use patzer_pgn::Record;
use patzer_pgn::{GameSpan, GameSplitter, Parser};

/// Reads one position a game: after `plies` plies where the game is that long, else its last.
pub(super) fn positions(bytes: Vec<u8>, path: &Path, plies: Option<u32>) -> Result<Vec<Chess>> {
    let mut cutter = GameSplitter::new();
    *cutter.text() = bytes;
    cutter.scan(true);
    let (text, pieces) = cutter.take();
    let mut parser = Parser::default();
    let mut samples = Vec::new();
    pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| {
            samples.clear();
            position(&mut parser, &text, piece, plies, &mut samples)
                .and_then(playable)
                .map_err(|reason| Error::at(path, format!("game {}, line {}", index + 1, piece.line), reason))
        })
        .collect()
}

fn position(
    parser: &mut Parser,
    text: &[u8],
    piece: &GameSpan,
    plies: Option<u32>,
    samples: &mut Vec<Record>,
) -> std::result::Result<Chess, String> {
    let game = parser.parse(text, piece, 0, samples);
    if let Some(fault) = game.error {
        return Err(fault.reason);
    }
    if game.other_variant {
        return Err("is neither standard chess nor Chess960".to_string());
    }
    let illegal = || "holds a position that is not legal".to_string();
    if let Some(sample) = plies.and_then(|plies| samples.get(plies as usize)) {
        return sample.position().ok_or_else(illegal);
    }
    let last = samples.last().ok_or("has no moves")?;
    let before = last.position().ok_or_else(illegal)?;
    let m = last.played.unpack(&before).ok_or_else(illegal)?;
    before.play(m).map_err(|_| illegal())
}
