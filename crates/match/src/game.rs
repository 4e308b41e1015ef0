//! Plays one game, from an opening to a result with its reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, MoveList, Position};

use super::adjudication::{Adjudicator, Decision};
use crate::{
    Adjudication, Control, MoveReply, Player, PlayerError, Remarks, SearchInfo, Syzygy, Timer, Turn,
};
use patzer_chess::Line;

/// Why a game ended. The names are the keys of `reasons` in JSON output and in the journal.
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
    /// The key with spaces.
    pub fn name(self) -> String {
        serde_json::to_string(&self).unwrap_or_default().trim_matches('"').replace('_', " ")
    }
}

/// Limits of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSettings {
    pub control: Control,
    /// How far the player may overstep its time.
    pub margin: Duration,
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

/// Winner and reason if the rules of chess end the game here; repetitions count from the opening.
pub fn ending(line: &Line) -> Option<(Option<Color>, Reason)> {
    ending_with(line, &line.position().legal_moves())
}

fn ending_with(line: &Line, legal: &MoveList) -> Option<(Option<Color>, Reason)> {
    let position = line.position();
    if legal.is_empty() {
        return Some(match position.is_check() {
            true => (Some(!position.turn()), Reason::Checkmate),
            false => (None, Reason::Stalemate),
        });
    }
    let draw = if position.is_insufficient_material() {
        Reason::InsufficientMaterial
    } else if position.halfmoves() >= 100 {
        Reason::FiftyMoves
    } else if line.repetitions() >= 2 {
        Reason::Repetition
    } else {
        return None;
    };
    Some((None, draw))
}

struct Outcome {
    winner: Option<Color>,
    reason: Reason,
    note: Option<String>,
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

/// Why a game has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameError {
    Stopped,
    /// The player of this colour failed and [`Rules::recover`] is off.
    Failed(Color, String),
}

/// Plays a game; `players` and `time_settings` in order White, Black.
pub fn play(
    start: &Chess,
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
            outcome = Some(forfeit(error, color, rules)?);
        }
    }
    let outcome = match outcome {
        Some(outcome) => outcome,
        None => play_moves(start, &mut players, time_settings, rules, stop, &mut played)?,
    };
    if rules.recover && outcome.reason == Reason::TimeForfeit {
        players.iter_mut().for_each(|player| player.abandon());
    }
    let Outcome { winner, reason, note } = outcome;
    let Played { moves, remarks } = played;
    Ok(Game { start: start.clone(), moves, winner, reason, note, remarks, clock: None })
}

