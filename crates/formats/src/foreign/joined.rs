//! Joins consecutive positions of a format without games: a position that the last move leads to continues its game.

use shakmaty::{Chess, Move, Position};

use crate::capabilities::{self, Capabilities};
use crate::replay;
use crate::{Record, flags};
use patzer_pgn::Placeholders;

#[derive(Default)]
pub struct JoinedGames {
    /// The unfinished game, which ends when a position does not follow.
    open: Vec<Record>,
    after: Option<Chess>,
    game: u32,
    placeholders: Placeholders,
}

/// A position as a file has it; score and result from the side to move.
pub struct Entry {
    pub position: Chess,
    pub played: Option<Move>,
    pub score: Option<i16>,
    pub ply: u16,
    pub result: i8,
}

impl JoinedGames {
    /// Adds a position, and appends the game that it ends.
    pub fn add(&mut self, entry: Entry, records: &mut Vec<Record>) {
        let Entry { position, played, score, ply, result } = entry;
        let result = position.turn().fold_wb(result, -result);
        let follows = self.after.as_ref().is_some_and(|after| follows(after, &position))
            && self.open.last().is_some_and(|last| last.result == result);
        if !follows {
            self.close(records);
        }
        let mut record = replay::still(&position);
        replay::annotate(&mut record, &position, played, score);
        if capabilities::castling(&record.board) == Capabilities::CHESS960 {
            record.flags |= flags::CHESS960;
        }
        self.open.push(Record { game: self.game, ply, result, ..record });
        self.after = played.map(|m| patzer_chess::played(&position, m));
    }

    /// Appends the unfinished game.
    pub fn close(&mut self, records: &mut Vec<Record>) {
        if self.open.is_empty() {
            return;
        }
        match &self.after {
            Some(after) => replay::close(&mut self.open, after.is_checkmate(), &mut self.placeholders),
            None => self.placeholders.mark(&mut self.open),
        }
        records.append(&mut self.open);
        self.after = None;
        self.game = self.game.wrapping_add(1);
    }
}

fn follows(after: &Chess, position: &Chess) -> bool {
    after == position
        && after.halfmoves() == position.halfmoves()
        && after.fullmoves() == position.fullmoves()
}
