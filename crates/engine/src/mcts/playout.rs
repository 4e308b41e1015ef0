//! One playout: selection down the tree, expansion by a new leaf, backup of its value.

use shakmaty::{Chess, Move, MoveList, Position};

use super::tree::{self, Edge, NONE, Node, Proven};
use super::{Progress, SharedTree, Worker, lock};
use crate::Limits;
use crate::stack::repeats;
use patzer_chess::score::MAX_PLY;
use patzer_chess::{key, legal, played};
use patzer_eval::Evaluator;

/// Weight of the prior against the value, with scores from 0 to 1.
const EXPLORATION: f32 = 0.9;
/// First-play urgency: an unvisited move's value is its node's less this times √(sum of the visited moves' priors).
const URGENCY: f32 = 0.15;
/// Factor of UCB1's bonus; at √2 it would visit all moves of a chess position about equally.
const UCB1: f32 = 0.35;

/// A path down the tree: nodes with the indices of their edges, and its end.
struct Descent {
    path: Vec<(u32, usize)>,
    position: Chess,
    key: u64,
    end: End,
    /// [`SharedTree::pruned`] during the descent.
    pruned: u64,
}

#[derive(PartialEq)]
enum End {
    /// A proven node, one without moves to select, or the maximum ply.
    Known,
    /// A draw by repetition, which belongs to the path.
    Repetition,
    /// A position outside of the tree.
    New,
}

/// A new node, with the mated position after its only edge if a mate in one was found.
pub(super) struct Evaluated {
    pub node: Node,
    mated: Option<Node>,
}

impl<E: Evaluator> Worker<'_, '_, E> {
    /// Adds one leaf to the tree; `None` if the search has to stop.
    pub(super) fn playout(&mut self, limits: &Limits) -> Option<Progress> {
        let progress = self.descend_and_back_up(limits);
        self.keys.truncate(self.line.keys().len());
        self.moves.truncate(self.line.moves().len());
        progress
    }

    /// Selection, expansion and backup; leaves the path on `keys` and `moves`.
    fn descend_and_back_up(&mut self, limits: &Limits) -> Option<Progress> {
        let nodes = self.search.nodes;
        let descent = self.descend(&limits.only);
        let evaluated = match descent.end {
            End::New => {
                let evaluated = self.evaluate(&descent.position, descent.key, descent.path.len());
                if self.search.time.stopped() {
                    // Its value may be cut short.
                    self.shared().give_up(&descent, self.losses);
                    return None;
                }
                Some(evaluated)
            }
            _ => None,
        };
        let mut shared = lock(self.shared);
        if shared.pruned == descent.pruned
            && let (Some(evaluated), Some(&last)) = (evaluated, descent.path.last())
        {
            shared.attach(last, evaluated);
        }
        if self.search.nodes == nodes {
            // A playout that evaluates nothing counts as one node.
            if self.search.time.should_stop(nodes) {
                shared.give_up(&descent, self.losses);
                return None;
            }
            self.search.nodes += 1;
        }
        if shared.pruned == descent.pruned {
            shared.back_up(&descent, self.losses);
        }
        if self.search.time.stopped() {
            return None;
        }
        shared.keep_to_memory();
        Some(Progress { open: shared.is_open(limits), playouts: shared.playouts })
    }

    /// Selects moves from the root down to a leaf, and adds virtual losses.
    fn descend(&mut self, only: &[Move]) -> Descent {
        let mut shared = lock(self.shared);
        let (mut path, mut position) = (Vec::new(), self.line.position().clone());
        let (mut at, mut key) = (shared.root, self.line.key());
        let end = loop {
            // The root is left open where its moves are restricted.
            if path.len() + 1 >= MAX_PLY || shared.tree.node(at).proven != Proven::No && !path.is_empty() {
                break End::Known;
            }
            let only = if path.is_empty() { only } else { &[] };
            let Some(edge) = shared.select(at, only, self.leaf.kind.has_prior()) else { break End::Known };
            let chosen = &mut shared.tree.node_mut(at).edges[edge];
            chosen.under_way += self.losses;
            let (m, child) = (chosen.m, chosen.child);
            let after = played(&position, m);
            key = key::after(&position, key, m, &after);
            position = after;
            self.keys.push(key);
            self.moves.push(m);
            path.push((at, edge));
            if is_drawn(&self.keys, &position, path.len()) {
                break End::Repetition;
            }
            let known = if child == NONE { shared.tree.find(tree::key(key, &position)) } else { Some(child) };
            let Some(child) = known else { break End::New };
            shared.tree.node_mut(at).edges[edge].child = child;
            at = child;
        };
        Descent { path, position, key, end, pruned: shared.pruned }
    }

    /// A mating move with its node; it proves the parent at the first visit, when its prior is often the lowest.
    fn mate_in_one(&self, position: &Chess, key: u64, legal: &MoveList) -> Option<(Move, Node)> {
        legal.iter().find_map(|&m| {
            let after = played(position, m);
            if !legal::in_check(&after) || !after.legal_moves().is_empty() {
                return None;
            }
            let key = tree::key(key::after(position, key, m, &after), &after);
            let proven = Proven::Loss(0);
            Some((m, Node { key, own: 0.0, value: 0.0, visits: 0, proven, edges: Box::default() }))
        })
    }

