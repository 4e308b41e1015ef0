//! Keys, exchanges, captures and the search along random games of standard chess and Chess960.

use std::sync::atomic::AtomicBool;

use patzer_chess::see::see_ge;
use patzer_chess::{Line, captures, key, null_move};
use patzer_engine::{Limits, engine};
use patzer_eval::Evaluation;
use proptest::prelude::*;
use shakmaty::{Board, CastlingMode, Chess, Color, MoveList, Position, Setup};

/// One of the 960 start positions.
fn start(number: u32) -> Chess {
    let setup = Setup {
        board: Board::chess960(number),
        castling_rights: Board::chess960(number).rooks(),
        turn: Color::White,
        ..Setup::empty()
    };
    setup.position(CastlingMode::Chess960).unwrap()
}

/// The positions of a game in which each choice picks a move.
fn game(number: u32, choices: &[u16]) -> Vec<Line> {
    let mut line = Line::new(start(number));
    let mut lines = vec![line.clone()];
    for &choice in choices {
        let moves = line.position().legal_moves();
        if moves.is_empty() {
            break;
        }
        line.play(moves[usize::from(choice) % moves.len()]);
        lines.push(line.clone());
    }
    lines
}

fn games() -> impl Strategy<Value = (u32, Vec<u16>)> {
    (0..960u32, prop::collection::vec(any::<u16>(), 0..160))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_by_increments_is_the_key_from_scratch((number, choices) in games()) {
        for line in game(number, &choices) {
            let position = line.position();
            prop_assert_eq!(line.key(), key::of(position));
            if !position.is_check() {
                let passed = null_move::null_move(position).unwrap();
                prop_assert_eq!(key::after_null(position, line.key()), key::of(&passed));
                prop_assert_eq!(passed, position.clone().swap_turn().unwrap());
            }
        }
    }

    #[test]
    fn equal_keys_are_equal_positions((number, choices) in games()) {
        let lines = game(number, &choices);
        let last = &lines[lines.len() - 1];
        let equal = lines.iter().filter(|line| line.key() == last.key());
        prop_assert!(equal.clone().all(|line| line.position() == last.position()));
        // Nothing comes back across a move that cannot be undone, so all earlier occurrences count.
        prop_assert_eq!(equal.count() - 1, last.repetitions());
    }

    #[test]
    fn captures_are_the_legal_moves_that_change_material((number, choices) in games()) {
        for line in game(number, &choices) {
            let position = line.position();
            if position.is_check() {
                continue;
            }
            let mut direct = MoveList::new();
            captures::generate(position, &mut direct);
            let filtered: Vec<_> = position.legal_moves().into_iter().filter(|&m| captures::includes(m)).collect();
            prop_assert_eq!(direct.len(), filtered.len());
            prop_assert!(filtered.iter().all(|m| direct.contains(m)));
        }
    }

    #[test]
    fn an_exchange_that_wins_more_also_wins_less((number, choices) in games()) {
        let lines = game(number, &choices);
        let position = lines[lines.len() - 1].position();
        for m in position.legal_moves() {
            let wins: Vec<bool> = (-12..=12).map(|pawns| see_ge(position, m, 100 * pawns)).collect();
            prop_assert!(wins.windows(2).all(|pair| pair[0] || !pair[1]));
            prop_assert!(wins[0] || m.role() == shakmaty::Role::King, "no piece but the king loses more than a queen");
        }
    }

    #[test]
    fn a_search_moves_legally_and_a_leaf_is_quiet((number, choices) in games()) {
        let lines = game(number, &choices);
        let line = &lines[lines.len() - 1];
        let mut engine = engine(&Evaluation::default_hce(), 1).unwrap();
        let limits = Limits { nodes: Some(400), ..Limits::default() };
        let report = engine.search(line, &limits, &AtomicBool::new(false), &mut |_| {});
        prop_assert!(report.nodes <= 400);
        let mut position = line.position().clone();
        prop_assert_eq!(report.best.is_none(), position.legal_moves().is_empty());
        for &m in &report.pv {
            position = position.play(m).unwrap();
        }
        if let Some((leaf, score)) = engine.quiescence_leaf(line.position()) {
            prop_assert!(!leaf.is_check() || leaf.is_checkmate());
            prop_assert!(leaf.board().occupied().count() <= line.position().board().occupied().count());
            prop_assert!(leaf.is_checkmate() || score == engine.evaluate(&leaf));
        }
    }
}
