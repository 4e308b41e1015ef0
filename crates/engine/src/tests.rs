//! Tests of the search as a whole, against plain negamax and against what the rules say.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::{CastlingMode, Chess, Position};

use super::searcher::Searcher;
use super::testing::{Simple, engine, search};
use super::transposition_table::{Bound, TranspositionTable};
use super::{Clock, Engine, Limits, Noise, Report, bench};
use patzer_chess::rng::Rng;
use patzer_chess::score::{INFINITE, MAX_PLY, Score, is_mate, mate_in, mated_in};
use patzer_chess::see::see_ge;
use patzer_chess::testing::{KIWIPETE, along_random_games, from_fen, line};
use patzer_chess::{Line, captures, key, played};
use patzer_eval::Evaluator;

fn depth(depth: i32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// Quiescence as its documentation defines it, by textbook alpha-beta: no ordering, no table.
fn plain_quiescence(position: &Chess, mut alpha: Score, beta: Score, ply: usize) -> Score {
    let (mut best, moves) = if position.is_check() {
        let moves = position.legal_moves();
        (if moves.is_empty() { mated_in(ply as i32) } else { -INFINITE }, moves)
    } else {
        let mut moves = position.legal_moves();
        moves.retain(|&mut m| captures::includes(m) && see_ge(position, m, 0));
        (Simple.evaluate(position, 0), moves)
    };
    alpha = alpha.max(best);
    for m in moves {
        if alpha >= beta {
            break;
        }
        best = best.max(-plain_quiescence(&played(position, m), -beta, -alpha, ply + 1));
        alpha = alpha.max(best);
    }
    best
}

/// Negamax with the rules of draws, and nothing else.
fn negamax(position: &Chess, path: &mut Vec<u64>, depth: i32, ply: usize) -> Score {
    let in_check = position.is_check();
    let now = key::of(position);
    let moves = position.legal_moves();
    if ply > 0 {
        let mated = in_check && moves.is_empty();
        let repeated = path.iter().skip(1).any(|&earlier| earlier == now);
        if repeated || (position.halfmoves() >= 100 && !mated) || position.is_insufficient_material() {
            return 0;
        }
    }
    if depth <= 0 {
        return plain_quiescence(position, -INFINITE, INFINITE, ply);
    }
    if moves.is_empty() {
        return if in_check { mated_in(ply as i32) } else { 0 };
    }
    path.push(now);
    let scores = moves.iter().map(|&m| -negamax(&played(position, m), path, depth - 1, ply + 1));
    let best = scores.max().unwrap_or(0);
    path.pop();
    best
}

#[test]
fn without_pruning_the_search_is_negamax() {
    for (text, deepest) in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3),
        ("7k/8/5K2/8/8/8/5Q2/8 w - - 0 1", 3),
        (KIWIPETE, 1),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 3),
        ("8/8/8/8/8/5k2/5p2/5K2 b - - 98 80", 4),
        ("7k/8/5K2/6Q1/8/8/8/8 w - - 97 90", 3),
    ] {
        for plies in 1..=deepest {
            let position = from_fen(text);
            let expected = negamax(&position, &mut Vec::new(), plies, 0);
            let mut engine = Searcher::exhaustive(Simple);
            let report = search(&mut engine, &Line::new(position), depth(plies));
            assert_eq!(report.score, expected, "{text} to depth {plies}");
        }
    }
}

#[test]
fn mates_are_found_at_their_true_distance() {
    for (text, plies) in [
        // Back rank; the smothered mate of Lucena (1497); a king and two rooks' staircase.
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1),
        ("6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1", 1),
        ("5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", 3),
        ("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 3),
    ] {
        // Reductions and pruning delay it by some iterations.
        let report = search(&mut engine(), &Line::new(from_fen(text)), depth(plies + 6));
        assert_eq!(report.score, mate_in(plies), "{text}");
        let end = report.pv.iter().fold(from_fen(text), |position, &m| position.play(m).unwrap());
        assert!(end.is_checkmate(), "{text}: the variation ends in mate");
        let exhaustive = search(&mut Searcher::exhaustive(Simple), &Line::new(from_fen(text)), depth(plies));
        assert_eq!(exhaustive.score, mate_in(plies), "{text}: the table changes no mate score");
    }
}

#[test]
fn a_finished_game_has_a_score_and_no_move() {
    let report = search(&mut engine(), &line("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", ""), depth(5));
    assert_eq!((report.best, report.score), (None, mated_in(0)));
    let report = search(&mut engine(), &line("7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", ""), depth(5));
    assert_eq!((report.best, report.score), (None, 0));
}

