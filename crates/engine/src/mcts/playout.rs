//! One playout: down the tree by the bandit's choice, a new leaf, and its value back up.

use shakmaty::{Chess, Move, MoveList, Position};

use super::Growth;
use super::tree::{self, Edge, NONE, Node, Proven};
use crate::stack::repeats;
use patzer_chess::score::MAX_PLY;
use patzer_chess::{key, legal, played};
use patzer_eval::Evaluator;

/// Weight of the prior against the value, with scores from 0 to 1.
const EXPLORATION: f32 = 0.9;
/// First-play urgency: how far below its node's value an unvisited move is taken to be, by the prior of those visited.
const URGENCY: f32 = 0.15;
/// Factor of UCB1's bonus; at √2 it would visit all moves of a chess position about equally.
const UCB1: f32 = 0.35;

impl<E: Evaluator> Growth<'_, '_, E> {
    /// Grows the tree by one leaf; false if the search has to stop.
    pub(super) fn playout(&mut self, only: &[Move]) -> bool {
        let goes_on = self.grow(only);
        self.keys.truncate(self.line.keys().len());
        self.moves.truncate(self.line.moves().len());
        goes_on
    }

    /// The playout itself, which leaves its path on `keys` and `moves`.
    fn grow(&mut self, only: &[Move]) -> bool {
        let nodes = self.search.nodes;
        let mut path: Vec<(u32, usize)> = Vec::new();
        let mut position = self.line.position().clone();
        let (mut at, mut key) = (self.root, self.line.key());
        let drawn = loop {
            // The root is left open where its moves are restricted.
            if path.len() + 1 >= MAX_PLY || self.tree.node(at).proven != Proven::No && !path.is_empty() {
                break false;
            }
            let only = if path.is_empty() { only } else { &[] };
            let Some(edge) = self.choose(at, only) else { break false };
            let m = self.tree.node(at).edges[edge].m;
            let after = played(&position, m);
            key = key::after(&position, key, m, &after);
            position = after;
            self.keys.push(key);
            self.moves.push(m);
            path.push((at, edge));
            if self.is_drawn(&position, path.len()) {
                break true;
            }
            let known = match self.tree.node(at).edges[edge].child {
                NONE => self.tree.find(tree::key(key, &position)),
                child => Some(child),
            };
            let child = match known {
                Some(child) => child,
                None => {
                    let node = self.judge(&position, key, path.len());
                    if self.search.time.stopped() {
                        // Its value may be cut short.
                        return false;
                    }
                    self.tree.insert(node)
                }
            };
            self.tree.node_mut(at).edges[edge].child = child;
            at = child;
            if known.is_none() {
                break false;
            }
        };
        if self.search.nodes == nodes {
            // A playout that evaluates nothing counts as one node.
            if self.search.time.should_stop(nodes) {
                return false;
            }
            self.search.nodes += 1;
        }
        self.back_up(&path, drawn);
        self.playouts += 1;
        self.plies += path.len() as u64;
        self.deepest = self.deepest.max(path.len());
        !self.search.time.stopped()
    }

    fn back_up(&mut self, path: &[(u32, usize)], drawn: bool) {
        for (number, &(at, edge)) in path.iter().rev().enumerate() {
            let child = self.tree.node(at).edges[edge].child;
            // A draw by the path alone says nothing about the position.
            let value =
                if drawn && number == 0 || child == NONE { 0.5 } else { 1.0 - self.tree.node(child).value };
            let node = self.tree.node_mut(at);
            node.visits += 1;
            let edge = &mut node.edges[edge];
            edge.visits += 1;
            edge.value = value;
            self.tree.settle(at);
        }
    }

    /// The move with the highest bound that is not proven to lose.
    fn choose(&self, at: u32, only: &[Move]) -> Option<usize> {
        let node = self.tree.node(at);
        let open = |edge: &Edge| only.is_empty() || only.contains(&edge.m);
        let visited: f32 = node.edges.iter().filter(|edge| edge.visits > 0).map(|edge| edge.prior).sum();
        let unvisited = node.value - URGENCY * visited.sqrt();
        let root = (node.visits.max(1) as f32).sqrt();
        let logarithm = (node.visits.max(1) as f32).ln();
        let score = |edge: &Edge| {
            let visits = edge.visits as f32;
            match self.tree.proven(edge) {
                Proven::Loss(_) => return -1.0,
                Proven::Win(_) => return f32::INFINITY,
                _ => {}
            }
            if self.leaf.kind.has_prior() {
                let value = if edge.visits > 0 { edge.value } else { unvisited };
                value + EXPLORATION * edge.prior * root / (1.0 + visits)
            } else if edge.visits == 0 {
                f32::MAX
            } else {
                edge.value + UCB1 * (2.0 * logarithm / visits).sqrt()
            }
        };
        let scores = node.edges.iter().enumerate().filter(|(_, edge)| open(edge)).map(|(i, e)| (i, score(e)));
        scores.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(edge, _)| edge)
    }

    /// Tests for a repetition, which depends on the path; other draws belong to the node.
    fn is_drawn(&self, position: &Chess, ply: usize) -> bool {
        let reversible = (position.halfmoves() as usize).min(self.keys.len() - 1);
        repeats(&self.keys, reversible, ply)
    }

    /// A move that mates, which proves a node at its first visit: the key move of a mate looks worst until then.
    fn mate_in_one(&mut self, position: &Chess, key: u64, legal: &MoveList) -> Option<Edge> {
        legal.iter().find_map(|&m| {
            let after = played(position, m);
            if !legal::in_check(&after) || !after.legal_moves().is_empty() {
                return None;
            }
            let key = tree::key(key::after(position, key, m, &after), &after);
            let proven = Proven::Loss(0);
            let mated = Node { key, own: 0.0, value: 0.0, visits: 0, proven, edges: Box::default() };
            let child = self.tree.insert(mated);
            Some(Edge { m, prior: 1.0, visits: 0, value: 1.0, child })
        })
    }

    /// A new node of a position: what the rules say, or its value and the probabilities of its moves.
    pub(super) fn judge(&mut self, position: &Chess, key: u64, ply: usize) -> Node {
        let legal = position.legal_moves();
        let in_check = legal::in_check(position);
        let key_of_node = tree::key(key, position);
        let ended = |own: f32, proven: Proven| Node {
            key: key_of_node,
            own,
            value: own,
            visits: 0,
            proven,
            edges: Box::default(),
        };
        if legal.is_empty() {
            return if in_check { ended(0.0, Proven::Loss(0)) } else { ended(0.5, Proven::Draw) };
        }
        if ply > 0 && (position.halfmoves() >= 100 || self.search.is_drawn_ending(position, in_check)) {
            return ended(0.5, Proven::Draw);
        }
        // The root keeps all its moves, for `searchmoves` and MultiPV.
        if ply > 0
            && let Some(mate) = self.mate_in_one(position, key, &legal)
        {
            return Node { edges: Box::new([mate]), ..ended(1.0, Proven::Win(1)) };
        }
        let own = self.leaf.value(self.search, position, key, &self.moves);
        let priors = self.leaf.priors(position, &legal, &self.moves);
        let edge = |(&m, prior): (&Move, f32)| Edge { m, prior, visits: 0, value: 0.0, child: NONE };
        let mut edges: Box<[Edge]> = legal.iter().zip(priors).map(edge).collect();
        edges.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        Node { edges, ..ended(own, Proven::No) }
    }
}
