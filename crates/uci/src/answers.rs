//! Answers of an engine to `uci` and `go`.

use shakmaty::{CastlingMode, Move, MoveList};

use super::option::UciOption;
use super::parse::{self, InfoKind, find_move, joined, shown, words};
use crate::{NoMove, SearchInfo};

/// Takes a line of the answer to `uci`; `Some` at `uciok`.
pub(crate) fn introduction(
    line: &[u8],
    name: &mut Option<String>,
    declared: &mut Vec<UciOption>,
) -> Option<()> {
    let mut words = words(line);
    match (words.next(), words.next()) {
        (Some(b"uciok"), _) => return Some(()),
        (Some(b"id"), Some(b"name")) => *name = Some(joined(words)),
        (Some(b"option"), Some(b"name")) => declared.extend(UciOption::parse(words)),
        _ => {}
    }
    None
}

/// Takes a line of the answer to `go`; `Some` at `bestmove`.
pub(crate) fn answer(
    line: &[u8],
    legal: &MoveList,
    castling: CastlingMode,
    held: &mut InfoKind,
    info: &mut SearchInfo,
) -> Option<Result<Move, NoMove>> {
    let line = line.trim_ascii_start();
    if let Some(fields) = line.strip_prefix(b"info ") {
        let (worth, said) = parse::info(fields);
        if worth > InfoKind::NoScore && worth >= *held {
            (*held, *info) = (worth, said);
        }
        return None;
    }
    line.starts_with(b"bestmove").then(|| {
        let word = move_text(line);
        find_move(word, legal, castling).ok_or_else(|| match word {
            [] => NoMove("bestmove without a move".into()),
            word => NoMove(shown(word)),
        })
    })
}

/// The move of a line `bestmove`, as the program wrote it; empty if there is none.
pub(crate) fn move_text(line: &[u8]) -> &[u8] {
    let said = line.trim_ascii_start().strip_prefix(b"bestmove").unwrap_or_default();
    words(said).next().unwrap_or_default()
}
