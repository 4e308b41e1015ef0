//! The player interface. The game checks legality, and measures time outside the player.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::{CastlingMode, Chess, Move, MoveList, Position};

use super::control::{TimeSettings, Timer};
use patzer_chess::Line;
use patzer_chess::score::Score;

/// The position, limits and clocks of a move to choose.
pub struct Turn<'a> {
    /// Line of the game, whose last position has at least one legal move.
    pub line: &'a Line,
    pub legal: &'a MoveList,
    pub own: &'a Timer,
    pub other: &'a Timer,
    pub stop: &'a AtomicBool,
}

impl Turn<'_> {
    pub fn castling(&self) -> CastlingMode {
        self.line.start().castles().mode()
    }
}

/// A player's report about its move, unchecked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchInfo {
    /// Centipawns or mate score from the mover's side; `None` if not reported.
    pub score: Option<Score>,
    pub depth: i32,
    /// Selective depth in plies; 0 if not reported.
    pub seldepth: i32,
    pub nodes: u64,
    pub nps: u64,
    /// Permille of the transposition table in use; 0 if not reported.
    pub hashfull: u32,
    pub tbhits: u64,
    /// Time of the search as the player reports it.
    pub time: Option<Duration>,
    /// Expected wins, draws and losses in a thousand, from the mover's side, if reported.
    pub wdl: Option<[u16; 3]>,
    /// The move is from a book.
    pub book: bool,
}

/// Text that a player sent while it chose a move, as [`Listen`](crate::Listen) asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Principal variation in UCI notation.
    pub pv: String,
    /// Lines that match the patterns asked for.
    pub lines: Vec<String>,
    pub warnings: Vec<String>,
    /// Moves with their visits, the most visited first, of a search by playouts in this process.
    pub visits: Vec<(Move, u32)>,
}

impl Remarks {
    pub fn is_empty(&self) -> bool {
        self.pv.is_empty() && self.lines.is_empty() && self.warnings.is_empty() && self.visits.is_empty()
    }
}

/// A player's reply to a [`Turn`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveReply {
    pub best: Result<Move, NoMove>,
    pub info: SearchInfo,
    pub time: Duration,
    pub remarks: Remarks,
}

/// Text that a player sent in place of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMove(pub String);

/// Reason why a player did not answer. [`Player::new_game`] restarts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerError {
    Stopped,
    /// The program exited or closed its output; with the known cause.
    Crash(String),
    Stall(String),
    /// Cannot play this game at all; restarting does not help.
    Unable(String),
}

impl fmt::Display for PlayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerError::Stopped => f.write_str("stopped"),
            PlayerError::Crash(note) | PlayerError::Stall(note) | PlayerError::Unable(note) => {
                f.write_str(note)
            }
        }
    }
}

/// Anything that chooses moves.
pub trait Player: Send {
    fn new_game(&mut self, start: &Chess, stop: &AtomicBool) -> Result<(), PlayerError>;

    /// Chooses a move. A player that exceeds its clock may be abandoned; the reply then has a time beyond it.
    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError>;

    /// Sets options for the games to come, from the next [`Player::new_game`] on.
    fn set_options(&mut self, _options: &[(String, String)]) -> Result<(), PlayerError> {
        Err(PlayerError::Unable("has no options to tune".into()))
    }

    /// Ends a search that has exceeded its time and may hang, so that it costs no other game.
    fn abandon(&mut self) {}

    /// Ends what the player does on its opponent's time: the game is over.
    fn rest(&mut self) {}

    /// Names the opening of the next game by its number; draws from a book of its own depend on it.
    fn set_opening(&mut self, _number: usize) {}
}

/// Scores a position from the side to move by the search of one move, as a game of its own.
pub fn score_position(
    player: &mut dyn Player,
    position: &Chess,
    settings: &TimeSettings,
    stop: &AtomicBool,
) -> Result<Option<Score>, PlayerError> {
    player.new_game(position, stop)?;
    let timer = Timer::new(settings.control, settings.margin);
    let (line, legal) = (Line::new(position.clone()), position.legal_moves());
    let turn = Turn { line: &line, legal: &legal, own: &timer, other: &timer, stop };
    player.choose(&turn).map(|reply| reply.info.score)
}
