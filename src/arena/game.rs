//! One game, from an opening to a result with its reason.
//!
//! In: a start position, two players, the rules. Out: the moves, who won and why. Games end by the rules of
//! chess (checkmate, stalemate, threefold repetition, fifty moves, insufficient material), by a player's fault
//! (time, illegal move), or by [adjudication](super::adjudication).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, Position};

use super::adjudication::{Adjudication, Decision, Judge};
use super::control::{Control, Timer};
use super::player::{Choice, Player};
use crate::chess::Line;
use crate::chess::score::Score;

/// Why a game ended. The names are those of `reasons` in JSON output and of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The side to move is mated.
    Checkmate,
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// The position stood for the third time.
    Repetition,
    /// Fifty moves of both sides without a capture or pawn move.
    FiftyMoves,
    /// Neither side can give mate.
    InsufficientMaterial,
    /// A player overstepped its time.
    TimeForfeit,
    /// A player gave an illegal move, or none.
    IllegalMove,
    /// Adjudicated: both players saw a draw.
    AdjudicatedDraw,
    /// Adjudicated: one side was far ahead.
    AdjudicatedWin,
    /// Adjudicated a draw: the game was too long.
    MoveLimit,
}

impl Reason {
    /// The name with spaces, for people.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Checkmate => "checkmate",
            Reason::Stalemate => "stalemate",
            Reason::Repetition => "repetition",
            Reason::FiftyMoves => "fifty moves",
            Reason::InsufficientMaterial => "insufficient material",
            Reason::TimeForfeit => "time forfeit",
            Reason::IllegalMove => "illegal move",
            Reason::AdjudicatedDraw => "adjudicated draw",
            Reason::AdjudicatedWin => "adjudicated win",
            Reason::MoveLimit => "move limit",
        }
    }
}

/// What both players play under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Nodes, depth or time.
    pub control: Control,
    /// When to end games early.
    pub adjudication: Adjudication,
    /// By how much a player may overstep its time.
    pub margin: Duration,
    /// What players are told to keep in reserve of their time.
    pub overhead: Duration,
}

/// A move with what its player said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// The move.
    pub m: Move,
    /// Its worth in centipawns from the mover's side, or a mate score.
    pub score: Score,
    /// Depth reached, in plies.
    pub depth: i32,
    /// Positions visited.
    pub nodes: u64,
    /// Time taken.
    pub time: Duration,
}

/// A finished game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    /// The position after the opening.
    pub start: Chess,
    /// The moves from there.
    pub moves: Vec<Played>,
    /// Who won; `None` for a draw.
    pub winner: Option<Color>,
    /// Why it ended.
    pub reason: Reason,
}

impl Game {
    /// The result as PGN writes it.
    pub fn result(&self) -> &'static str {
        match self.winner {
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
            None => "1/2-1/2",
        }
    }

    /// Half points of a colour: 0, 1 or 2.
    pub fn half_points(&self, color: Color) -> u8 {
        match self.winner {
            None => 1,
            Some(winner) => 2 * u8::from(winner == color),
        }
    }
}