    /// A new node of a position: a result by the rules, or value and priors.
    pub(super) fn evaluate(&mut self, position: &Chess, key: u64, ply: usize) -> Evaluated {
        let legal = position.legal_moves();
        let in_check = legal::in_check(position);
        let key_of_node = tree::key(key, position);
        let new = |own: f32, proven: Proven, edges: Box<[Edge]>| {
            let node = Node { key: key_of_node, own, value: own, visits: 0, proven, edges };
            Evaluated { node, mated: None }
        };
        let ended = |own: f32, proven: Proven| new(own, proven, Box::default());
        if legal.is_empty() {
            return if in_check { ended(0.0, Proven::Loss(0)) } else { ended(0.5, Proven::Draw) };
        }
        if ply > 0 && (position.halfmoves() >= 100 || self.search.is_drawn_ending(position, in_check)) {
            return ended(0.5, Proven::Draw);
        }
        let edge =
            |m: Move, prior: f32, value: f32| Edge { m, prior, visits: 0, value, child: NONE, under_way: 0 };
        // The root keeps all its moves, for `searchmoves` and MultiPV.
        if ply > 0
            && let Some((m, mated)) = self.mate_in_one(position, key, &legal)
        {
            let edges = Box::new([edge(m, 1.0, 1.0)]);
            return Evaluated { mated: Some(mated), ..new(1.0, Proven::Win(1), edges) };
        }
        let own = self.leaf.value(&mut self.search, position, key, &self.moves);
        let priors = self.leaf.priors(position, &legal, &self.moves);
        let mut edges: Box<[Edge]> =
            legal.iter().zip(priors).map(|(&m, prior)| edge(m, prior, 0.0)).collect();
        edges.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        new(own, Proven::No, edges)
    }
}

/// Tests for a repetition, the one draw that depends on the path.
fn is_drawn(keys: &[u64], position: &Chess, ply: usize) -> bool {
    let reversible = (position.halfmoves() as usize).min(keys.len() - 1);
    repeats(keys, reversible, ply)
}

impl SharedTree<'_> {
    /// Links an edge to its new node, which another thread may have added first.
    fn attach(&mut self, (at, edge): (u32, usize), evaluated: Evaluated) {
        let Evaluated { mut node, mated } = evaluated;
        let child = match self.tree.find(node.key) {
            Some(known) => known,
            None => {
                if let Some(mated) = mated {
                    node.edges[0].child = self.tree.insert(mated);
                }
                self.tree.insert(node)
            }
        };
        self.tree.node_mut(at).edges[edge].child = child;
    }

    fn back_up(&mut self, descent: &Descent, losses: u16) {
        for (number, &(at, edge)) in descent.path.iter().rev().enumerate() {
            let child = self.tree.node(at).edges[edge].child;
            // A draw by the path alone says nothing about the position.
            let drawn = descent.end == End::Repetition && number == 0 || child == NONE;
            let value = if drawn { 0.5 } else { 1.0 - self.tree.node(child).value };
            let node = self.tree.node_mut(at);
            node.visits += 1;
            let edge = &mut node.edges[edge];
            edge.under_way -= losses;
            edge.visits += 1;
            edge.value = value;
            self.tree.settle(at);
        }
        self.playouts += 1;
        self.plies += descent.path.len() as u64;
        self.deepest = self.deepest.max(descent.path.len());
    }

    /// Takes back the virtual losses of a playout without a value.
    fn give_up(&mut self, descent: &Descent, losses: u16) {
        if self.pruned == descent.pruned {
            for &(at, edge) in &descent.path {
                self.tree.node_mut(at).edges[edge].under_way -= losses;
            }
        }
    }

    /// Selects the edge with the highest upper confidence bound; proven losses come last.
    fn select(&self, at: u32, only: &[Move], has_prior: bool) -> Option<usize> {
        let node = self.tree.node(at);
        let open = |edge: &Edge| only.is_empty() || only.contains(&edge.m);
        let visited: f32 = node.edges.iter().filter(|edge| edge.visits > 0).map(|edge| edge.prior).sum();
        let unvisited = node.value - URGENCY * visited.sqrt();
        let under_way: u32 = node.edges.iter().map(|edge| u32::from(edge.under_way)).sum();
        let visits = (node.visits + under_way).max(1) as f32;
        let (root, logarithm) = (visits.sqrt(), visits.ln());
        let score = |edge: &Edge| {
            match self.tree.proven(edge) {
                Proven::Loss(_) => return -1.0,
                Proven::Win(_) => return f32::INFINITY,
                _ => {}
            }
            let visits = (edge.visits + u32::from(edge.under_way)) as f32;
            let known = if edge.visits > 0 { edge.value } else { unvisited };
            // Playouts under way count as lost.
            let value = match edge.under_way {
                0 => known,
                _ => {
                    known * edge.visits.max(1) as f32
                        / (edge.visits.max(1) as f32 + f32::from(edge.under_way))
                }
            };
            if has_prior {
                value + EXPLORATION * edge.prior * root / (1.0 + visits)
            } else if visits == 0.0 {
                f32::MAX
            } else {
                value + UCB1 * (2.0 * logarithm / visits).sqrt()
            }
        };
        let scores = node.edges.iter().enumerate().filter(|(_, edge)| open(edge)).map(|(i, e)| (i, score(e)));
        scores.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(edge, _)| edge)
    }
}
