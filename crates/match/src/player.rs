//! The player interface. The game checks legality, and measures time outside the player.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, MoveList, Position};

use super::control::{TimeSettings, Timer};
use patzer_chess::Line;
use patzer_chess::score::Score;
use patzer_engine::{Engine, Limits, Params, PlayerSettings, Report};
use patzer_eval::{Evaluation, named_weights};

/// The position, limits and clocks of a move to choose.
pub struct Turn<'a> {
    /// Its last position has at least one legal move.
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
    /// Of a search by playouts in this process: its moves with their visits, the most visited first.
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

/// What a player sent in place of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMove(pub String);

/// Why a player did not answer. [`Player::new_game`] restarts it.
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

    /// Names the opening of the next game by its number; draws from a [`BookPlayer`](crate::BookPlayer)'s book depend on it.
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

/// The bundled engine as a player in this process.
pub struct InProcess {
    engine: Box<dyn Engine>,
    settings: PlayerSettings,
    evaluation: Evaluation,
    params: Params,
}

impl InProcess {
    pub fn new(
        evaluation: &Evaluation,
        settings: PlayerSettings,
        params: &Params,
    ) -> Result<InProcess, PlayerError> {
        let mut engine = new_engine(evaluation, &settings)?;
        engine.set_params(params);
        Ok(InProcess { engine, settings, evaluation: evaluation.clone(), params: params.clone() })
    }

    /// The static evaluation in centipawns from the side to move.
    pub fn evaluate(&mut self, position: &Chess) -> Score {
        self.engine.evaluate(position)
    }

    /// [`Player::choose`] with MultiPV: searches the best `lines` lines and reports each.
    pub fn search(
        &mut self,
        turn: &Turn,
        lines: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Result<MoveReply, PlayerError> {
        let limits = Limits { lines, ..turn.own.limits(self.settings.overhead) };
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
            time: Some(time),
            ..SearchInfo::default()
        };
        let best = report.best.ok_or_else(|| NoMove("no move".into()));
        Ok(MoveReply { best, info, time, remarks: Remarks { visits: report.visits, ..Remarks::default() } })
    }
}

fn new_engine(evaluation: &Evaluation, settings: &PlayerSettings) -> Result<Box<dyn Engine>, PlayerError> {
    patzer_engine::engine_with(settings.search, evaluation, settings.hash_mb)
        .map_err(|error| PlayerError::Unable(error.to_string()))
}

impl Player for InProcess {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        self.engine.new_game();
        Ok(())
    }

    /// Sets search parameters by name, and weights, whose names have a dot.
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), PlayerError> {
        let (weights, params): (Vec<_>, Vec<_>) =
            options.iter().cloned().partition(|(name, _)| named_weights::is_weight(name));
        let mut next = self.params.clone();
        for (name, value) in &params {
            next.set(name, value).map_err(|error| PlayerError::Unable(error.to_string()))?;
        }
        if !weights.is_empty() {
            let changed = named_weights::with(&self.evaluation, &weights);
            let changed = changed.map_err(|error| PlayerError::Unable(error.to_string()))?;
            // Free the old table first, so that both never coexist.
            let _ = self.engine.resize(1);
            self.engine = new_engine(&changed, &self.settings)?;
        }
        self.engine.set_params(&next);
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        self.search(turn, 1, &mut |_| {})
    }
}