#[test]
fn the_side_that_is_lost_takes_a_repetition() {
    // White is about to be mated on the back rank, but can give check for ever: Qe8+ Kh7 Qh5+ Kg8.
    let line = line("6k1/6p1/5p2/7Q/8/8/rr6/7K w - - 0 1", "");
    let report = search(&mut engine(), &line, depth(16));
    assert_eq!(report.score, 0);
    assert!(played(line.position(), report.best.unwrap()).is_check());
}

#[test]
fn a_third_occurrence_on_the_board_is_a_draw_in_the_search() {
    let start = "k7/8/1K6/8/8/8/8/2R5 w - - 0 1";
    // After c1d1 a8b8 d1c1 b8a8, twice, White's c1d1 leaves Black only a8b8: the third occurrence.
    let fresh = line(start, "c1d1");
    let worn = line(start, "c1d1 a8b8 d1c1 b8a8 c1d1 a8b8 d1c1 b8a8 c1d1");
    assert_eq!(fresh.position(), worn.position());
    assert!(search(&mut Searcher::exhaustive(Simple), &fresh, depth(1)).score < -400);
    assert_eq!(search(&mut Searcher::exhaustive(Simple), &worn, depth(1)).score, 0);
}

#[test]
fn the_fifty_move_rule_is_a_draw_unless_it_is_mate() {
    // With the counter at 99 every quiet move draws, except the one that mates.
    let mate = search(&mut engine(), &line("7k/8/6K1/8/8/8/8/R7 w - - 99 90", ""), depth(4));
    assert_eq!(mate.score, mate_in(1));
    let draw = search(&mut engine(), &line("7k/8/5K2/8/8/8/8/R7 w - - 99 90", ""), depth(4));
    assert_eq!(draw.score, 0);
}

#[test]
fn a_search_ends_at_once_and_still_moves() {
    let line = line(KIWIPETE, "");
    let legal = line.position().legal_moves();
    let clock = Clock { time: Duration::ZERO, increment: Duration::ZERO, moves_to_go: None };
    let clock = Limits { clock: Some(clock), ..Limits::default() };
    for limits in [nodes(0), nodes(1), nodes(2), nodes(40), clock] {
        let report = search(&mut engine(), &line, limits.clone());
        assert!(legal.contains(&report.best.unwrap()), "{limits:?}");
        assert!(limits.nodes.is_none_or(|nodes| report.nodes <= nodes));
    }
    let report = engine().search(&line, &Limits::default(), &AtomicBool::new(true), &mut |_| {});
    assert!(legal.contains(&report.best.unwrap()));
}

#[test]
fn node_limits_are_exact_and_soft_ones_end_with_an_iteration() {
    let line = line(KIWIPETE, "");
    let report = search(&mut engine(), &line, nodes(5_000));
    assert_eq!(report.nodes, 5_000);
    let soft = Limits { soft_nodes: Some(5_000), ..Limits::default() };
    let mut last = 0;
    let report = engine().search(&line, &soft, &AtomicBool::new(false), &mut |info| {
        assert!(last < 5_000, "an iteration began beyond the limit");
        last = info.nodes;
    });
    assert!(report.nodes >= 5_000 && report.nodes == last);
}

#[test]
fn the_last_report_is_what_is_played_however_the_search_ends() {
    let mut engine = engine();
    let weak = Some(Noise { deviation: 200, seed: 1 });
    for (seed, budget, lines, noise) in [
        (1, 1, 1, None),
        (2, 20, 1, None),
        (3, 1_000, 1, None),
        (4, 5_000, 1, None),
        (5, 700, 3, None),
        (6, 60, 1, weak),
        (7, 1_000, 1, weak),
    ] {
        along_random_games(seed, 3, 60, |position| {
            if position.legal_moves().is_empty() {
                return;
            }
            let mut last = Report::default();
            let limits = Limits { lines, noise, ..nodes(budget) };
            let played =
                engine.search(&Line::new(position.clone()), &limits, &AtomicBool::new(false), &mut |info| {
                    if info.rank == 1 {
                        last = info.clone();
                    }
                });
            assert_eq!(last.pv.first(), last.best.as_ref());
            assert_eq!((last.best, last.score, &last.pv), (played.best, played.score, &played.pv));
            assert_eq!((last.depth, last.nodes), (played.depth, played.nodes));
        });
    }
}

