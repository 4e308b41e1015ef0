//! Reports from the tree: the root's moves by visits, score, principal variation.

use shakmaty::{Chess, Move, Position};

use super::tree::{Edge, NONE, Proven};
use super::{SharedTree, Worker};
use crate::uci::Chances;
use crate::{Limits, Report};
use patzer_chess::score::{MAX_PLY, Score, mate_in, mated_in};
use patzer_eval::Evaluator;

impl<E: Evaluator> Worker<'_, '_, E> {
    /// Reports the best lines; returns the first.
    pub(super) fn report(&mut self, limits: &Limits, info: &mut dyn FnMut(&Report)) -> Report {
        let own = self.search.nodes;
        let (nodes, time) = (self.search.time.total_nodes(own), self.search.time.elapsed());
        let reports: Vec<Report> = {
            let shared = self.shared();
            let order = shared.order(shared.root, &limits.only);
            let lines = limits.lines.clamp(1, order.len().max(1));
            let line =
                |(rank, &edge)| Report { nodes, time, ..shared.line_report(edge, rank, &self.leaf.chances) };
            (1..).zip(order.iter().take(lines)).map(line).collect()
        };
        reports.iter().for_each(info);
        reports.into_iter().next().unwrap_or_default()
    }
}

/// The report of a position without a legal move.
pub(super) fn empty(position: &Chess) -> Report {
    let score = if position.is_check() { mated_in(0) } else { 0 };
    Report { score, rank: 1, ..Report::default() }
}

impl SharedTree<'_> {
    /// Mean length of a playout, in plies.
    fn depth(&self) -> i32 {
        (self.plies / self.playouts.max(1)).max(1) as i32
    }

    /// Visits of the root's moves by this and earlier searches of the game, most visited first.
    pub(super) fn visits(&self) -> Vec<(Move, u32)> {
        let edges = self.tree.node(self.root).edges.iter();
        let mut visits: Vec<(Move, u32)> =
            edges.filter(|edge| edge.visits > 0).map(|edge| (edge.m, edge.visits)).collect();
        visits.sort_by_key(|(_, visits)| std::cmp::Reverse(*visits));
        visits
    }

    fn line_report(&self, edge: usize, rank: usize, chances: &Chances) -> Report {
        let edge = &self.tree.node(self.root).edges[edge];
        let score = match self.tree.proven(edge) {
            Proven::Win(plies) => mate_in(plies.into()),
            Proven::Loss(plies) => mated_in(plies.into()),
            Proven::Draw => 0,
            // A move without a visit has the value of its node.
            Proven::No if edge.visits == 0 => chances.score(self.tree.node(self.root).value.into()),
            Proven::No => chances.score(edge.value.into()),
        };
        Report {
            best: Some(edge.m),
            score,
            depth: self.depth(),
            seldepth: self.deepest.max(1) as i32,
            rank,
            hashfull: self.tree.permille(),
            pv: self.variation(edge),
            ..Report::default()
        }
    }

    fn variation(&self, edge: &Edge) -> Vec<Move> {
        let (mut pv, mut seen) = (vec![edge.m], Vec::new());
        let mut at = edge.child;
        // A path that repeats a position is a draw.
        while at != NONE && pv.len() < MAX_PLY && !seen.contains(&at) {
            seen.push(at);
            let Some(&best) = self.order(at, &[]).first() else { break };
            let edge = &self.tree.node(at).edges[best];
            if edge.visits == 0 && self.tree.proven(edge) == Proven::No {
                break;
            }
            pv.push(edge.m);
            at = edge.child;
        }
        pv
    }

    /// Edges from best to worst: quick wins, then by visits, then slow losses.
    fn order(&self, at: u32, only: &[Move]) -> Vec<usize> {
        let edges = &self.tree.node(at).edges;
        let mut order: Vec<usize> =
            (0..edges.len()).filter(|&i| only.is_empty() || only.contains(&edges[i].m)).collect();
        let rank = |i: usize| -> (i32, f32) {
            let edge = &edges[i];
            match self.tree.proven(edge) {
                Proven::Win(plies) => (i32::MAX - i32::from(plies), 0.0),
                Proven::Loss(plies) => (i32::from(plies) - i32::MAX, 0.0),
                _ => (edge.visits as i32, edge.value),
            }
        };
        order.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        order
    }
}

/// Largest score at which the WDL model is steep enough to invert.
const MOST: Score = 5_000;

impl crate::uci::Chances {
    /// Centipawns of an expected score: the inverse of [`expected`](Self::expected).
    pub(super) fn score(&self, expected: f64) -> Score {
        let (mut low, mut high) = (-MOST, MOST);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.expected(middle) < expected { low = middle } else { high = middle }
        }
        high
    }
}
