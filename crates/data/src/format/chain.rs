//! Positions in a row, as formats of whole games need them.
//!
//! In: records in the order of the dataset. Out: for each its position and its move, and whether it follows from the
//! one before. Positions that a filter has dropped leave gaps; after a gap a new chain starts.

use shakmaty::{Chess, Move, Position};

use super::replay::{Replay, pseudo_legal};
use crate::Record;
use patzer_chess::packed::ep_code;

/// Follows records from one to the next.
#[derive(Default)]
pub struct Chain {
    /// The game after the last record.
    replay: Option<Replay>,
    last: Option<(u32, i8)>,
    /// How often a position did not follow from the one before although both are of one game.
    pub gaps: u64,
}

/// A record's place in its chain.
pub struct Link {
    /// Whether a chain starts here.
    pub starts: bool,
    /// The position.
    pub position: Chess,
    /// The move played, which is legal.
    pub played: Move,
}

impl Chain {
    /// Takes the next record; `None` if it does not hold a legal position with a legal move.
    pub fn follow(&mut self, record: &Record) -> Option<Link> {
        let before = self.last.replace((record.game, record.result));
        let same_game = before == Some((record.game, record.result));
        let replay = self.replay.take().filter(|replay| same_game && stands_at(replay, record));
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

    /// Forgets what came before: the next record starts a chain.
    pub fn cut(&mut self) {
        self.replay = None;
        self.last = None;
    }
}

/// Whether a record is of the position where a game stands, clocks included.
fn stands_at(replay: &Replay, record: &Record) -> bool {
    let position = replay.position();
    replay.board() == record.board
        && position.turn() == record.turn
        && position.halfmoves().min(255) == u32::from(record.halfmove)
        && position.fullmoves().get().min(u32::from(u16::MAX)) == u32::from(record.fullmove)
        && ep_code(position) == record.ep
}
