//! The root: iterative deepening, aspiration windows, MultiPV.

use shakmaty::{Chess, Move, Position};

use super::history::piece_to;
use super::mate;
use super::search::Search;
use super::stack::Node;
use super::tables::{self, RootTables, Tables};
use super::time_manager::BestMoveStability;
use super::transposition_table::Bound;
use super::{Limits, Report};
use patzer_chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, is_mate, mate_in, mated_in};
use patzer_chess::see::{see_ge, value};
use patzer_chess::{Line, MoveParts, key, legal, played};
use patzer_eval::Evaluator;

#[derive(Debug, Clone)]
pub(crate) struct RootMove {
    pub m: Move,
    found: Found,
    /// The result of the last iteration, for a search that is stopped.
    previous: Found,
    nodes: u64,
}

/// Result of an iteration for a root move.
#[derive(Debug, Clone)]
struct Found {
    /// `-INFINITE` unless the move was first or best so far.
    score: Score,
    line: Vec<Move>,
    seldepth: usize,
}

impl RootMove {
    fn new(m: Move) -> RootMove {
        let found = Found { score: -INFINITE, line: vec![m], seldepth: 0 };
        RootMove { m, found: found.clone(), previous: found, nodes: 0 }
    }

    /// Sets a score found outside of the root's iterations.
    pub(super) fn set(&mut self, score: Score, line: Vec<Move>, seldepth: usize) {
        self.found = Found { score, line, seldepth };
    }

    fn restore(&mut self) {
        self.found.clone_from(&self.previous);
    }
}

