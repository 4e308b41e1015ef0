//! The root of a search: iterative deepening, and what is known about each move there.
//!
//! In: a game line, limits and a search. Out: a report with the best move, after each iteration and at the end.
//! Each iteration orders the moves of the next, and one is always complete when time ends.

use shakmaty::{Move, Position};

use super::mate;
use super::search::Search;
use super::stack::Node;
use super::time_manager::Certainty;
use super::{Limits, Report};
use patzer_chess::Line;
use patzer_chess::score::{INFINITE, MAX_PLY, Score, is_mate, mate_in, mated_in};
use patzer_eval::Evaluator;

/// A move at the root.
#[derive(Debug, Clone)]
pub struct RootMove {
    /// The move.
    pub m: Move,
    /// Its score in this iteration, if it was the best so far or the first; else below every score.
    pub score: Score,
    /// Its score in the last iteration that was completed.
    previous: Score,
    /// Its variation, beginning with the move.
    pub line: Vec<Move>,
    /// The longest line looked at below it, in plies.
    pub seldepth: usize,
    /// Positions visited below it in the whole search.
    pub nodes: u64,
}

impl RootMove {
    fn new(m: Move) -> RootMove {
        RootMove { m, score: -INFINITE, previous: -INFINITE, line: vec![m], seldepth: 0, nodes: 0 }
    }
}

