//! Players: what sits at a board.
//!
//! In: the game so far and the limits of this move. Out: a move with what the player says about it, or how it
//! failed to answer. The game trusts nothing that a player says: legality is checked, and time is what was
//! measured around the player.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, MoveList, Position};

use super::control::Timer;
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_engine::{Engine, Limits, Report};

/// What a player is asked.
pub struct Turn<'a> {
    /// The game so far; its last position has at least one legal move.
    pub line: &'a Line,
    /// The legal moves of that position.
    pub legal: &'a MoveList,
    /// The player's own clock.
    pub own: &'a Timer,
    /// The opponent's clock.
    pub other: &'a Timer,
    /// Set when the game is to be abandoned.
    pub stop: &'a AtomicBool,
}

impl Turn<'_> {
    /// Whether castling is written as king takes rook.
    pub fn castling(&self) -> CastlingMode {
        self.line.start().castles().mode()
    }
}

/// What a player says about its move. Nothing of it is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchInfo {
    /// The move's worth in centipawns from the mover's side, or a mate score; `None` if the player did not say.
    pub score: Option<Score>,
    /// Depth reached, in plies.
    pub depth: i32,
    /// The longest line looked at, in plies; 0 if the player did not say.
    pub seldepth: i32,
    /// Positions visited.
    pub nodes: u64,
    /// Positions a second; 0 if the player did not say.
    pub nps: u64,
}

/// A player's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveReply {
    /// The move, which may be illegal; or what the player said in place of one.
    pub best: Result<Move, String>,
    /// What it said about it.
    pub info: SearchInfo,
    /// Wall-clock time that the answer took, as measured outside the player.
    pub time: Duration,
}

/// How a player failed to answer. Its next game needs another one: [`Player::new_game`] starts it anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerError {
    /// The game was to be abandoned.
    Stopped,
    /// The player is gone: it ended, or closed its output. With what is known of why.
    Crash(String),
    /// The player does not answer any more. With what is known of why.
    Stall(String),
    /// The player cannot play this game at all, and no restart will help.
    Unable(String),
}

/// Something that plays.
pub trait Player: Send {
    /// Prepares for a game from `start` that has nothing to do with those before it.
    ///
    /// # Errors
    /// If the player is not ready for it.
    fn new_game(&mut self, start: &Chess, stop: &AtomicBool) -> Result<(), PlayerError>;

    /// Chooses a move. A player that takes longer than its clock allows may be given up on: the answer then holds
    /// a time beyond it.
    ///
    /// # Errors
    /// If there is no answer, for any reason but time.
    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError>;
}

/// The bundled engine as a player, in this process.
pub struct InProcess {
    engine: Box<dyn Engine>,
    overhead: Duration,
}

impl InProcess {
    /// `overhead` is what the engine keeps in reserve of its time.
    pub fn new(engine: Box<dyn Engine>, overhead: Duration) -> InProcess {
        InProcess { engine, overhead }
    }

    /// As [`Player::choose`], with so many of the best lines searched and each reported when it is known.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn search(
        &mut self,
        turn: &Turn,
        lines: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Result<MoveReply, PlayerError> {
        let limits = Limits { lines, ..turn.own.limits(self.overhead) };
        let begin = Instant::now();
        let report = self.engine.search(turn.line, &limits, turn.stop, info);
        let time = begin.elapsed();
        if turn.stop.load(Ordering::Relaxed) {
            return Err(PlayerError::Stopped);
        }
        let info = SearchInfo {
            score: Some(report.score),
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            nps: (report.nodes as f64 / time.as_secs_f64().max(1e-9)) as u64,
        };
        Ok(MoveReply { best: report.best.ok_or_else(|| "no move".to_string()), info, time })
    }
}

impl Player for InProcess {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        self.engine.new_game();
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        self.search(turn, 1, &mut |_| {})
    }
}
