//! The search stack: one frame a ply, keys for repetition detection, principal variations.

use shakmaty::{Bitboard, Chess, Move, Position};

use super::history::{ContinuationContext, NO_MOVE, PieceTo};
use patzer_chess::score::{MAX_PLY, Score};
use patzer_chess::{Line, legal};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub position: &'a Chess,
    pub key: u64,
    /// Distance from the root, up to [`MAX_PLY`].
    pub ply: usize,
    pub in_check: bool,
}

impl Node<'_> {
    pub(crate) fn root(position: &Chess, key: u64) -> Node<'_> {
        Node { position, key, ply: 0, in_check: legal::in_check(position) }
    }

    #[inline(always)]
    pub(crate) fn child<'a>(&self, after: &'a Chess, key: u64) -> Node<'a> {
        Node { position: after, key, ply: self.ply + 1, in_check: legal::in_check(after) }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Frame {
    /// The static evaluation before correction, `None` in check.
    pub raw_eval: Option<Score>,
    pub eval: Option<Score>,
    pub excluded: Option<Move>,
    /// Double extensions on the path from the root.
    pub double_extensions: u8,
    pub killers: [Option<Move>; 2],
    pub moved: PieceTo,
    /// The move being searched, if it is quiet.
    pub quiet: Option<Move>,
    /// Set if the node is or has been part of a principal variation.
    pub pv: bool,
    /// Fail-highs at this ply since the node two plies above began.
    pub cutoffs: u16,
    pub attacked: Bitboard,
    /// Plies back to the last null move or the start of the game line.
    plies_since_null: usize,
}

fn new_frame() -> Frame {
    Frame { moved: NO_MOVE, ..Frame::default() }
}

#[derive(Debug)]
pub(crate) struct Stack {
    frames: Vec<Frame>,
    lines: Vec<Vec<Move>>,
    keys: Vec<u64>,
}

impl Stack {
    pub(crate) fn new() -> Stack {
        // The last node clears the frames of its children and grandchildren.
        Stack {
            frames: vec![new_frame(); MAX_PLY + 3],
            lines: (0..MAX_PLY + 2).map(|_| Vec::with_capacity(MAX_PLY + 2)).collect(),
            keys: Vec::new(),
        }
    }

    pub(crate) fn start(&mut self, line: &Line) {
        self.keys.clear();
        self.keys.extend_from_slice(line.keys());
        self.frames.fill(new_frame());
        self.frames[0].plies_since_null = line.moves().len();
    }

    #[inline]
    pub(crate) fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply]
    }

    #[inline]
    pub(crate) fn cutoffs(&self, ply: usize) -> u16 {
        self.frames[ply].cutoffs
    }

    #[inline]
    pub(crate) fn moved(&self, ply: usize, back: usize) -> PieceTo {
        ply.checked_sub(back).map_or(NO_MOVE, |at| self.frames[at].moved)
    }

    #[inline]
    pub(crate) fn continuation_context(&self, ply: usize) -> ContinuationContext {
        // Not `map`, which stays a call.
        let moves = [self.moved(ply, 1), self.moved(ply, 2), self.moved(ply, 4)];
        ContinuationContext { moves, attacked: self.frames[ply].attacked }
    }

    /// The static evaluation is better than two plies ago.
    #[inline]
    pub(crate) fn improving(&self, ply: usize) -> bool {
        ply >= 2
            && match (self.frames[ply].eval, self.frames[ply - 2].eval) {
                (Some(now), Some(then)) => now > then,
                // In check two plies ago: compare with four plies ago.
                (Some(now), None) => ply < 4 || self.frames[ply - 4].eval.is_none_or(|earlier| now > earlier),
                _ => false,
            }
    }

    #[inline]
    pub(crate) fn push(&mut self, ply: usize, moved: PieceTo, key: u64) {
        self.keys.push(key);
        let (above, below) = self.frames.split_at_mut(ply + 1);
        let (here, next) = (&mut above[ply], &mut below[0]);
        here.moved = moved;
        here.quiet = None;
        next.double_extensions = here.double_extensions;
        next.plies_since_null = if moved == NO_MOVE { 0 } else { here.plies_since_null + 1 };
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.keys.pop();
    }

    /// Tests for a draw by repetition, see [`repeats`], back to the last null move.
    pub(crate) fn is_repetition(&self, node: &Node) -> bool {
        let plies_since_null =
            (node.position.halfmoves() as usize).min(self.frames[node.ply].plies_since_null);
        repeats(&self.keys, plies_since_null, node.ply)
    }

    pub(crate) fn line(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }

    #[inline]
    pub(crate) fn clear_line(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    #[inline]
    pub(crate) fn extend_line(&mut self, ply: usize, m: Move) {
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0]);
    }

    pub(crate) fn add_killer(&mut self, ply: usize, m: Move) {
        let killers = &mut self.frames[ply].killers;
        if killers[0] != Some(m) {
            *killers = [Some(m), killers[0]];
        }
    }
}

/// Tests whether the last of `keys` repeats a position below the root, which is `ply` plies back, once, or any earlier
/// one twice. Looks back `reversible` plies.
#[inline]
pub(crate) fn repeats(keys: &[u64], reversible: usize, ply: usize) -> bool {
    let now = keys.len() - 1;
    let mut earlier = 0;
    for back in (4..=reversible).step_by(2) {
        if keys[now - back] == keys[now] {
            earlier += 1;
            if back < ply || earlier == 2 {
                return true;
            }
        }
    }
    false
}
