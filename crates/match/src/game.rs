//! Plays one game, from an opening to a result with its reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, MoveList, Position};

use super::adjudication::{Adjudicator, Decision, RuleSet};
use crate::{
    Adjudication, MoveReply, Player, PlayerError, Remarks, SearchInfo, Syzygy, TimeSettings, Timer, Turn,
};
use patzer_chess::{Ending, Line, ending_with};
use patzer_uci_client::PositionCommand;

/// Reason of a game's end. The names are the keys of `reasons` in JSON output and in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Checkmate,
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
    TimeForfeit,
    IllegalMove,
    Disconnect,
    Stall,
    AdjudicatedDraw,
    AdjudicatedWin,
    MoveLimit,
    /// Decided by Syzygy tables.
    Tablebase,
}

impl Reason {
    /// Tests for a game that a player's failure ended, not chess: its result says nothing of its positions.
    pub fn is_failure(self) -> bool {
        matches!(self, Reason::TimeForfeit | Reason::IllegalMove | Reason::Disconnect | Reason::Stall)
    }

    /// The key with spaces.
    pub fn name(self) -> String {
        serde_json::to_string(&self).unwrap_or_default().trim_matches('"').replace('_', " ")
    }
}

/// Rules of all games.
#[derive(Debug, Clone)]
pub struct Rules {
    pub adjudication: Adjudication,
    /// A player that crashes or stalls loses the game and is restarted; otherwise the match ends.
    pub recover: bool,
    pub syzygy: Option<Arc<Syzygy>>,
}

/// A move with the player's report and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayedMove {
    pub m: Move,
    pub info: SearchInfo,
    pub time: Duration,
    /// Time left on the clock after the move, its increment included; `None` without a clock.
    pub left: Option<Duration>,
}

/// A finished game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    /// Position after the opening.
    pub start: Chess,
    pub moves: Vec<PlayedMove>,
    /// `None` for a draw.
    pub winner: Option<Color>,
    pub reason: Reason,
    /// Detail of the reason: the illegal move, a crashed program's last output.
    pub note: Option<String>,
    /// Remarks by ply, from 0, where there are any.
    pub remarks: Vec<(usize, Remarks)>,
    /// Begin and end, if the PGN is to have them.
    pub clock: Option<[SystemTime; 2]>,
}

impl Game {
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.remarks.iter().flat_map(|(_, remarks)| remarks.warnings.iter().map(String::as_str))
    }

    pub fn result(&self) -> &'static str {
        match self.winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }

    pub fn half_points(&self, color: Color) -> u8 {
        match self.winner {
            None => 1,
            Some(winner) => 2 * u8::from(winner == color),
        }
    }
}

struct Outcome {
    winner: Option<Color>,
    reason: Reason,
    note: Option<String>,
}

impl From<Ending> for Reason {
    fn from(ending: Ending) -> Reason {
        match ending {
            Ending::Checkmate => Reason::Checkmate,
            Ending::Stalemate => Reason::Stalemate,
            Ending::Repetition => Reason::Repetition,
            Ending::FiftyMoves => Reason::FiftyMoves,
            Ending::InsufficientMaterial => Reason::InsufficientMaterial,
        }
    }
}

impl From<(Option<Color>, Reason)> for Outcome {
    fn from((winner, reason): (Option<Color>, Reason)) -> Outcome {
        Outcome { winner, reason, note: None }
    }
}

/// The moves of a game so far.
struct Played {
    moves: Vec<PlayedMove>,
    remarks: Vec<(usize, Remarks)>,
}

/// Reason why a game has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameError {
    Stopped,
    /// The player of this colour failed, and [`Rules::recover`] is off or does not help; `position` is the UCI command
    /// of the game so far.
    Failed {
        player: Color,
        error: PlayerError,
        position: String,
    },
}

/// Plays a game from a position to which `book` plies led; `players` and `time_settings` in order White, Black.
pub fn play(
    start: &Chess,
    book: usize,
    mut players: [&mut dyn Player; 2],
    time_settings: [&TimeSettings; 2],
    rules: &Rules,
    stop: &AtomicBool,
) -> Result<Game, GameError> {
    let mut played = Played { moves: Vec::with_capacity(128), remarks: Vec::new() };
    let mut outcome = None;
    for (player, color) in players.iter_mut().zip([Color::White, Color::Black]) {
        // Prepare the other player even so: its own failure should show as early as possible.
        if let Err(error) = player.new_game(start, stop) {
            outcome = Some(forfeit(error, color, rules, &Line::new(start.clone()))?);
        }
    }
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => play_moves(start, book, &mut players, time_settings, rules, stop, &mut played)?,
    };
    if rules.recover && outcome.reason == Reason::TimeForfeit {
        players.iter_mut().for_each(|player| player.abandon());
    }
    players.iter_mut().for_each(|player| player.rest());
    let Outcome { winner, reason, note } = outcome;
    let Played { moves, remarks } = played;
    Ok(Game { start: start.clone(), moves, winner, reason, note, remarks, clock: None })
}

