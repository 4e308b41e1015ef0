//! Opening books of PGN games, parsed as strictly as `extract` does.

use std::path::Path;

use shakmaty::{Chess, Position};

use super::{OpeningError, playable};
use patzer_io::error::{Error, Result};
use patzer_pgn::{GameSpan, GameSplitter, Parser, Record};

/// Position of each game after `plies` plies, or its last one.
pub(super) fn positions(bytes: Vec<u8>, path: &Path, plies: Option<u32>) -> Vec<Result<Chess>> {
    let mut splitter = GameSplitter::new();
    *splitter.text() = bytes;
    splitter.scan(true);
    let (text, games) = splitter.take();
    let mut parser = Parser::default();
    let mut records = Vec::new();
    games
        .iter()
        .enumerate()
        .map(|(index, game_span)| {
            records.clear();
            let read = position(&mut parser, &text, game_span, plies, &mut records).and_then(playable);
            read.map_err(|reason| {
                let place = format!("game {}, line {}", index + 1, game_span.line);
                Error::at(path, place, reason.to_string())
            })
        })
        .collect()
}

fn position(
    parser: &mut Parser,
    text: &[u8],
    game_span: &GameSpan,
    plies: Option<u32>,
    records: &mut Vec<Record>,
) -> std::result::Result<Chess, OpeningError> {
    let game = parser.parse(text, game_span, 0, records);
    if let Some(fault) = game.error {
        return Err(OpeningError(fault.reason.to_string()));
    }
    if game.other_variant {
        return Err(OpeningError("is neither standard chess nor Chess960".into()));
    }
    let illegal = || OpeningError("holds a position that is not legal".into());
    if let Some(record) = plies.and_then(|plies| records.get(plies as usize)) {
        return record.position().ok_or_else(illegal);
    }
    let last = records.last().ok_or_else(|| OpeningError("has no moves".into()))?;
    let before = last.position().ok_or_else(illegal)?;
    let m = last.played.unpack(&before).ok_or_else(illegal)?;
    before.play(m).map_err(|_| illegal())
}