#[test]
fn a_weakened_player_takes_the_move_that_seems_best_with_its_errors() {
    let (mut engine, mut others) = (Searcher::exhaustive(Simple), 0);
    along_random_games(11, 4, 60, |position| {
        let moves = position.legal_moves();
        let line = Line::new(position.clone());
        let noise = Noise { deviation: 150, seed: 3 };
        let seen = |m| {
            let mut engine = Searcher::exhaustive(Simple);
            let score = search(&mut engine, &line, Limits { only: vec![m], ..depth(2) }).score;
            (if is_mate(score) { score } else { score + noise.variate(line.key(), m) }, score)
        };
        let Some(expected) = moves.iter().map(|&m| seen(m).0).max() else { return };
        let report = search(&mut engine, &line, Limits { noise: Some(noise), ..depth(2) });
        assert_eq!(seen(report.best.unwrap()), (expected, report.score), "{position:?}");
        others += usize::from(search(&mut engine, &line, depth(2)).best != report.best);
    });
    assert!(others > 50, "the errors changed {others} moves");
}

#[test]
fn a_search_too_short_for_an_iteration_answers_a_sensible_move() {
    for (text, expected) in [
        // Takes the queen, mates, promotes, moves the attacked knight away.
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5"),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8"),
        ("8/P5k1/8/8/8/8/8/4K3 w - - 0 1", "a7a8q"),
        ("4k3/8/8/8/3p4/2N5/8/K7 w - - 0 1", "c3"),
    ] {
        for (threads, budget) in [(1, 0), (1, 1), (1, 5), (64, 1), (64, 40)] {
            let mut engine = engine();
            engine.set_threads(threads);
            let report = search(&mut engine, &line(text, ""), nodes(budget));
            let best = report.best.unwrap().to_uci(CastlingMode::Standard).to_string();
            assert!(best.starts_with(expected), "{text}: {best}");
        }
    }
    // The table knows better than a look at the move: Black is mated after Kf6.
    let (mut engine, line) = (engine(), line("8/5P1k/8/5K2/8/8/8/8 w - - 0 1", ""));
    let deep = search(&mut engine, &line, depth(12));
    assert_eq!(search(&mut engine, &line, nodes(1)).best, deep.best);
}

#[test]
fn the_same_search_finds_the_same() {
    let line = line(KIWIPETE, "");
    let mut engine = engine();
    let first = search(&mut engine, &line, nodes(20_000));
    for resize in [false, true] {
        if resize {
            engine.resize(1).unwrap();
        }
        engine.new_game();
        let other = search(&mut engine, &line, nodes(20_000));
        assert_eq!((first.best, first.score, &first.pv), (other.best, other.score, &other.pv));
        assert_eq!((first.nodes, first.depth, first.seldepth), (other.nodes, other.depth, other.seldepth));
    }
}

#[test]
fn a_table_made_for_few_nodes_is_as_good_as_a_large_one() {
    let (mut small, mut large) = (Searcher::new(Simple, TranspositionTable::for_nodes(300)), engine());
    along_random_games(9, 4, 80, |position| {
        let [small, large] = [&mut small, &mut large].map(|engine| {
            engine.new_game();
            search(engine, &Line::new(position.clone()), nodes(300))
        });
        assert_eq!((small.score, small.depth), (large.score, large.depth), "{position:?}");
        assert_eq!(small.pv, large.pv, "{position:?}");
    });
}

#[test]
fn every_variation_is_legal() {
    let mut rng = Rng::new(3);
    let mut engine = engine();
    for _ in 0..20 {
        let mut line = Line::new(Chess::default());
        for _ in 0..rng.below(60) {
            let moves = line.position().legal_moves();
            if moves.is_empty() {
                break;
            }
            line.play(moves[rng.below(moves.len())]);
        }
        let report = search(&mut engine, &line, nodes(3_000));
        assert_eq!(report.pv.first(), report.best.as_ref());
        report.pv.iter().fold(line.position().clone(), |position, &m| position.play(m).unwrap());
    }
}

#[test]
fn a_position_resolves_to_the_leaf_that_quiescence_scores() {
    let mut engine = engine();
    let mut moved = 0;
    along_random_games(5, 12, 80, |position| {
        let Some((leaf, score)) = engine.quiescence_leaf(position) else { return };
        let expected = plain_quiescence(position, -INFINITE, INFINITE, 0);
        let from_root = if leaf.turn() == position.turn() { score } else { -score };
        if leaf.is_checkmate() {
            assert_eq!(score, mated_in(0));
            assert!(expected.abs() > 30_000);
            return;
        }
        assert_eq!(from_root, expected, "{position:?}");
        assert_eq!(score, Simple.evaluate(&leaf, 0));
        assert!(!leaf.is_check());
        moved += usize::from(leaf != *position);
    });
    assert!(moved > 100, "only {moved} positions were not quiet");
    // The leaf does not depend on earlier searches.
    let position = from_fen(KIWIPETE);
    let fresh = super::testing::engine().quiescence_leaf(&position);
    search(&mut engine, &Line::new(position.clone()), nodes(20_000));
    assert_eq!(engine.quiescence_leaf(&position), fresh);
}

