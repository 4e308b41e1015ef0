//! Answers of an engine to `uci` and `go`.

use shakmaty::{CastlingMode, Chess, Move, MoveList, Position};

use super::bench::{Benched, Said};
use super::line_buffer::LineBuffer;
use super::option::UciOption;
use super::parse::{self, InfoKind, find_move, joined, shown, words};
use super::perft::{self, Leaves};
use crate::{NoMove, SearchInfo};

/// Takes a line of the answer to `uci`; `Some` at `uciok`.
pub(super) fn introduction(
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
pub(super) fn answer(
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
pub(super) fn move_text(line: &[u8]) -> &[u8] {
    let said = line.trim_ascii_start().strip_prefix(b"bestmove").unwrap_or_default();
    words(said).next().unwrap_or_default()
}

/// Output of an engine, as a match reads it.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct EngineOutput {
    pub name: Option<String>,
    /// `setoption` commands that set each declared option to the value.
    pub commands: Vec<Vec<u8>>,
    pub info: SearchInfo,
    pub best: Option<Result<Move, NoMove>>,
    /// What the lines say as the output of a benchmark.
    pub benched: Option<Benched>,
    /// What they say as the answer to `go perft`, as far as its end.
    pub leaves: Leaves,
}

/// Reads output that arrives `piece` bytes at a time: the answer to `uci`, then to `go` in this position.
#[doc(hidden)]
pub fn read_output(output: &[u8], piece: usize, position: &Chess, value: &str) -> EngineOutput {
    let (legal, castling) = (position.legal_moves(), position.castles().mode());
    let (mut name, mut declared, mut introduced) = (None, Vec::new(), false);
    let (mut held, mut info, mut best) = (InfoKind::NoScore, SearchInfo::default(), None);
    let (mut said, mut leaves, mut counted) = (Said::default(), Leaves::default(), false);
    let (mut lines, mut rest) = (LineBuffer::new(), output);
    while !rest.is_empty() {
        let space = lines.space();
        let (now, later) = rest.split_at(piece.max(1).min(space.len()).min(rest.len()));
        space[..now.len()].copy_from_slice(now);
        lines.advance(now.len());
        rest = later;
        while let Some(line) = lines.next_line() {
            said.hear(line);
            counted = counted || perft::hear(line, &mut leaves).is_some();
            if !introduced {
                introduced = introduction(line, &mut name, &mut declared).is_some();
            } else if best.is_none() {
                best = answer(line, &legal, castling, &mut held, &mut info);
            }
        }
    }
    let command = |option: &UciOption| {
        let mut command = Vec::new();
        option.set(value, &mut command).ok().map(|()| command)
    };
    let commands = declared.iter().filter_map(command).collect();
    EngineOutput { name, commands, info, best, benched: said.benched(), leaves }
}