impl<E: Evaluator> Search<'_, E> {
    /// Iterative deepening on thread number `helper`: all but thread 0 only fill the table, every second a ply ahead.
    pub(crate) fn run(
        &mut self,
        line: &Line,
        limits: &Limits,
        helper: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let position = line.position();
        let root = Node::root(position, line.key());
        self.moves = root_moves(&root, &limits.only);
        self.restricted = self.moves.len() < position.legal_moves().len() || limits.noise.is_some();
        self.noise = limits.noise;
        self.secured |= limits.noise.is_some();
        self.stack.start(line);
        let lines = limits.lines.clamp(1, self.moves.len().max(1));
        let mut report = self.first_report(&root);
        if self.moves.is_empty() {
            info(&report);
            return report;
        }
        let deepest = limits.depth.unwrap_or(i32::MAX).clamp(1, MAX_PLY as i32 - 1);
        let first = 1 + (helper as i32 % 2);
        let mut unchanged = 0;
        let mut scores = Vec::new();
        for depth in first.min(deepest)..=deepest {
            if let Some(moves) = limits.mate.and_then(|most| mate::length_to_try(depth, most))
                && self.prove_mate(&root, moves)
            {
                report.depth = 2 * moves as i32 - 1;
                self.report(&root, &mut report, 1, info);
                break;
            }
            self.iterate(&root, depth, lines);
            let stopped = self.time.stopped();
            if !stopped {
                report.depth = depth;
            } else if report.depth == 0 {
                if self.rank == 0 {
                    self.choose_unsearched(&root);
                }
                report.depth = 1;
            }
            let best = self.moves[0].m;
            unchanged = if report.best == Some(best) { unchanged + 1 } else { 0 };
            self.report(&root, &mut report, lines, info);
            let forced = self.moves.len() == 1 && limits.clock.is_some();
            if stopped || forced || mate_found(limits, report.score) {
                break;
            }
            let stability = self.stability(depth, unchanged, &scores);
            if !self.time.allows_iteration(report.nodes, &stability) {
                break;
            }
            scores.push(report.score);
        }
        report
    }

    pub(super) fn follow(&mut self, root: Option<&RootTables>) {
        self.table_score = root.map(|root| root.score);
        self.secured = root.is_some_and(|root| root.secured);
    }

    /// The score to report: without a weakened player's noise; the tables' score unless a mate is found.
    fn shown(&self, root: &Node, root_move: &RootMove) -> Score {
        let score = root_move.found.score;
        let score = if self.tables.is_some() { tables::shown(score) } else { score };
        if is_mate(score) {
            return score;
        }
        self.table_score.unwrap_or(score - self.error(root, root_move.m))
    }

    fn error(&self, root: &Node, m: Move) -> Score {
        self.noise.map_or(0, |noise| noise.variate(root.key, m))
    }

    fn iterate(&mut self, root: &Node, depth: i32, lines: usize) {
        self.root_depth = depth;
        for root_move in &mut self.moves {
            root_move.previous.clone_from(&root_move.found);
            root_move.found.score = -INFINITE;
        }
        for rank in 0..lines {
            self.rank = rank;
            self.seldepth = 0;
            let previous = self.moves[rank].previous.score;
            self.aspiration(root, depth, previous);
            if self.time.stopped() {
                return self.restore_unfinished(lines);
            }
            self.moves[..=rank].sort_by_key(|root_move| -root_move.found.score);
        }
    }

    /// Restores the last iteration's result of moves without a new score. With one line, improvements of the
    /// interrupted iteration stay and are played; with several, no line mixes two iterations.
    fn restore_unfinished(&mut self, lines: usize) {
        let unfinished = &mut self.moves[self.rank..];
        if lines == 1 {
            let lost = unfinished.iter_mut().filter(|root_move| root_move.found.score == -INFINITE);
            lost.for_each(RootMove::restore);
        } else {
            unfinished.iter_mut().for_each(RootMove::restore);
            unfinished.sort_by_key(|root_move| -root_move.found.score);
        }
    }

    /// Aspiration windows: scores rarely change much between iterations, and a narrow window cuts off more.
    fn aspiration(&mut self, root: &Node, depth: i32, previous: Score) {
        let rank = self.rank;
        let mut delta = self.params.aspiration_delta;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= 4 && self.selective && previous > -INFINITE {
            alpha = (previous - delta).max(-INFINITE);
            beta = (previous + delta).min(INFINITE);
        }
        let mut reduced = 0;
        loop {
            // Scores from a failed window do not hold in another.
            self.moves[rank..].iter_mut().for_each(|root_move| root_move.found.score = -INFINITE);
            let score = self.node::<true>(root, alpha, beta, (depth - reduced).max(1), false);
            // Stable: moves without a score keep the order of the last iteration.
            self.moves[rank..].sort_by_key(|root_move| -root_move.found.score);
            if self.time.stopped() {
                return;
            }
            if score <= alpha && alpha > -INFINITE {
                beta = (alpha + beta) / 2;
                alpha = (score - delta).max(-INFINITE);
                reduced = 0;
            } else if score >= beta && beta < INFINITE {
                beta = (score + delta).min(INFINITE);
                // A fail-high usually repeats at lower depth, and is cheaper there.
                reduced = (reduced + 1).min(3);
            } else {
                return;
            }
            delta += delta / 2;
            // A score beyond all material is a mate, or soon will be.
            if delta > 1000 {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn stability(&self, depth: i32, iterations: usize, scores: &[Score]) -> BestMoveStability {
        let neutral = BestMoveStability { iterations, ..BestMoveStability::default() };
        let Some(last) = scores.last_chunk::<4>().filter(|_| depth >= 6) else { return neutral };
        let best = &self.moves[0];
        let node_share = best.nodes as f64 / self.nodes.max(1) as f64;
        let score_drop = f64::from(last.iter().sum::<Score>()) / 4.0 - f64::from(best.found.score);
        BestMoveStability {
            node_share: if self.params.time_nodes > 0 { node_share } else { neutral.node_share },
            score_drop: if self.params.time_scores > 0 { score_drop } else { neutral.score_drop },
            ..neutral
        }
    }

    fn first_report(&mut self, root: &Node) -> Report {
        let best = self.moves.first().map(|root_move| root_move.m);
        Report {
            best,
            score: if best.is_none() && root.in_check { mated_in(0) } else { 0 },
            rank: 1,
            time: self.time.elapsed(),
            pv: best.into_iter().collect(),
            ..Report::default()
        }
    }

    /// Reports the best lines, also after an interrupted iteration: its improvements are played.
    fn report(&mut self, root: &Node, report: &mut Report, lines: usize, info: &mut dyn FnMut(&Report)) {
        report.nodes = self.time.total_nodes(self.nodes);
        report.time = self.time.elapsed();
        report.hashfull = self.tt.hashfull();
        report.cutoffs = self.cutoffs;
        report.tbhits = self.tables.map_or(0, Tables::hits);
        for rank in 0..lines {
            let line = std::mem::take(&mut self.moves[rank].found.line);
            self.moves[rank].found.line = self.until_draw(root, &line).to_vec();
        }
        let completed = report.depth;
        for (rank, root_move) in self.moves.iter().take(lines).enumerate() {
            let Found { score, ref line, seldepth } = root_move.found;
            let known = score > -INFINITE;
            if rank > 0 && !known {
                continue;
            }
            // Lines before the interrupted one are of the new iteration.
            let newer = self.time.stopped() && rank < self.rank;
            let depth = if newer { self.root_depth } else { completed };
            let line = Report {
                best: Some(root_move.m),
                // The last move failed high: it is better than the best before it, which has this score.
                score: if known { self.shown(root, root_move) } else { report.score },
                bound: if known { Bound::Exact } else { Bound::Lower },
                depth,
                seldepth: depth.max(seldepth as i32),
                rank: rank + 1,
                pv: line.clone(),
                ..report.clone()
            };
            info(&line);
            if rank == 0 {
                *report = line;
            }
        }
    }

    /// Cuts a variation after a draw by rule, which quiescence does not see, or a return to the root, which the search
    /// does not count as a draw.
    pub(super) fn until_draw<'m>(&mut self, root: &Node, moves: &'m [Move]) -> &'m [Move] {
        let (mut position, mut key, mut length) = (root.position.clone(), root.key, 0);
        for &m in moves {
            let after = played(&position, m);
            key = key::after(&position, key, m, &after);
            self.stack.push(length, piece_to(position.turn(), MoveParts::new(m)), key);
            length += 1;
            position = after;
            let in_check = legal::in_check(&position);
            if key == root.key || self.is_draw(&Node { position: &position, key, ply: length, in_check }) {
                break;
            }
        }
        (0..length).for_each(|_| self.stack.pop());
        &moves[..length]
    }

    /// Puts a move first that was not searched to the end of an iteration: the table's, or else the best by
    /// its evaluation and the captures that answer it.
    fn choose_unsearched(&mut self, root: &Node) {
        if self.moves[0].found.score >= MATE_IN_MAX {
            return;
        }
        let entry = self.tt.probe(root.key, 0).filter(|entry| entry.depth > 0 && self.noise.is_none());
        let known = entry.and_then(|entry| Some((entry.best.unpack(root.position)?, entry.score)));
        let known = known
            .and_then(|(m, score)| Some((self.moves.iter().position(|root_move| root_move.m == m)?, score)));
        let (at, score) = known.unwrap_or_else(|| {
            let scores: Vec<Score> =
                (0..self.moves.len()).map(|at| self.guess(root, self.moves[at].m)).collect();
            // Ties go to the first move.
            let at = (0..scores.len()).rev().max_by_key(|&at| scores[at]).unwrap_or(0);
            (at, scores[at])
        });
        self.moves[..=at].rotate_right(1);
        let best = &mut self.moves[0];
        best.set(score, vec![best.m], 1);
    }

    fn guess(&mut self, root: &Node, m: Move) -> Score {
        let score = self.look_at(root, m);
        if is_mate(score) { score } else { score + self.error(root, m) }
    }

    fn look_at(&mut self, root: &Node, m: Move) -> Score {
        let after = played(root.position, m);
        let key = key::after(root.position, root.key, m, &after);
        let child = root.child(&after, key);
        let replies = after.legal_moves();
        if replies.is_empty() {
            return if child.in_check { mate_in(1) } else { 0 };
        }
        self.stack.push(0, piece_to(root.position.turn(), MoveParts::new(m)), key);
        let draw = self.is_draw(&child);
        self.stack.pop();
        if draw {
            return 0;
        }
        let lost = replies.iter().map(|&reply| gain(&after, reply)).max().unwrap_or(0);
        -self.evaluator.evaluate(&after, 1) - lost
    }

    pub(super) fn record_root_move(&mut self, m: Move, score: Score, alpha: Score, nodes: u64) {
        let rank = self.rank;
        let Some(at) = self.moves.iter().position(|root_move| root_move.m == m) else { return };
        self.moves[at].nodes += nodes;
        // After the first move only improvements have exact scores.
        let first = self.moves[rank..].iter().all(|root_move| root_move.found.score == -INFINITE);
        if first || score > alpha {
            let found = &mut self.moves[at].found;
            (found.score, found.seldepth) = (score, self.seldepth);
            if score > alpha {
                found.line.truncate(1);
                found.line.extend_from_slice(self.stack.line(1));
            }
        }
    }

    pub(super) fn is_root_candidate(&self, m: Move) -> bool {
        self.moves[self.rank..].iter().any(|root_move| root_move.m == m)
    }
}

fn root_moves(root: &Node, only: &[Move]) -> Vec<RootMove> {
    let legal = root.position.legal_moves().into_iter();
    legal.filter(|m| only.is_empty() || only.contains(m)).map(RootMove::new).collect()
}

/// Estimated gain of an exchange: the victim's value, or that less the attacker's, as SEE confirms; else 0.
fn gain(position: &Chess, m: Move) -> Score {
    let Some(victim) = m.capture() else { return 0 };
    let trade = value(victim) - value(m.role());
    [value(victim), trade].into_iter().find(|&gain| gain > 0 && see_ge(position, m, gain)).unwrap_or(0)
}

fn mate_found(limits: &Limits, score: Score) -> bool {
    let plies = |moves: u32| mate_in(2 * moves.min(1000) as i32);
    limits.mate.is_some_and(|moves| is_mate(score) && score.abs() >= plies(moves))
}
