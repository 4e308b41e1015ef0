//! Positions seen by playouts, as a graph: transpositions share a node. Values follow Czech, Korus and Kersting,
//! "Monte-Carlo Graph Search for AlphaZero" (2020): a node's value is the mean of its own and of its moves', by
//! visits, so that a node with several parents is right for all of them.

use std::collections::HashMap;

use shakmaty::{Chess, Move, Position};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Outcome that the rules of chess prove, from the side to move, with its distance in plies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proven {
    No,
    Win(u16),
    Loss(u16),
    Draw,
}

#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub m: Move,
    pub prior: f32,
    pub visits: u32,
    /// Expected score of the mover, 0 to 1, when last visited.
    pub value: f32,
    pub child: u32,
    /// Playouts of other threads that are under way here: virtual losses, so that threads look at different lines.
    pub under_way: u16,
}

#[derive(Debug)]
pub(super) struct Node {
    pub key: u64,
    /// Value of the position itself, from the side to move.
    pub own: f32,
    pub value: f32,
    pub visits: u32,
    pub proven: Proven,
    pub edges: Box<[Edge]>,
}

impl Node {
    fn bytes(&self) -> usize {
        // The map takes a key, an index, and about as much again.
        size_of::<Node>() + 32 + self.edges.len() * size_of::<Edge>()
    }
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    index: HashMap<u64, u32>,
    bytes: usize,
    limit: usize,
}

/// Key of a node. Near the fifty-move rule positions differ by their counters.
pub(super) fn key(key: u64, position: &Chess) -> u64 {
    const FROM: u32 = 60;
    let clock = position.halfmoves().saturating_sub(FROM);
    key ^ u64::from(clock).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Tree {
    pub(super) fn new(hash_mb: usize) -> Tree {
        Tree { nodes: Vec::new(), index: HashMap::new(), bytes: 0, limit: hash_mb << 20 }
    }

    pub(super) fn clear(&mut self) {
        *self = Tree { limit: self.limit, ..Tree::new(0) };
    }

    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.index.get(&key).copied()
    }

    pub(super) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    pub(super) fn node_mut(&mut self, at: u32) -> &mut Node {
        &mut self.nodes[at as usize]
    }

    pub(super) fn insert(&mut self, node: Node) -> u32 {
        let at = self.nodes.len() as u32;
        self.bytes += node.bytes();
        self.index.insert(node.key, at);
        self.nodes.push(node);
        at
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.limit
    }

    #[cfg(test)]
    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.nodes.iter().flat_map(|node| &node.edges)
    }

    /// Tests whether the nodes take at most `bytes + more`.
    #[cfg(test)]
    pub(super) fn is_within(&self, bytes: usize, more: usize) -> bool {
        self.bytes <= bytes + more
    }

    /// Share of the memory in use, in permille.
    pub(super) fn permille(&self) -> u32 {
        (1000 * self.bytes / self.limit.max(1)).min(1000) as u32
    }

    /// Proven outcome of an edge, from the mover's side.
    pub(super) fn proven(&self, edge: &Edge) -> Proven {
        match edge.child {
            NONE => Proven::No,
            child => match self.node(child).proven {
                Proven::Win(plies) => Proven::Loss(plies + 1),
                Proven::Loss(plies) => Proven::Win(plies + 1),
                other => other,
            },
        }
    }

    /// Updates the value of a node, and its proven outcome, from its edges.
    pub(super) fn settle(&mut self, at: u32) {
        let node = self.node(at);
        if node.edges.is_empty() {
            return;
        }
        let (mut sum, mut weight) = (f64::from(node.own), 1.0);
        let (mut quickest, mut longest, mut drawn) = (u16::MAX, 0, false);
        let mut open = false;
        for edge in &node.edges {
            match self.proven(edge) {
                Proven::Win(plies) => quickest = quickest.min(plies),
                // Nobody plays it unless there is nothing else.
                Proven::Loss(plies) => {
                    longest = longest.max(plies);
                    continue;
                }
                Proven::Draw => drawn = true,
                Proven::No => open = true,
            }
            sum += f64::from(edge.visits) * f64::from(edge.value);
            weight += f64::from(edge.visits);
        }
        let (proven, value) = match (quickest < u16::MAX, open, drawn) {
            (true, _, _) => (Proven::Win(quickest), 1.0),
            (false, true, _) => (Proven::No, (sum / weight) as f32),
            (false, false, true) => (Proven::Draw, 0.5),
            (false, false, false) => (Proven::Loss(longest), 0.0),
        };
        let node = self.node_mut(at);
        (node.proven, node.value) = (proven, value);
    }

    /// Keeps the most visited nodes below the root, in half of the memory; returns the root's new index.
    pub(super) fn prune(&mut self, root: u32) -> u32 {
        let mut least = 1;
        let kept = loop {
            let kept = self.reached(root, least);
            let bytes: usize = kept.iter().map(|&at| self.node(at).bytes()).sum();
            if bytes <= self.limit / 2 || kept.len() <= 1 {
                break kept;
            }
            least *= 2;
        };
        let mut new = vec![NONE; self.nodes.len()];
        kept.iter().zip(0..).for_each(|(&at, place)| new[at as usize] = place);
        let mut old: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        self.clear();
        for at in kept {
            let Some(mut node) = old[at as usize].take() else { continue };
            for edge in &mut node.edges {
                edge.under_way = 0;
                if edge.child != NONE {
                    edge.child = new[edge.child as usize];
                }
            }
            self.insert(node);
        }
        0
    }

    /// Nodes with at least `least` visits on a path of such nodes from the root, the root first.
    fn reached(&self, root: u32, least: u32) -> Vec<u32> {
        let (mut kept, mut seen) = (vec![root], vec![false; self.nodes.len()]);
        seen[root as usize] = true;
        let mut next = 0;
        while let Some(&at) = kept.get(next) {
            next += 1;
            for child in self.node(at).edges.iter().map(|edge| edge.child).filter(|child| *child != NONE) {
                if !seen[child as usize] && self.node(child).visits >= least {
                    seen[child as usize] = true;
                    kept.push(child);
                }
            }
        }
        kept
    }
}
