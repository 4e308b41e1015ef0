use super::*;
use crate::Control;
use crate::adjudication::{DrawRule, ResignRule};
use crate::mock::{Hashing, Scripted, TIME};
use crate::pgn;
use patzer_chess::fen;

const MS: fn(u64) -> Duration = Duration::from_millis;

const RULES: Rules = Rules { adjudication: Adjudication::NONE, recover: false, syzygy: None };
static NEVER: AtomicBool = AtomicBool::new(false);

fn scripted(start: &str, moves: &str, rules: &Rules) -> Game {
    let start = if start.is_empty() { Chess::default() } else { fen::position(start, false).unwrap() };
    let (mut white, mut black) = (Scripted::new(moves), Scripted::new(moves));
    play(&start, 0, [&mut white, &mut black], [&TIME; 2], rules, &NEVER).unwrap()
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
    let overstep = |start: &str, rules: &Rules| {
        let time_settings = TimeSettings { control: Control::clock("1".parse().unwrap()), margin: MS(10) };
        let start = fen::position(start, false).unwrap();
        let mut white = Hashing(1);
        let mut black = Scripted { time: MS(1011), ..Scripted::new("a2a3 a7a6") };
        play(&start, 0, [&mut white, &mut black], [&time_settings; 2], rules, &NEVER).unwrap()
    };
    let game = overstep("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &RULES);
    assert_eq!((game.result(), game.reason, game.moves.len()), ("1-0", Reason::TimeForfeit, 1));
    let bare = "kr6/p7/8/8/8/8/8/7K w - - 0 1";
    let game = overstep(bare, &RULES);
    assert_eq!((game.result(), game.reason), ("1/2-1/2", Reason::TimeForfeit));
    let adjudication = Adjudication { rule_set: RuleSet::Fastchess, ..Adjudication::NONE };
    assert_eq!(overstep(bare, &Rules { adjudication, ..RULES }).result(), "1-0");
    let adjudication = Adjudication { rule_set: RuleSet::Cutechess, ..Adjudication::NONE };
    let game = overstep(bare, &Rules { adjudication, ..RULES });
    assert_eq!((game.result(), pgn::how_it_ended(&game)), ("1/2-1/2", "Draw by timeout".into()));
    // A knight that cannot mate wins there.
    let knight = "kr6/p7/8/8/8/8/8/6NK w - - 0 1";
    assert_eq!(overstep(knight, &Rules { adjudication, ..RULES }).result(), "1-0");
    assert_eq!(overstep(knight, &RULES).reason, Reason::TimeForfeit);
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
        play(&Chess::default(), 0, [white, black], [&TIME; 2], &rules, &NEVER).unwrap()
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
    let game = play(&Chess::default(), 0, [&mut white, &mut black], [&TIME; 2], &RULES, &stop);
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
            let game = play(&Chess::default(), 0, players, [&TIME; 2], &recover, &NEVER).unwrap();
            assert_eq!((game.result(), game.reason, game.moves.len()), ("0-1", reason, plies));
            assert_eq!(game.note, Some(gone()));
            let players: [&mut dyn Player; 2] = [&mut black, &mut white];
            let game = play(&Chess::default(), 0, players, [&TIME; 2], &RULES, &NEVER);
            let Err(GameError::Failed { player, error: failed, position }) = game else { panic!("{game:?}") };
            assert_eq!((player, failed), (Color::Black, error.clone()));
            let moves = position.strip_prefix("position startpos").unwrap().split_whitespace();
            assert_eq!(moves.count(), if at_once { 0 } else { 1 + 5 }, "{position}");
        }
    }
}

#[test]
fn random_games_always_end() {
    for seed in 0..20 {
        let (mut white, mut black) = (Hashing(seed), Hashing(seed + 50));
        let game = play(&Chess::default(), 0, [&mut white, &mut black], [&TIME; 2], &RULES, &NEVER).unwrap();
        assert_eq!(game.half_points(Color::White) + game.half_points(Color::Black), 2);
    }
}
