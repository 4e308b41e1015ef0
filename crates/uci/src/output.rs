//! Everything that a match reads from the output of an engine, in one call: for tests and fuzzing.

use shakmaty::{Chess, Move, Position};

use super::answers::{answer, introduction};
use super::bench::{Benched, Said};
use super::line_buffer::LineBuffer;
use super::option::UciOption;
use super::parse::InfoKind;
use super::perft::{self, Leaves};
use crate::{NoMove, SearchInfo};

/// Output of an engine, as a match reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineOutput {
    pub name: Option<String>,
    /// `setoption` commands that set each declared option to the value.
    pub commands: Vec<Vec<u8>>,
    pub info: SearchInfo,
    pub best: Option<Result<Move, NoMove>>,
    /// The lines read as the output of a benchmark.
    pub benched: Option<Benched>,
    /// The lines read as the answer to `go perft`, as far as its end.
    pub leaves: Leaves,
}

/// Reads output that arrives `piece` bytes at a time: the answer to `uci`, then to `go` in this position.
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
