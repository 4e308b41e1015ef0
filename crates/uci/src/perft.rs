//! Counts of leaves by an engine's own move generator: `go perft N` of Stockfish, which many engines have.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::bytes::Regex;
use shakmaty::Position;

use super::analysis::Analyst;
use super::parse::words;
use super::patterns::{number, number_in, pattern};
use super::position::PositionCommand;
use crate::PlayerError;
use patzer_chess::Line;

/// Leaves of the tree of legal moves as an engine counts them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leaves {
    pub total: u64,
    /// Leaves below each move of the root, as the engine writes it; empty if it does not say.
    pub moves: Vec<(String, u64)>,
}

/// A move and the leaves below it, `e2e4: 20`.
static DIVIDE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^([a-h][1-8][a-h][1-8][qrbn]?)[ \t:=-]+(\d+)$"));

/// Forms of the sum, the surest first.
static TOTAL: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        r"(?i)\bnodes(?: searched)?[ \t:=]+(\d+)\b",
        r"(?i)\b(?:total|leaves|leaf nodes|perft[ (]*\d+\)?)[ \t:=]+(\d+)\b",
        r"(?i)\b(\d+) +(?:nodes|leaves|moves)\b",
    ]
    .map(pattern)
});

/// Moves kept of an answer: no position has as many.
const MOST_MOVES: usize = 1000;

/// Takes a line of the answer; `Some` at its end: the sum, or a search in its place.
pub(crate) fn hear(line: &[u8], leaves: &mut Leaves) -> Option<Result<(), ()>> {
    let line = line.trim_ascii();
    if let Some(found) = DIVIDE.captures(line)
        && leaves.moves.len() < MOST_MOVES
    {
        leaves.moves.push((String::from_utf8_lossy(&found[1]).into_owned(), number(&found[2])?));
        return None;
    }
    match words(line).next() {
        Some(b"bestmove") => return Some(Err(())),
        Some(b"info") if words(line).nth(1) != Some(b"string") => return Some(Err(())),
        _ => {}
    }
    leaves.total = number_in(&*TOTAL, line)?;
    Some(Ok(()))
}

impl Analyst {
    /// Counts the leaves below the last position of a line with a command such as `go perft`, within `timeout`.
    pub fn perft(
        &mut self,
        line: &Line,
        command: &str,
        depth: u32,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<Leaves, PlayerError> {
        self.set_castling(line.start().castles().mode())?;
        let mut position = PositionCommand::new(false);
        self.commands.extend_from_slice(position.update(line));
        let command = format!("{command} {depth}");
        self.commands.extend_from_slice(format!("\n{command}\n").as_bytes());
        let mut leaves = Leaves::default();
        match self.converse(&command, timeout, stop, |line| hear(line, &mut leaves))? {
            Ok(()) => Ok(leaves),
            Err(()) => Err(PlayerError::Unable(format!("takes `{command}` for a search; name its command"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_every_known_form() {
        for (text, total, moves) in [
            ("a2a3: 380\ne7e8q: 420\n\nNodes searched: 8902\n", 8902, 2),
            ("info string perft\ne2e4 - 20\nTotal: 20\n", 20, 1),
            ("perft 3 = 8902\n", 8902, 0),
            ("8902 nodes in 3 ms\n", 8902, 0),
        ] {
            let mut leaves = Leaves::default();
            let end = text.lines().find_map(|line| hear(line.as_bytes(), &mut leaves));
            assert_eq!((end, leaves.total, leaves.moves.len()), (Some(Ok(())), total, moves), "{text}");
        }
        let mut leaves = Leaves::default();
        assert_eq!(hear(b"info depth 1 nodes 20 score cp 3", &mut leaves), Some(Err(())));
        assert_eq!(hear(b"bestmove e2e4", &mut leaves), Some(Err(())));
        assert_eq!(hear(b"readyok", &mut leaves), None);
    }
}
