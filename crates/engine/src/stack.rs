//! What the search remembers along the line that it is looking at.
//!
//! In: moves made and taken back. Out: the keys for repetitions, the frames of the plies above, and the principal
//! variation below each ply.

use shakmaty::{Bitboard, Chess, Move, Position};

use super::history::{Before, NO_MOVE, PieceTo};
use patzer_chess::Line;
use patzer_chess::score::{MAX_PLY, Score};

/// A position in the search tree.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// The position.
    pub position: &'a Chess,
    /// Its Zobrist key.
    pub key: u64,
    /// Its distance from the root, up to [`MAX_PLY`].
    pub ply: usize,
    /// Whether the side to move is in check.
    pub in_check: bool,
}

/// One ply of the line.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The static evaluation as the evaluator gave it, `None` in check.
    pub raw: Option<Score>,
    /// The same, corrected by what searches found in positions like it.
    pub eval: Option<Score>,
    /// The move that a singular extension leaves out.
    pub excluded: Option<Move>,
    /// Extensions by two plies on the way here.
    pub doubles: u8,
    /// The last two quiet moves that cut off at this distance from the root.
    pub killers: [Option<Move>; 2],
    /// The move being looked at.
    pub moved: PieceTo,
    /// The same, if it is quiet.
    pub quiet: Option<Move>,
    /// Whether the node is or has been part of a principal variation.
    pub pv: bool,
    /// How many nodes of this ply were cut off since the node two plies above began.
    pub cutoffs: u16,
    /// The squares that the side not to move attacks.
    pub attacked: Bitboard,
    /// Plies back to the last null move or the start of the line: no repetition reaches further.
    reversible: usize,
}

const NEW_FRAME: Frame = Frame {
    raw: None,
    eval: None,
    excluded: None,
    doubles: 0,
    killers: [None; 2],
    moved: NO_MOVE,
    quiet: None,
    pv: false,
    cutoffs: 0,
    attacked: Bitboard::EMPTY,
    reversible: 0,
};

/// The line from the root to the position that the search is at.
#[derive(Debug)]
pub struct Stack {
    frames: Vec<Frame>,
    lines: Vec<Vec<Move>>,
    keys: Vec<u64>,
}

impl Stack {
    /// An empty line.
    pub fn new() -> Stack {
        // More than the longest line: its last node clears what its children and theirs find.
        Stack {
            frames: vec![NEW_FRAME; MAX_PLY + 3],
            lines: (0..MAX_PLY + 2).map(|_| Vec::with_capacity(MAX_PLY + 2)).collect(),
            keys: Vec::new(),
        }
    }

    /// Begins a search at the end of a game line.
    pub fn start(&mut self, line: &Line) {
        self.keys.clear();
        self.keys.extend_from_slice(line.keys());
        self.frames.fill(NEW_FRAME);
        self.frames[0].reversible = line.moves().len();
    }

    /// The frame of a ply.
    #[inline]
    pub fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply]
    }

    /// How many nodes of a ply were cut off since the node two plies above began.
    #[inline]
    pub fn cutoffs(&self, ply: usize) -> u16 {
        self.frames[ply].cutoffs
    }

    /// The move made so many plies above this one.
    #[inline]
    pub fn moved(&self, ply: usize, back: usize) -> PieceTo {
        ply.checked_sub(back).map_or(NO_MOVE, |at| self.frames[at].moved)
    }

    /// What the moves of a ply answer.
    #[inline]
    pub fn before(&self, ply: usize) -> Before {
        // Not `map`, which stays a call.
        let moves = [self.moved(ply, 1), self.moved(ply, 2), self.moved(ply, 4)];
        Before { moves, attacked: self.frames[ply].attacked }
    }

    /// Whether the side to move stands better than two plies ago.
    #[inline]
    pub fn improving(&self, ply: usize) -> bool {
        ply >= 2
            && match (self.frames[ply].eval, self.frames[ply - 2].eval) {
                (Some(now), Some(then)) => now > then,
                // It was in check then: better than before that?
                (Some(now), None) => ply < 4 || self.frames[ply - 4].eval.is_none_or(|earlier| now > earlier),
                _ => false,
            }
    }

    /// Goes down one ply by a move to the position with this key. [`NO_MOVE`] is a null move.
    #[inline]
    pub fn push(&mut self, ply: usize, moved: PieceTo, key: u64) {
        self.keys.push(key);
        let (above, below) = self.frames.split_at_mut(ply + 1);
        let (here, next) = (&mut above[ply], &mut below[0]);
        here.moved = moved;
        here.quiet = None;
        next.doubles = here.doubles;
        next.reversible = if moved == NO_MOVE { 0 } else { here.reversible + 1 };
    }

    /// Goes back up.
    #[inline]
    pub fn pop(&mut self) {
        self.keys.pop();
    }

    /// Whether the current position is drawn by repetition: it stood once before in the search, where a player who
    /// can repeat once can repeat again, or twice before in all.
    pub fn repeated(&self, node: &Node) -> bool {
        let reversible = (node.position.halfmoves() as usize).min(self.frames[node.ply].reversible);
        let now = self.keys.len() - 1;
        let mut earlier = 0;
        for back in (4..=reversible).step_by(2) {
            if self.keys[now - back] == node.key {
                earlier += 1;
                if back < node.ply || earlier == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// The principal variation below a ply.
    pub fn line(&self, ply: usize) -> &[Move] {
        &self.lines[ply]
    }

    /// Forgets the principal variation below a ply.
    #[inline]
    pub fn clear_line(&mut self, ply: usize) {
        self.lines[ply].clear();
    }

    /// Makes a move, followed by the line below it, the principal variation of a ply.
    #[inline]
    pub fn extend_line(&mut self, ply: usize, m: Move) {
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        let line = &mut upper[ply];
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0]);
    }

    /// Remembers a quiet move that cut off.
    pub fn add_killer(&mut self, ply: usize, m: Move) {
        let killers = &mut self.frames[ply].killers;
        if killers[0] != Some(m) {
            *killers = [Some(m), killers[0]];
        }
    }
}
