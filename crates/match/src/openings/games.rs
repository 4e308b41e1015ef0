//! Opening books of PGN games, parsed as strictly as `extract` does.

use std::path::Path;

use shakmaty::{Chess, Position};

use super::opening::{Entry, Opening, OpeningError, playable};
use patzer_io::error::{Error, Result};
use patzer_pgn::{Game, GameSpan, GameSplitter, Parser, Record, Tags};

fn split(bytes: Vec<u8>) -> (Vec<u8>, Vec<GameSpan>) {
    let mut splitter = GameSplitter::new();
    *splitter.text() = bytes;
    splitter.scan(true);
    splitter.take()
}

/// Position of each game after `plies` plies, or its last one.
pub(super) fn positions(bytes: Vec<u8>, path: &Path, plies: Option<u32>) -> Vec<Result<Chess>> {
    let (text, games) = split(bytes);
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
    if let Some(position) = bare_position(text, game_span) {
        return position;
    }
    check(&parser.parse(text, game_span, 0, records))?;
    if let Some(record) = plies.and_then(|plies| records.get(plies as usize)) {
        return record.position().ok_or_else(illegal);
    }
    let last = records.last().ok_or_else(|| OpeningError("has no moves".into()))?;
    let before = last.position().ok_or_else(illegal)?;
    let m = last.played.unpack(&before).ok_or_else(illegal)?;
    before.play(m).map_err(|_| illegal())
}

fn check(game: &Game) -> std::result::Result<(), OpeningError> {
    match &game.error {
        Some(fault) => Err(OpeningError(fault.reason.clone())),
        None if game.other_variant => Err(other_variant()),
        None => Ok(()),
    }
}

fn other_variant() -> OpeningError {
    OpeningError("is neither standard chess nor Chess960".into())
}

fn illegal() -> OpeningError {
    OpeningError("holds a position that is not legal".into())
}

/// The position of a game that has a tag `FEN` and no moves.
fn bare_position(text: &[u8], game_span: &GameSpan) -> Option<std::result::Result<Chess, OpeningError>> {
    let movetext = text[game_span.movetext..game_span.end].trim_ascii();
    if !matches!(movetext, b"" | b"*" | b"1-0" | b"0-1" | b"1/2-1/2") {
        return None;
    }
    let tags = Tags::new(&text[game_span.start..game_span.movetext]);
    let fen = String::from_utf8_lossy(&tags.get("FEN")?).into_owned();
    let Some(chess960) = tags.get("Variant").map_or(Some(false), |name| patzer_pgn::variant(&name)) else {
        return Some(Err(other_variant()));
    };
    Some(patzer_chess::fen::position(&fen, chess960).map_err(|reason| OpeningError(reason.to_string())))
}

/// Every game of a book with its moves, up to this many plies.
pub(super) fn entries(bytes: Vec<u8>, plies: Option<u32>) -> Vec<Entry> {
    let (text, games) = split(bytes);
    let (mut parser, mut records) = (Parser::default(), Vec::new());
    let mut entries = Vec::with_capacity(games.len());
    for (index, game_span) in games.iter().enumerate() {
        records.clear();
        let opening = opening(&mut parser, &text, game_span, plies, &mut records);
        let opening = opening.and_then(|opening| playable(opening.position.clone()).map(|_| opening));
        entries.push(Entry {
            place: format!("game {}, line {}", index + 1, game_span.line),
            plies: opening.as_ref().ok().map(|opening| {
                let full = opening.position.fullmoves().get();
                2 * (full - 1) + u32::from(opening.position.turn().is_black())
            }),
            opening: opening.map_err(|OpeningError(reason)| reason),
        });
    }
    entries
}

fn opening(
    parser: &mut Parser,
    text: &[u8],
    game_span: &GameSpan,
    plies: Option<u32>,
    records: &mut Vec<Record>,
) -> std::result::Result<Opening, OpeningError> {
    if let Some(position) = bare_position(text, game_span) {
        return position.map(Opening::from_position);
    }
    check(&parser.parse(text, game_span, 0, records))?;
    let first = records.first().ok_or_else(|| OpeningError("has no moves".into()))?;
    let start = first.position().ok_or_else(illegal)?;
    let (mut position, mut moves) = (start.clone(), Vec::new());
    for record in records.iter().take(plies.map_or(usize::MAX, |plies| plies as usize)) {
        let m = record.played.unpack(&position).ok_or_else(illegal)?;
        position.play_unchecked(m);
        moves.push(m);
    }
    Ok(Opening { start, moves, position })
}