fn play_moves(
    start: &Chess,
    book: usize,
    players: &mut [&mut dyn Player; 2],
    time_settings: [&TimeSettings; 2],
    rules: &Rules,
    stop: &AtomicBool,
    into: &mut Played,
) -> Result<Outcome, GameError> {
    // Every rule by name, so that a new one does not compile until it is applied, here or in `forfeit`.
    let Rules { adjudication, recover: _, syzygy } = rules;
    let mut line = Line::new(start.clone());
    let mut timers =
        time_settings.map(|time_settings| Timer::new(time_settings.control, time_settings.margin));
    let mut adjudicator = Adjudicator::new(*adjudication, start, book);
    let mut legal = line.position().legal_moves();
    if let Some((winner, ending)) = ending_with(&line, &legal) {
        return Ok((winner, ending.into()).into());
    }
    loop {
        let mover = line.position().turn();
        let side = usize::from(mover.is_black());
        let (own, other) = (&timers[side], &timers[1 - side]);
        let mut choice = match players[side].choose(&Turn { line: &line, legal: &legal, own, other, stop }) {
            _ if stop.load(Ordering::Relaxed) => return Err(GameError::Stopped),
            Ok(choice) => choice,
            Err(error) => return forfeit(error, mover, rules, &line),
        };
        let remarks = std::mem::take(&mut choice.remarks);
        if !remarks.is_empty() {
            into.remarks.push((into.moves.len(), remarks));
        }
        let played = match check_reply(&line, &legal, choice, &mut timers[side], adjudication.rule_set) {
            Ok(played) => played,
            Err(outcome) => return Ok(outcome),
        };
        timers[1 - side].turn_over(played.time);
        line.play(played.m);
        into.moves.push(played);
        legal = line.position().legal_moves();
        if let Some((winner, ending)) = ending_with(&line, &legal) {
            return Ok((winner, ending.into()).into());
        }
        if let Some(winner) = syzygy.as_ref().and_then(|tables| tables.winner(line.position())) {
            return Ok((winner, Reason::Tablebase).into());
        }
        match adjudicator.after_move(mover, played.info.score, line.position().halfmoves()) {
            Some(Decision::Draw) => return Ok((None, Reason::AdjudicatedDraw).into()),
            Some(Decision::MoveLimit) => return Ok((None, Reason::MoveLimit).into()),
            Some(Decision::Win(winner)) => return Ok((Some(winner), Reason::AdjudicatedWin).into()),
            None => {}
        }
    }
}

/// Scores a loss for a failed player if the rules let the match continue.
fn forfeit(error: PlayerError, player: Color, rules: &Rules, line: &Line) -> Result<Outcome, GameError> {
    let failed = |error| {
        let mut command = PositionCommand::new(false);
        let position = String::from_utf8_lossy(command.update(line)).into_owned();
        Err(GameError::Failed { player, error, position })
    };
    let (reason, note) = match error {
        PlayerError::Stopped => return Err(GameError::Stopped),
        PlayerError::Unable(_) => return failed(error),
        PlayerError::Crash(_) | PlayerError::Stall(_) if !rules.recover => return failed(error),
        PlayerError::Crash(note) => (Reason::Disconnect, note),
        PlayerError::Stall(note) => (Reason::Stall, note),
    };
    Ok(Outcome { winner: Some(!player), reason, note: Some(note) })
}

/// Checks time and legality of a reply; the error is the outcome of the game.
fn check_reply(
    line: &Line,
    legal: &MoveList,
    choice: MoveReply,
    timer: &mut Timer,
    rule_set: RuleSet,
) -> Result<PlayedMove, Outcome> {
    let position = line.position();
    let opponent = !position.turn();
    if !timer.spend(choice.time) {
        let wins = match rule_set {
            // A side that cannot mate cannot win on time (FIDE Laws of Chess, 6.9).
            RuleSet::Patzer => !position.has_insufficient_material(opponent),
            RuleSet::Fastchess => true,
            RuleSet::Cutechess => position.board().by_color(opponent).more_than_one(),
        };
        let winner = wins.then_some(opponent);
        let note = timer.overrun(choice.time).map(|over| format!("{}ms overrun", over.as_millis()));
        let note = note.filter(|_| wins || rule_set == RuleSet::Patzer);
        return Err(Outcome { winner, reason: Reason::TimeForfeit, note });
    }
    let note = match choice.best {
        Ok(m) if legal.contains(&m) => {
            let left = timer.clock().map(|clock| clock.time);
            return Ok(PlayedMove { m, info: choice.info, time: choice.time, left });
        }
        Ok(m) => m.to_uci(position.castles().mode()).to_string(),
        Err(no_move) => no_move.0,
    };
    Err(Outcome { winner: Some(opponent), reason: Reason::IllegalMove, note: Some(note) })
}

#[cfg(test)]
mod tests;