/// How the position ends the game by the rules of chess, if it does: the winner and the reason.
///
/// Repetition counts from the start of the line, where the opening ended.
pub fn ending(line: &Line) -> Option<(Option<Color>, Reason)> {
    let position = line.position();
    if position.legal_moves().is_empty() {
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

/// Plays a game. `players` are White, Black. `None` if `stop` was set before it ended.
pub fn play(
    start: &Chess,
    mut players: [&mut dyn Player; 2],
    rules: &Rules,
    stop: &AtomicBool,
) -> Option<Game> {
    for player in &mut players {
        player.new_game();
    }
    let mut line = Line::new(start.clone());
    let mut timers = [Timer::new(rules.control); 2];
    let mut judge = Judge::new(rules.adjudication);
    let mut moves = Vec::new();
    let (winner, reason) = loop {
        if let Some(end) = ending(&line) {
            break end;
        }
        let mover = line.position().turn();
        let side = usize::from(mover.is_black());
        let choice = players[side].choose(&line, &timers[side].limits(rules.overhead), stop);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        match accept(&line, &choice, &mut timers[side], rules.margin) {
            Ok(played) => {
                line.play(played.m);
                moves.push(played);
            }
            Err(fault) => break fault,
        }
        if let Some(end) = ending(&line) {
            break end;
        }
        match judge.after_move(mover, choice.score, line.position().halfmoves()) {
            Some(Decision::Draw) => break (None, Reason::AdjudicatedDraw),
            Some(Decision::MoveLimit) => break (None, Reason::MoveLimit),
            Some(Decision::Win(winner)) => break (Some(winner), Reason::AdjudicatedWin),
            None => {}
        }
    };
    Some(Game { start: start.clone(), moves, winner, reason })
}

/// The move, if it came in time and is legal, else how the game ends through it.
fn accept(
    line: &Line,
    choice: &Choice,
    timer: &mut Timer,
    margin: Duration,
) -> Result<Played, (Option<Color>, Reason)> {
    let position = line.position();
    let opponent = !position.turn();
    if !timer.spend(choice.time, margin) {
        // Whoever cannot give mate cannot win on time either (FIDE Laws of Chess, 6.9).
        let winner = (!position.has_insufficient_material(opponent)).then_some(opponent);
        return Err((winner, Reason::TimeForfeit));
    }
    match choice.best {
        Some(m) if position.is_legal(m) => {
            let Choice { score, depth, nodes, time, .. } = *choice;
            Ok(Played { m, score, depth, nodes, time })
        }
        _ => Err((Some(opponent), Reason::IllegalMove)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::adjudication::{DrawRule, ResignRule};
    use super::super::mock::{Hashing, Scripted};
    use super::*;
    use crate::chess::fen;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    const RULES: Rules = Rules {
        control: Control::Nodes(1),
        adjudication: Adjudication::NONE,
        margin: Duration::ZERO,
        overhead: Duration::ZERO,
    };

    fn scripted(start: &str, moves: &str, rules: &Rules) -> Game {
        let start = if start.is_empty() { Chess::default() } else { fen::position(start, false).unwrap() };
        let (mut white, mut black) = (Scripted::new(moves), Scripted::new(moves));
        play(&start, [&mut white, &mut black], rules, &AtomicBool::new(false)).unwrap()
    }

    #[track_caller]
    fn ends(start: &str, moves: &str, result: &str, reason: Reason) {
        let game = scripted(start, moves, &RULES);
        assert_eq!((game.result(), game.reason), (result, reason));
        assert_eq!(game.moves.len(), moves.split_whitespace().count());
    }

    #[test]
    fn checkmate_wins() {
        ends("", "f2f3 e7e5 g2g4 d8h4", "0-1", Reason::Checkmate);
        ends("", "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", "1-0", Reason::Checkmate);
    }

    #[test]
    fn mate_on_the_hundredth_halfmove_still_wins() {
        ends("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8", "1-0", Reason::Checkmate);
    }

    #[test]
    fn the_rules_of_chess_draw() {
        ends("k7/8/2K5/8/8/8/8/1Q6 w - - 0 1", "b1b6", "1/2-1/2", Reason::Stalemate);
        ends("k7/8/8/8/8/8/1p6/K7 w - - 0 1", "a1b2", "1/2-1/2", Reason::InsufficientMaterial);
        ends("k7/8/8/8/8/8/7r/K7 w - - 98 80", "a1b1 h2h3", "1/2-1/2", Reason::FiftyMoves);
        let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
        ends("", shuffle, "1/2-1/2", Reason::Repetition);
    }

    #[test]
    fn an_illegal_move_loses_and_is_not_played() {
        // 2. e2e4 again has no pawn to play it.
        let game = scripted("", "e2e4 e7e5 e2e4", &RULES);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("0-1", Reason::IllegalMove, 2));
    }

    #[test]
    fn no_move_loses() {
        let game = scripted("", "e2e4", &RULES);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1-0", Reason::IllegalMove, 1));
    }

    fn overstep(start: &str) -> Game {
        let rules = Rules { control: Control::Clock("1".parse().unwrap()), margin: MS(10), ..RULES };
        let start = fen::position(start, false).unwrap();
        let mut white = Hashing::new(1);
        let mut black = Scripted { time: MS(1011), ..Scripted::new("a2a3 a7a6") };
        play(&start, [&mut white, &mut black], &rules, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn overstepping_the_time_loses() {
        let game = overstep("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1-0", Reason::TimeForfeit, 1));
    }

    #[test]
    fn a_bare_king_does_not_win_on_time() {
        let game = overstep("kr6/p7/8/8/8/8/8/7K w - - 0 1");
        assert_eq!((game.result(), game.reason), ("1/2-1/2", Reason::TimeForfeit));
    }

    #[test]
    fn adjudication_ends_games() {
        let play_with = |adjudication, score| {
            let moves = "g1f3 g8f6 b1c3 b8c6 a2a3 a7a6 b2b3 b7b6 h2h3 h7h6 g2g3 g7g6";
            let rules = Rules { adjudication, ..RULES };
            let mut players = [0, 1].map(|_| Scripted { score, ..Scripted::new(moves) });
            let [white, black] = &mut players;
            play(&Chess::default(), [white, black], &rules, &AtomicBool::new(false)).unwrap()
        };
        let draw = Adjudication {
            draw: Some(DrawRule { after: 2, moves: 2, score: 10 }),
            resign: Some(ResignRule { moves: 2, score: 600 }),
            max_moves: Some(3),
            ..Adjudication::NONE
        };
        let game = play_with(draw, 5);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1/2-1/2", Reason::AdjudicatedDraw, 4));
        let game = play_with(draw, -700);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("0-1", Reason::AdjudicatedWin, 4));
        let game = play_with(draw, 200);
        assert_eq!((game.result(), game.reason, game.moves.len()), ("1/2-1/2", Reason::MoveLimit, 6));
    }

    #[test]
    fn a_stopped_game_has_no_result() {
        let (mut white, mut black) = (Hashing::new(1), Hashing::new(2));
        let stop = AtomicBool::new(true);
        assert_eq!(play(&Chess::default(), [&mut white, &mut black], &RULES, &stop), None);
    }

    #[test]
    fn random_games_always_end() {
        for seed in 0..20 {
            let (mut white, mut black) = (Hashing::new(seed), Hashing::new(seed + 50));
            let stop = AtomicBool::new(false);
            let game = play(&Chess::default(), [&mut white, &mut black], &RULES, &stop).unwrap();
            assert_eq!(game.half_points(Color::White) + game.half_points(Color::Black), 2);
        }
    }
}
