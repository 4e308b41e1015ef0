//! Positions in a row, as formats of whole games need them.
//!
//! In: samples in the order of the dataset. Out: for each its position and its move, and whether it follows from the
//! one before. Positions that a filter has dropped leave gaps; after a gap a new chain starts.

use shakmaty::{Chess, Move, Position};

use super::replay::{Replay, pseudo_legal};
use crate::Sample;
use patzer_chess::packed::ep_code;

/// Follows samples from one to the next.
#[derive(Default)]
pub struct Chain {
    /// The game after the last sample.
    replay: Option<Replay>,
    last: Option<(u32, i8)>,
    /// How often a position did not follow from the one before although both are of one game.
    pub gaps: u64,
}

/// A sample's place in its chain.
pub struct Link {
    /// Whether a chain starts here.
    pub starts: bool,
    /// The position.
    pub position: Chess,
    /// The move played, which is legal.
    pub played: Move,
}

impl Chain {
    /// Takes the next sample; `None` if it does not hold a legal position with a legal move.
    pub fn follow(&mut self, sample: &Sample) -> Option<Link> {
        let before = self.last.replace((sample.game, sample.result));
        let same_game = before == Some((sample.game, sample.result));
        let replay = self.replay.take().filter(|replay| same_game && stands_at(replay, sample));
        let starts = replay.is_none();
        let mut replay = match replay {
            Some(replay) => replay,
            None => Replay::new(sample.position()?, 0, 0),
        };
        let position = replay.position().clone();
        let played = sample.played.unpack(&position).filter(|m| pseudo_legal(&position, *m))?;
        replay.play(played, None)?;
        self.replay = Some(replay);
        self.gaps += u64::from(starts && same_game);
        Some(Link { starts, position, played })
    }

    /// Forgets what came before: the next sample starts a chain.
    pub fn cut(&mut self) {
        self.replay = None;
        self.last = None;
    }
}

/// Whether a sample is of the position where a game stands, clocks included.
fn stands_at(replay: &Replay, sample: &Sample) -> bool {
    let position = replay.position();
    replay.board() == sample.board
        && position.turn() == sample.turn
        && position.halfmoves().min(255) == u32::from(sample.halfmove)
        && position.fullmoves().get().min(u32::from(u16::MAX)) == u32::from(sample.fullmove)
        && ep_code(position) == sample.ep
}
