//! Rebuilds games from records in dataset order. Filters leave gaps; after a gap a new chain starts.

use shakmaty::{Chess, Move, Position};

use crate::Record;
use crate::replay::{Replay, pseudo_legal};
use patzer_chess::packed::ep_code;

#[derive(Default)]
pub struct Chain {
    replay: Option<Replay>,
    last: Option<(u32, i8)>,
    pub gaps: u64,
}

/// A record's position and legal move.
pub struct Link {
    pub starts: bool,
    pub position: Chess,
    pub played: Move,
}

impl Chain {
    /// Adds the next record; `None` without a legal position and move.
    pub fn follow(&mut self, record: &Record) -> Option<Link> {
        let before = self.last.replace((record.game, record.result));
        let same_game = before == Some((record.game, record.result));
        let replay = self.replay.take().filter(|replay| same_game && is_next(replay, record));
        let starts = replay.is_none();
        let mut replay = match replay {
            Some(replay) => replay,
            None => Replay::new(record.position()?, 0, 0),
        };
        let position = replay.position().clone();
        let played = record.played.unpack(&position).filter(|m| pseudo_legal(&position, *m))?;
        replay.play(played, None)?;
        self.replay = Some(replay);
        self.gaps += u64::from(starts && same_game);
        Some(Link { starts, position, played })
    }

    pub fn split(&mut self) {
        self.replay = None;
        self.last = None;
    }
}

fn is_next(replay: &Replay, record: &Record) -> bool {
    let position = replay.position();
    replay.board() == record.board
        && position.turn() == record.turn
        && position.halfmoves().min(255) == u32::from(record.halfmove)
        && position.fullmoves().get().min(u32::from(u16::MAX)) == u32::from(record.fullmove)
        && ep_code(position) == record.ep
}