#[test]
fn a_quiet_position_is_its_own_leaf_and_a_stalemate_has_none() {
    let start = Chess::default();
    assert_eq!(engine().quiescence_leaf(&start), Some((start.clone(), Simple.evaluate(&start, 0))));
    let mated = from_fen("7k/5KQ1/8/8/8/8/8/8 b - - 0 1");
    assert_eq!(engine().quiescence_leaf(&mated), Some((mated.clone(), mated_in(0))));
    assert_eq!(engine().quiescence_leaf(&from_fen("7k/5K2/6Q1/8/8/8/8/8 b - - 0 1")), None);
}

#[test]
fn the_deepest_search_stays_within_its_arrays() {
    // Nearly nothing can move, so iterations run up to the last.
    let report = search(&mut engine(), &line("8/8/p7/P7/8/k7/8/K7 w - - 0 1", ""), nodes(60_000));
    assert!(report.best.is_some());
    assert!(report.seldepth <= MAX_PLY as i32);
}

#[test]
fn a_search_of_several_threads_finds_the_mate_and_plays_legally() {
    let mut engine = engine();
    engine.set_threads(3);
    let mate = search(&mut engine, &line("5r1k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", ""), depth(6));
    assert_eq!(mate.score, mate_in(3));
    let kiwipete = line(KIWIPETE, "");
    let report = search(&mut engine, &kiwipete, nodes(30_000));
    assert!(kiwipete.position().legal_moves().contains(&report.best.unwrap()));
    assert!(report.nodes >= 30_000, "all threads' nodes count");
    engine.set_threads(1);
    assert_eq!(search(&mut engine, &kiwipete, nodes(5_000)).nodes, 5_000);
}

#[test]
fn several_lines_come_best_first_and_the_first_is_that_of_a_plain_search() {
    let kiwipete = line(KIWIPETE, "");
    let plain = search(&mut engine(), &kiwipete, depth(1));
    let limits = Limits { lines: 4, ..depth(1) };
    let mut scores = Vec::new();
    let mut tell = |report: &Report| scores.push((report.rank, report.score, report.best));
    engine().search(&kiwipete, &limits, &AtomicBool::new(false), &mut tell);
    assert_eq!(scores.iter().map(|&(rank, ..)| rank).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(scores.is_sorted_by(|a, b| a.1 >= b.1), "{scores:?}");
    assert_eq!((scores[0].1, scores[0].2), (plain.score, plain.best));
}

/// The reports of searches of the bench's positions that are stopped in the middle of an iteration.
fn stopped_searches(lines: usize) -> Vec<Vec<Report>> {
    let mut searches = Vec::new();
    let mut engine = engine();
    for position in bench::positions().take(24) {
        for nodes in [2_000, 3_000, 5_000, 7_000] {
            engine.new_game();
            let mut reports = Vec::new();
            let limits = Limits { nodes: Some(nodes), lines, ..Limits::default() };
            let line = Line::new(position.clone());
            engine
                .search(&line, &limits, &AtomicBool::new(false), &mut |report| reports.push(report.clone()));
            searches.push(reports);
        }
    }
    searches
}

#[test]
fn a_stopped_search_keeps_the_line_and_the_score_of_the_move_it_plays() {
    let mut changed = 0;
    for reports in stopped_searches(1) {
        let [.., before, last] = &reports[..] else { continue };
        if last.best == before.best {
            assert!(last.pv.len() > 1 || before.pv.len() == 1, "{before:?}\n{last:?}");
            assert_eq!(last.bound, Bound::Exact);
        } else {
            changed += 1;
            let known = last.bound == Bound::Exact;
            assert!(known || last.score == before.score, "{before:?}\n{last:?}");
        }
    }
    assert!(changed > 0);
}

#[test]
fn a_stopped_search_orders_the_lines_of_each_depth() {
    let mut mixed = 0;
    for reports in stopped_searches(4) {
        let first = reports.iter().rposition(|report| report.rank == 1).unwrap();
        let last = &reports[first..];
        for pair in last.windows(2) {
            assert_eq!(pair[0].rank + 1, pair[1].rank);
            assert!(pair[0].depth >= pair[1].depth, "{last:?}");
            assert!(pair[0].depth > pair[1].depth || pair[0].score >= pair[1].score, "{last:?}");
            mixed += usize::from(pair[0].depth > pair[1].depth);
        }
    }
    assert!(mixed > 0);
}
