use shakmaty::{CastlingMode, Chess, Color, Piece, Position, Setup, Square};

use super::*;
use crate::testing::{Simple, search};
use patzer_chess::played;
use patzer_chess::rng::Rng;
use patzer_chess::score::{mate_in, mated_in};
use patzer_chess::testing::{from_fen, line};
use patzer_eval::hce::Hce;

const TREES: [SearchKind; 4] = [SearchKind::Mcts, SearchKind::Ucb1, SearchKind::Random, SearchKind::Policy];

fn engine(kind: SearchKind) -> PlayoutSearcher<Simple> {
    PlayoutSearcher::new(Simple, kind, 64)
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

fn random_position(rng: &mut Rng, pieces: &str, halfmoves: u32) -> Option<Chess> {
    let mut setup = Setup { turn: Color::White, halfmoves, ..Setup::empty() };
    for piece in pieces.chars().filter_map(Piece::from_char) {
        setup.board.set_piece_at(Square::new(rng.below(64) as u32), piece);
    }
    setup.position::<Chess>(CastlingMode::Standard).ok()
}

/// Exact result of a position whose tree the fifty-move rule ends: 2 won, 1 drawn, 0 lost.
fn minimax(position: &Chess) -> i32 {
    let legal = position.legal_moves();
    if legal.is_empty() {
        return if position.is_check() { 0 } else { 1 };
    }
    if position.halfmoves() >= 100 || position.is_insufficient_material() {
        return 1;
    }
    legal.into_iter().map(|m| 2 - minimax(&played(position, m))).max().unwrap_or(1)
}

#[test]
fn small_trees_are_solved_as_minimax_does() {
    let mut rng = Rng::new(5);
    let mut seen = [0; 3];
    for number in 0..120 {
        // Three plies before the draw by rule; every capture draws at once.
        let pieces = ["KQk", "KRk", "Kkq", "Kkr"][number % 4];
        let Some(position) = random_position(&mut rng, pieces, 97) else { continue };
        let exact = minimax(&position);
        seen[exact as usize] += 1;
        for kind in TREES {
            let report = search(&mut engine(kind), &Line::new(position.clone()), nodes(30_000));
            let won = report.score >= mate_in(200);
            let lost = report.score <= mated_in(200);
            match exact {
                2 => assert!(won, "{kind:?} {position:?}: {}", report.score),
                0 => assert!(lost, "{kind:?} {position:?}: {}", report.score),
                _ => assert!(!won && !lost, "{kind:?} {position:?}: {}", report.score),
            }
        }
    }
    assert!(seen[1] > 5 && seen[0] + seen[2] > 0, "{seen:?}");
}

#[test]
fn problems_are_proven_and_played_to_mate() {
    for text in [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        // P. Morphy, 1856: the key move gives the rook away.
        "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",
        "5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1",
        "8/7k/8/8/8/R7/1R6/6K1 w - - 0 1",
        "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1",
    ] {
        let position = from_fen(text);
        let mut engine = PlayoutSearcher::new(Hce::new(Default::default()), SearchKind::Mcts, 64);
        let report = search(&mut engine, &Line::new(position.clone()), nodes(1_000_000));
        assert!(report.score >= mate_in(200), "{text}: {report:?}");
        let end = report.pv.iter().fold(position, |position, &m| position.play(m).unwrap());
        assert!(end.is_checkmate(), "{text}: {:?}", report.pv);
    }
}

#[test]
fn a_search_is_reproducible_and_keeps_to_its_nodes() {
    let start = Line::new(Chess::default());
    for kind in TREES {
        let run = |limit: u64| {
            let report = search(&mut engine(kind), &start, nodes(limit));
            (report.best, report.score, report.nodes, report.pv)
        };
        let one = run(5_000);
        assert_eq!(one, run(5_000), "{kind:?}");
        assert_eq!(one.2, 5_000, "{kind:?}");
        for limit in [1, 2, 3, 20] {
            let few = run(limit);
            assert!(few.0.is_some() && few.2 <= limit, "{kind:?}: {few:?}");
        }
    }
}

#[test]
fn the_tree_is_used_again_and_its_memory_is_bounded() {
    let mut engine = PlayoutSearcher::new(Simple, SearchKind::Mcts, 1);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let first = search(&mut engine, &line(start, ""), nodes(60_000));
    assert!(first.hashfull <= 1000 && first.hashfull > 300, "{}", first.hashfull);
    let reply = first.pv[1];
    let mut next = line(start, "");
    next.play(first.best.unwrap());
    next.play(reply);
    let known =
        engine.tree.find(tree::key(next.key(), next.position())).map(|at| engine.tree.node(at).visits);
    assert!(known.is_some_and(|visits| visits > 50), "{known:?}");
    search(&mut engine, &next, nodes(200));
    let now = engine.tree.find(tree::key(next.key(), next.position())).map(|at| engine.tree.node(at).visits);
    assert!(now > known);
    engine.new_game();
    assert_eq!(engine.tree.permille(), 0);
}

#[test]
fn forbidden_moves_are_not_played_and_the_mated_have_none() {
    let text = "6k1/5ppp/8/8/8/8/r7/3Q2K1 w - - 0 1";
    let report = search(&mut engine(SearchKind::Mcts), &Line::new(from_fen(text)), nodes(3_000));
    assert_eq!(report.score, mate_in(1), "{report:?}");
    let only: Vec<Move> =
        from_fen(text).legal_moves().into_iter().filter(|m| Some(*m) != report.best).collect();
    let limits = Limits { only: only.clone(), lines: 2, ..nodes(3_000) };
    let other = search(&mut engine(SearchKind::Mcts), &Line::new(from_fen(text)), limits);
    assert!(only.contains(&other.best.unwrap()) && other.score < mate_in(200), "{other:?}");
    let mated = search(
        &mut engine(SearchKind::Mcts),
        &Line::new(from_fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")),
        nodes(9),
    );
    assert_eq!((mated.best, mated.score), (None, mated_in(0)));
}

#[test]
fn visits_are_those_of_the_search_and_of_what_it_knew_before() {
    let mut engine = engine(SearchKind::Mcts);
    let mut game = Line::new(Chess::default());
    let first = search(&mut engine, &game, nodes(2_000));
    assert!(first.visits.len() > 3 && first.visits.is_sorted_by(|a, b| a.1 >= b.1), "{:?}", first.visits);
    assert_eq!(first.visits[0].0, first.best.unwrap());
    let sum = |report: &Report| report.visits.iter().map(|(_, visits)| u64::from(*visits)).sum::<u64>();
    assert!(sum(&first) <= 2_000 && sum(&first) > 200, "{}", sum(&first));
    game.play(first.best.unwrap());
    game.play(first.pv[1]);
    let next = search(&mut engine, &game, nodes(50));
    assert!(sum(&next) > 50, "{}", sum(&next));
    assert!(next.visits.iter().all(|(m, visits)| game.position().is_legal(*m) && *visits > 0));
}

#[test]
fn threads_share_a_tree_whose_visits_add_up() {
    let start = Line::new(Chess::default());
    for kind in TREES {
        let mut engine = engine(kind);
        engine.set_threads(4);
        let report = search(&mut engine, &start, nodes(20_000));
        assert!(report.nodes >= 20_000 && report.best.is_some(), "{kind:?}");
        let root = engine.tree.find(tree::key(start.key(), start.position())).unwrap();
        let root = engine.tree.node(root);
        let visits: u32 = root.edges.iter().map(|edge| edge.visits).sum();
        assert!(root.visits == visits && visits > 20, "{kind:?}: {} {visits}", root.visits);
        assert_eq!(report.visits.iter().map(|(_, visits)| visits).sum::<u32>(), visits);
        assert!(engine.tree.edges().all(|edge| edge.under_way == 0), "{kind:?}");
        // One thread is deterministic again.
        engine.set_threads(1);
        engine.new_game();
        let mut other = super::tests::engine(kind);
        let [one, same] = [&mut engine, &mut other].map(|engine| search(engine, &start, nodes(3_000)));
        assert_eq!((one.visits, one.score, one.pv), (same.visits, same.score, same.pv), "{kind:?}");
    }
}

#[test]
fn threads_prove_mates_within_their_memory() {
    for text in [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1",
        "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1",
    ] {
        let mut engine = PlayoutSearcher::new(Hce::new(Default::default()), SearchKind::Mcts, 64);
        engine.set_threads(4);
        let report = search(&mut engine, &Line::new(from_fen(text)), nodes(1_000_000));
        assert!(report.score >= mate_in(200), "{text}: {report:?}");
    }
    let mut engine = PlayoutSearcher::new(Simple, SearchKind::Mcts, 1);
    engine.set_threads(4);
    let report = search(&mut engine, &Line::new(Chess::default()), nodes(150_000));
    // The tree is pruned when it is full, after each playout.
    assert!(report.hashfull > 300 && engine.tree.is_within(1 << 20, 4 * 4096), "{}", report.hashfull);
}