fn play_moves(
    start: &Chess,
    players: &mut [&mut dyn Player; 2],
    time_settings: [&TimeSettings; 2],
    rules: &Rules,
    stop: &AtomicBool,
    into: &mut Played,
) -> Result<Outcome, GameError> {
    let mut line = Line::new(start.clone());
    let mut timers =
        time_settings.map(|time_settings| Timer::new(time_settings.control, time_settings.margin));
    let mut adjudicator = Adjudicator::new(rules.adjudication, start);
    let mut legal = line.position().legal_moves();
    if let Some(end) = ending_with(&line, &legal) {
        return Ok(end.into());
    }
    loop {
        let mover = line.position().turn();
        let side = usize::from(mover.is_black());
        let (own, other) = (&timers[side], &timers[1 - side]);
        let mut choice = match players[side].choose(&Turn { line: &line, legal: &legal, own, other, stop }) {
            _ if stop.load(Ordering::Relaxed) => return Err(GameError::Stopped),
            Ok(choice) => choice,
            Err(error) => return forfeit(error, mover, rules),
        };
        let remarks = std::mem::take(&mut choice.remarks);
        if !remarks.is_empty() {
            into.remarks.push((into.moves.len(), remarks));
        }
        let played = match check_reply(&line, &legal, choice, &mut timers[side]) {
            Ok(played) => played,
            Err(outcome) => return Ok(outcome),
        };
        line.play(played.m);
        into.moves.push(played);
        legal = line.position().legal_moves();
        if let Some(end) = ending_with(&line, &legal) {
            return Ok(end.into());
        }
        if let Some(winner) = rules.syzygy.as_ref().and_then(|tables| tables.winner(line.position())) {
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
fn forfeit(error: PlayerError, loser: Color, rules: &Rules) -> Result<Outcome, GameError> {
    let (reason, note) = match error {
        PlayerError::Stopped => return Err(GameError::Stopped),
        PlayerError::Unable(note) => return Err(GameError::Failed(loser, note)),
        PlayerError::Crash(note) | PlayerError::Stall(note) if !rules.recover => {
            return Err(GameError::Failed(loser, note));
        }
        PlayerError::Crash(note) => (Reason::Disconnect, note),
        PlayerError::Stall(note) => (Reason::Stall, note),
    };
    Ok(Outcome { winner: Some(!loser), reason, note: Some(note) })
}

/// Checks time and legality of a reply; the error is the outcome of the game.
fn check_reply(
    line: &Line,
    legal: &MoveList,
    choice: MoveReply,
    timer: &mut Timer,
) -> Result<PlayedMove, Outcome> {
    let position = line.position();
    let opponent = !position.turn();
    if !timer.spend(choice.time) {
        // A side that cannot mate cannot win on time (FIDE Laws of Chess, 6.9).
        let winner = (!position.has_insufficient_material(opponent)).then_some(opponent);
        let note = timer.overrun(choice.time).map(|over| format!("{}ms overrun", over.as_millis()));
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
mod tests {
    use super::super::adjudication::{DrawRule, ResignRule};
    use super::super::mock::{Hashing, Scripted, TIME};
    use super::*;
    use patzer_chess::fen;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    const RULES: Rules = Rules { adjudication: Adjudication::NONE, recover: false, syzygy: None };
    static NEVER: AtomicBool = AtomicBool::new(false);

    fn scripted(start: &str, moves: &str, rules: &Rules) -> Game {
        let start = if start.is_empty() { Chess::default() } else { fen::position(start, false).unwrap() };
        let (mut white, mut black) = (Scripted::new(moves), Scripted::new(moves));
        play(&start, [&mut white, &mut black], [&TIME; 2], rules, &NEVER).unwrap()
    }

    #[track_caller]
    fn ends(start: &str, moves: &str, result: &str, reason: Reason) {
        let game = scripted(start, moves, &RULES);
        assert_eq!((game.result(), game.reason), (result, reason));
        assert_eq!(game.moves.len(), moves.split_whitespace().count());
    }

    #[test]
    fn the_rules_of_chess_end_games() {
        ends("", "f2f3 e7e5 g2g4 d8h4", "0-1", Reason::Checkmate);
        ends("", "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", "1-0", Reason::Checkmate);
        // Mate on the hundredth halfmove still wins.
        ends("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8", "1-0", Reason::Checkmate);
        ends("k7/8/2K5/8/8/8/8/1Q6 w - - 0 1", "b1b6", "1/2-1/2", Reason::Stalemate);
        ends("k7/8/8/8/8/8/1p6/K7 w - - 0 1", "a1b2", "1/2-1/2", Reason::InsufficientMaterial);
        ends("k7/8/8/8/8/8/7r/K7 w - - 98 80", "a1b1 h2h3", "1/2-1/2", Reason::FiftyMoves);
        let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
        ends("", shuffle, "1/2-1/2", Reason::Repetition);
    }

    #[test]
    fn an_illegal_move_loses_and_is_not_played_and_no_move_loses() {
        let game = scripted("", "e2e4 e7e5 e2e4", &RULES);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("0-1", Reason::IllegalMove, 2));
        assert_eq!(game.note.as_deref(), Some("e2e4"));
        let game = scripted("", "e2e4", &RULES);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1-0", Reason::IllegalMove, 1));
    }

    #[test]
    fn overstepping_the_time_loses_but_a_bare_king_does_not_win_on_time() {
        let overstep = |start: &str| {
            let time_settings =
                TimeSettings { control: Control::clock("1".parse().unwrap()), margin: MS(10) };
            let start = fen::position(start, false).unwrap();
            let mut white = Hashing(1);
            let mut black = Scripted { time: MS(1011), ..Scripted::new("a2a3 a7a6") };
            play(&start, [&mut white, &mut black], [&time_settings; 2], &RULES, &NEVER).unwrap()
        };
        let game = overstep("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1-0", Reason::TimeForfeit, 1));
        let game = overstep("kr6/p7/8/8/8/8/8/7K w - - 0 1");
        assert_eq!((game.result(), game.reason), ("1/2-1/2", Reason::TimeForfeit));
    }

    #[test]
    fn adjudication_ends_games() {
        let adjudication = Adjudication {
            draw: Some(DrawRule { after: 2, moves: 2, score: 10 }),
            resign: Some(ResignRule { moves: 2, score: 600 }),
            max_moves: Some(3),
            ..Adjudication::NONE
        };
        let rules = Rules { adjudication, ..RULES };
        let play_with = |score| {
            let moves = "g1f3 g8f6 b1c3 b8c6 a2a3 a7a6 b2b3 b7b6 h2h3 h7h6 g2g3 g7g6";
            let mut players = [0, 1].map(|_| Scripted { score, ..Scripted::new(moves) });
            let [white, black] = &mut players;
            play(&Chess::default(), [white, black], [&TIME; 2], &rules, &NEVER).unwrap()
        };
        for (score, end) in [
            (5, ("1/2-1/2", Reason::AdjudicatedDraw, 4)),
            (-700, ("0-1", Reason::AdjudicatedWin, 4)),
            (200, ("1/2-1/2", Reason::MoveLimit, 6)),
        ] {
            let game = play_with(score);
            assert_eq!((game.result(), game.reason, game.moves.len()), end);
        }
    }

    #[test]
    fn a_stopped_game_has_no_result() {
        let (mut white, mut black) = (Hashing(1), Hashing(2));
        let stop = AtomicBool::new(true);
        let game = play(&Chess::default(), [&mut white, &mut black], [&TIME; 2], &RULES, &stop);
        assert_eq!(game, Err(GameError::Stopped));
    }

    struct Failing(PlayerError, bool);

    impl Player for Failing {
        fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
            if self.1 { Err(self.0.clone()) } else { Ok(()) }
        }

        fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
            let early = turn.line.moves().len() < 4;
            if early { Hashing(1).choose(turn) } else { Err(self.0.clone()) }
        }
    }

    #[test]
    fn a_player_that_fails_loses_if_the_match_may_go_on_and_ends_it_otherwise() {
        let gone = || "gone".to_string();
        for (error, reason) in
            [(PlayerError::Crash(gone()), Reason::Disconnect), (PlayerError::Stall(gone()), Reason::Stall)]
        {
            for (at_once, plies) in [(false, 4), (true, 0)] {
                let (mut white, mut black) = (Failing(error.clone(), at_once), Hashing(2));
                let players: [&mut dyn Player; 2] = [&mut white, &mut black];
                let recover = Rules { recover: true, ..RULES };
                let game = play(&Chess::default(), players, [&TIME; 2], &recover, &NEVER).unwrap();
                assert_eq!((game.result(), game.reason, game.moves.len()), ("0-1", reason, plies));
                assert_eq!(game.note, Some(gone()));
                let players: [&mut dyn Player; 2] = [&mut black, &mut white];
                let game = play(&Chess::default(), players, [&TIME; 2], &RULES, &NEVER);
                assert_eq!(game, Err(GameError::Failed(Color::Black, gone())));
            }
        }
    }

    #[test]
    fn random_games_always_end() {
        for seed in 0..20 {
            let (mut white, mut black) = (Hashing(seed), Hashing(seed + 50));
            let game = play(&Chess::default(), [&mut white, &mut black], [&TIME; 2], &RULES, &NEVER).unwrap();
            assert_eq!(game.half_points(Color::White) + game.half_points(Color::Black), 2);
        }
    }
}
