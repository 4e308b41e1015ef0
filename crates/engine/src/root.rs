//! The root: iterative deepening, aspiration windows, MultiPV.

use shakmaty::{Move, Position};

use super::mate;
use super::search::Search;
use super::stack::Node;
use super::time_manager::BestMoveStability;
use super::{Limits, Report};
use patzer_chess::Line;
use patzer_chess::score::{INFINITE, MAX_PLY, Score, is_mate, mate_in, mated_in};
use patzer_eval::Evaluator;

#[derive(Debug, Clone)]
pub struct RootMove {
    pub m: Move,
    /// The score in this iteration if the move was first or best so far, else `-INFINITE`.
    pub score: Score,
    previous: Score,
    pub line: Vec<Move>,
    pub seldepth: usize,
    pub nodes: u64,
}

impl RootMove {
    fn new(m: Move) -> RootMove {
        RootMove { m, score: -INFINITE, previous: -INFINITE, line: vec![m], seldepth: 0, nodes: 0 }
    }
}

impl<E: Evaluator> Search<'_, E> {
    /// `helper` numbers the threads from 0: all but the first only fill the table, every second one a ply ahead.
    pub fn run(
        &mut self,
        line: &Line,
        limits: &Limits,
        helper: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let position = line.position();
        let root = Node::root(position, line.key());
        self.moves = root_moves(&root, &limits.only);
        self.restricted = !limits.only.is_empty();
        self.stack.start(line);
        let lines = limits.lines.clamp(1, self.moves.len().max(1));
        let mut report = self.first_report(&root);
        if self.moves.is_empty() {
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
                self.report(&mut report, 1, true, info);
                break;
            }
            self.iterate(&root, depth, lines);
            let best = self.moves[0].m;
            unchanged = if report.best == Some(best) { unchanged + 1 } else { 0 };
            let stopped = self.time.stopped();
            if !stopped {
                report.depth = depth;
            }
            self.report(&mut report, lines, !stopped, info);
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

    fn iterate(&mut self, root: &Node, depth: i32, lines: usize) {
        self.root_depth = depth;
        for root_move in &mut self.moves {
            root_move.previous = root_move.score;
            root_move.score = -INFINITE;
        }
        for rank in 0..lines {
            self.rank = rank;
            self.seldepth = 0;
            let previous = self.moves[rank].previous;
            self.aspiration(root, depth, previous);
            if self.time.stopped() {
                // Lines not yet searched keep the scores of the last iteration.
                for root_move in self.moves.iter_mut().filter(|root_move| root_move.score == -INFINITE) {
                    root_move.score = root_move.previous;
                }
                return;
            }
            self.moves[..=rank].sort_by_key(|root_move| -root_move.score);
        }
    }

    /// Aspiration windows: scores rarely change much between iterations, and a narrow window cuts off more.
    fn aspiration(&mut self, root: &Node, depth: i32, previous: Score) {
        let mut delta = self.params.aspiration_delta;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= 4 && self.selective && previous > -INFINITE {
            alpha = (previous - delta).max(-INFINITE);
            beta = (previous + delta).min(INFINITE);
        }
        let mut reduced = 0;
        loop {
            // Scores from a failed window do not hold in another.
            self.moves[self.rank..].iter_mut().for_each(|root_move| root_move.score = -INFINITE);
            let score = self.node::<true>(root, alpha, beta, (depth - reduced).max(1), false);
            // Stable: moves without a score keep the order of the last iteration.
            let rank = self.rank;
            self.moves[rank..].sort_by_key(|root_move| -root_move.score);
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
        let score_drop = f64::from(last.iter().sum::<Score>()) / 4.0 - f64::from(best.score);
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

    /// Reports each line of a complete iteration. An aborted one counts as far as it improved on the best move.
    fn report(&mut self, report: &mut Report, lines: usize, complete: bool, info: &mut dyn FnMut(&Report)) {
        report.nodes = self.time.total_nodes(self.nodes);
        report.time = self.time.elapsed();
        report.hashfull = self.tt.hashfull();
        let best = &self.moves[0];
        report.best = Some(best.m);
        report.pv.clone_from(&best.line);
        report.seldepth = report.depth.max(best.seldepth as i32);
        if best.score > -INFINITE {
            report.score = best.score;
        }
        for (rank, root_move) in self.moves.iter().take(lines).enumerate().filter(|_| complete) {
            info(&Report {
                best: Some(root_move.m),
                score: root_move.score,
                seldepth: report.depth.max(root_move.seldepth as i32),
                rank: rank + 1,
                pv: root_move.line.clone(),
                ..report.clone()
            });
        }
    }

    pub(super) fn record_root_move(&mut self, m: Move, score: Score, alpha: Score, nodes: u64) {
        let rank = self.rank;
        let Some(at) = self.moves.iter().position(|root_move| root_move.m == m) else { return };
        self.moves[at].nodes += nodes;
        // After the first move only improvements have exact scores.
        let first = self.moves[rank..].iter().all(|root_move| root_move.score == -INFINITE);
        if first || score > alpha {
            let root_move = &mut self.moves[at];
            (root_move.score, root_move.seldepth) = (score, self.seldepth);
            if score > alpha {
                root_move.line.truncate(1);
                root_move.line.extend_from_slice(self.stack.line(1));
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

fn mate_found(limits: &Limits, score: Score) -> bool {
    let plies = |moves: u32| mate_in(2 * moves.min(1000) as i32);
    limits.mate.is_some_and(|moves| is_mate(score) && score.abs() >= plies(moves))
}