impl<E: Evaluator> Search<'_, E> {
    /// Searches the last position of a line within limits. `helper` numbers the threads of a parallel search from 0:
    /// all but the first only fill the table, each second one a ply ahead, and report nothing.
    pub fn run(
        &mut self,
        line: &Line,
        limits: &Limits,
        helper: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Report {
        let position = line.position();
        let root = Node { position, key: line.key(), ply: 0, in_check: position.is_check() };
        self.moves = choices(&root, &limits.only);
        self.restricted = !limits.only.is_empty();
        self.stack.start(line);
        let lines = limits.lines.clamp(1, self.moves.len().max(1));
        let mut report = self.first_report(&root);
        if self.moves.is_empty() {
            return report;
        }
        let deepest = limits.depth.unwrap_or(i32::MAX).clamp(1, MAX_PLY as i32 - 1);
        let first = 1 + (helper as i32 % 2);
        let mut stability = 0;
        let mut scores = Vec::new();
        for depth in first.min(deepest)..=deepest {
            if let Some(moves) = limits.mate.and_then(|most| mate::due(depth, most))
                && self.prove_mate(&root, moves)
            {
                report.depth = 2 * moves as i32 - 1;
                self.report(&mut report, 1, true, info);
                break;
            }
            self.iterate(&root, depth, lines);
            let best = self.moves[0].m;
            stability = if report.best == Some(best) { stability + 1 } else { 0 };
            let stopped = self.budget.stopped();
            if !stopped {
                report.depth = depth;
            }
            self.report(&mut report, lines, !stopped, info);
            let forced = self.moves.len() == 1 && limits.clock.is_some();
            if stopped || forced || enough(limits, report.score) {
                break;
            }
            let certainty = self.certainty(depth, stability, &scores);
            if !self.budget.allows_another(report.nodes, &certainty) {
                break;
            }
            scores.push(report.score);
        }
        report
    }

    /// One iteration: the best line, then the best of the moves that are left, and so on.
    fn iterate(&mut self, root: &Node, depth: i32, lines: usize) {
        self.root_depth = depth;
        for known in &mut self.moves {
            known.previous = known.score;
            known.score = -INFINITE;
        }
        for rank in 0..lines {
            self.rank = rank;
            self.seldepth = 0;
            let previous = self.moves[rank].previous;
            self.aspiration(root, depth, previous);
            if self.budget.stopped() {
                // The lines that are missing keep what the last iteration knew of them.
                for known in self.moves.iter_mut().filter(|known| known.score == -INFINITE) {
                    known.score = known.previous;
                }
                return;
            }
            self.moves[..=rank].sort_by_key(|known| -known.score);
        }
    }

    /// Aspiration windows: the score rarely changes much from one iteration to the next, and a narrow window cuts
    /// off more. Widened on the side on which it failed.
    fn aspiration(&mut self, root: &Node, depth: i32, previous: Score) {
        let mut delta = self.params.window;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= 4 && self.selective && previous > -INFINITE {
            alpha = (previous - delta).max(-INFINITE);
            beta = (previous + delta).min(INFINITE);
        }
        let mut reduced = 0;
        loop {
            // What a window that failed said of a move does not hold in another one.
            self.moves[self.rank..].iter_mut().for_each(|known| known.score = -INFINITE);
            let score = self.node::<true>(root, alpha, beta, (depth - reduced).max(1), false);
            // Stable, so that moves without a score stay in the order of the last iteration.
            let rank = self.rank;
            self.moves[rank..].sort_by_key(|known| -known.score);
            if self.budget.stopped() {
                return;
            }
            if score <= alpha && alpha > -INFINITE {
                beta = (alpha + beta) / 2;
                alpha = (score - delta).max(-INFINITE);
                reduced = 0;
            } else if score >= beta && beta < INFINITE {
                beta = (score + delta).min(INFINITE);
                // That it fails high is often seen less deeply too, and cheaper.
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

    /// What the iterations up to this depth say about the best move; those before it ended with these scores.
    fn certainty(&self, depth: i32, stability: usize, scores: &[Score]) -> Certainty {
        let usual = Certainty { stability, ..Certainty::default() };
        // The first iterations are too short to tell.
        let Some(last) = scores.last_chunk::<4>().filter(|_| depth >= 6) else { return usual };
        let best = &self.moves[0];
        let share = best.nodes as f64 / self.nodes.max(1) as f64;
        let drop = f64::from(last.iter().sum::<Score>()) / 4.0 - f64::from(best.score);
        Certainty {
            share: if self.params.time_nodes > 0 { share } else { usual.share },
            drop: if self.params.time_scores > 0 { drop } else { usual.drop },
            ..usual
        }
    }

    /// What is known before the first iteration: some legal move, or the end of the game.
    fn first_report(&mut self, root: &Node) -> Report {
        let best = self.moves.first().map(|known| known.m);
        Report {
            best,
            score: if best.is_none() && root.in_check { mated_in(0) } else { 0 },
            depth: 0,
            seldepth: 0,
            rank: 1,
            hashfull: 0,
            nodes: 0,
            time: self.budget.elapsed(),
            pv: best.into_iter().collect(),
        }
    }

    /// Brings the report up to date and tells it for each line, if the iteration is complete. One that was cut
    /// short still counts as far as it improved on the previous best move.
    fn report(&mut self, report: &mut Report, lines: usize, complete: bool, info: &mut dyn FnMut(&Report)) {
        report.nodes = self.budget.total(self.nodes);
        report.time = self.budget.elapsed();
        report.hashfull = self.table.hashfull();
        let best = &self.moves[0];
        report.best = Some(best.m);
        report.pv.clone_from(&best.line);
        report.seldepth = report.depth.max(best.seldepth as i32);
        if best.score > -INFINITE {
            report.score = best.score;
        }
        for (rank, known) in self.moves.iter().take(lines).enumerate().filter(|_| complete) {
            info(&Report {
                best: Some(known.m),
                score: known.score,
                seldepth: report.depth.max(known.seldepth as i32),
                rank: rank + 1,
                pv: known.line.clone(),
                ..report.clone()
            });
        }
    }

    /// Writes down what a move at the root came to, of which `nodes` positions were visited.
    pub(super) fn judge(&mut self, m: Move, score: Score, alpha: Score, nodes: u64) {
        let rank = self.rank;
        let Some(at) = self.moves.iter().position(|known| known.m == m) else { return };
        self.moves[at].nodes += nodes;
        // After the first move only those that are better have a score that means anything.
        let first = self.moves[rank..].iter().all(|known| known.score == -INFINITE);
        if first || score > alpha {
            let known = &mut self.moves[at];
            known.score = score;
            known.seldepth = self.seldepth;
            if score > alpha {
                known.line.clear();
                known.line.push(m);
                known.line.extend_from_slice(self.stack.line(1));
            }
        }
    }

    /// Whether a move at the root is to be looked at for the current line.
    pub(super) fn considers(&self, m: Move) -> bool {
        self.moves[self.rank..].iter().any(|known| known.m == m)
    }
}

/// The moves to choose from.
fn choices(root: &Node, only: &[Move]) -> Vec<RootMove> {
    let legal = root.position.legal_moves();
    let wanted: Vec<RootMove> =
        legal.iter().filter(|m| only.contains(m)).copied().map(RootMove::new).collect();
    if only.is_empty() { legal.into_iter().map(RootMove::new).collect() } else { wanted }
}

/// Whether a mate that was asked for is proven.
fn enough(limits: &Limits, score: Score) -> bool {
    let plies = |moves: u32| mate_in(2 * moves.min(1000) as i32);
    limits.mate.is_some_and(|moves| is_mate(score) && score.abs() >= plies(moves))
}
