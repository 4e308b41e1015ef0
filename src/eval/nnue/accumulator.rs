//! The hidden layer of a position, kept up to date by what differs from a position seen before.
//!
//! In: a position and its distance from the root. Out: the sums of the hidden layer for both perspectives. Each
//! ply keeps the pieces that its sums stand for. A new position is compared with the pieces at its own ply, at
//! the ply before and with the empty board, whichever differs least, and only the difference is added and
//! removed. Sums are integers that wrap, so the result is that of adding everything anew, whatever was stored.
//! The search needs no hook in making and unmaking moves (the idea of akimbo's accumulator cache).

use shakmaty::{Board, Color, Piece, Role, Square};

use super::features::all;
use super::network::{Block, Network};
use super::simd::Kernel;
use crate::chess::score::MAX_PLY;

/// The squares of each kind of piece: pawn to king of White, then of Black.
type Pieces = [u64; 12];

/// The sums of every ply.
#[derive(Debug, Clone)]
pub struct Stack {
    pieces: Vec<Pieces>,
    /// For each ply the sums as White sees the board, then as Black does.
    sums: Vec<Block>,
    blocks: usize,
    changes: Box<Changes>,
}

/// What to add and what to remove, each for White's perspective and for Black's: memory that is used again and again.
type Changes = [[List; 2]; 2];

/// No move changes more pieces than castling does: two leave their squares and two come to others.
const A_MOVE: u32 = 4;

/// Features to add to or to remove from the sums, for one perspective.
#[derive(Debug, Clone, Copy)]
struct List {
    count: usize,
    features: [u16; 64],
}

impl List {
    const EMPTY: List = List { count: 0, features: [0; 64] };

    #[inline(always)]
    fn push(&mut self, feature: usize) {
        self.features[self.count] = feature as u16;
        self.count += 1;
    }

    #[inline]
    fn as_slice(&self) -> &[u16] {
        &self.features[..self.count]
    }
}

impl Stack {
    /// A stack that has seen the empty board at every ply.
    pub fn new(network: &Network) -> Stack {
        let plies = MAX_PLY + 1;
        let blocks = network.blocks();
        let empty = [network.bias(), network.bias()].concat();
        Stack {
            pieces: vec![[0; 12]; plies],
            sums: empty.repeat(plies),
            blocks,
            changes: Box::new([[List::EMPTY; 2]; 2]),
        }
    }

    /// Brings the sums of a ply up to date with a board and returns them: the side's own, then the other's.
    pub fn update(
        &mut self,
        network: &Network,
        kernel: Kernel,
        board: &Board,
        side: Color,
        ply: usize,
    ) -> [&[Block]; 2] {
        let ply = ply.min(self.pieces.len() - 1);
        let pieces = pieces(board);
        let before = if ply > 0 { distance(&self.pieces[ply - 1], &pieces) } else { u32::MAX };
        if before <= A_MOVE {
            self.update_from_before(network, kernel, &pieces, ply);
        } else {
            let here = distance(&self.pieces[ply], &pieces);
            let nothing = board.occupied().count() as u32;
            if nothing < here.min(before) {
                self.update_from_nothing(network, kernel, &pieces, ply);
            } else if before < here {
                self.update_from_before(network, kernel, &pieces, ply);
            } else if here > 0 {
                self.update_from_here(network, kernel, &pieces, ply);
            }
        }
        self.pieces[ply] = pieces;
        let (white, black) = self.sums[self.at(ply)].split_at(self.blocks);
        if side.is_white() { [white, black] } else { [black, white] }
    }

    fn at(&self, ply: usize) -> std::ops::Range<usize> {
        2 * self.blocks * ply..2 * self.blocks * (ply + 1)
    }

    fn update_from_nothing(&mut self, network: &Network, kernel: Kernel, pieces: &Pieces, ply: usize) {
        changes(&mut self.changes, &[0; 12], pieces);
        let at = self.at(ply);
        for (sums, add) in self.sums[at].chunks_exact_mut(self.blocks).zip(&self.changes[0]) {
            sums.copy_from_slice(network.bias());
            kernel.change(network, sums, add.as_slice(), &[]);
        }
    }

    fn update_from_here(&mut self, network: &Network, kernel: Kernel, pieces: &Pieces, ply: usize) {
        changes(&mut self.changes, &self.pieces[ply], pieces);
        let at = self.at(ply);
        let [added, removed] = &*self.changes;
        for (i, sums) in self.sums[at].chunks_exact_mut(self.blocks).enumerate() {
            kernel.change(network, sums, added[i].as_slice(), removed[i].as_slice());
        }
    }

    fn update_from_before(&mut self, network: &Network, kernel: Kernel, pieces: &Pieces, ply: usize) {
        changes(&mut self.changes, &self.pieces[ply - 1], pieces);
        let [added, removed] = &*self.changes;
        let (lower, upper) = self.sums.split_at_mut(2 * self.blocks * ply);
        let before = lower[2 * self.blocks * (ply - 1)..].chunks_exact(self.blocks);
        let here = upper[..2 * self.blocks].chunks_exact_mut(self.blocks);
        for (i, (from, to)) in before.zip(here).enumerate() {
            kernel.carry(network, from, to, added[i].as_slice(), removed[i].as_slice());
        }
    }
}

#[inline]
fn pieces(board: &Board) -> Pieces {
    let roles =
        [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
    let mut pieces = [0; 12];
    for (role, squares) in roles.into_iter().enumerate() {
        pieces[role] = (squares & board.white()).0;
        pieces[6 + role] = (squares & board.black()).0;
    }
    pieces
}

/// How many pieces have to be added or removed.
#[inline]
fn distance(from: &Pieces, to: &Pieces) -> u32 {
    // Most kinds have not moved, and where the processor counts no bits, counting them is the dearest part.
    let differing = from.iter().zip(to).filter(|(a, b)| a != b);
    differing.map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Finds out what to add and what to remove.
#[inline]
fn changes(lists: &mut Changes, from: &Pieces, to: &Pieces) {
    lists.iter_mut().flatten().for_each(|list| list.count = 0);
    for (kind, (&from, &to)) in from.iter().zip(to).enumerate() {
        if from == to {
            continue;
        }
        let piece = Piece { color: Color::from_white(kind < 6), role: Role::ALL[kind % 6] };
        for (squares, list) in [to & !from, from & !to].into_iter().zip(&mut *lists) {
            for square in shakmaty::Bitboard(squares) {
                push(list, piece, square);
            }
        }
    }
}

#[inline]
fn push(lists: &mut [List; 2], piece: Piece, square: Square) {
    let [white, black] = all::both(piece, square);
    lists[0].push(white);
    lists[1].push(black);
}
