//! The hidden layer of networks that see the squares of the pieces, with any mirroring and input buckets, kept up to
//! date by what differs from a position seen before.
//!
//! In: the pieces of a board, the side that looks, and the distance from the root. Out: the sums of the hidden layer
//! for that side. Each ply keeps the pieces that its sums stand for, and the angle from which they were seen. A new
//! position differs from that of the ply before by a move, as a rule, and only the difference is added and removed.
//! Where it does not, as after a king's move that turns the board, it is compared with its own ply and with the last
//! position seen from the same angle too (the idea of Koivisto's refresh tables), and whichever differs least is
//! changed. Sums are integers that wrap, so the result is that of adding everything anew, whatever was stored. The
//! search needs no hook in making and unmaking moves (the idea of akimbo's accumulator cache).

use arrayvec::ArrayVec;
use shakmaty::{Board, Color, Piece, Role, Square};

use super::architecture::Architecture;
use super::features::all;
use super::network::{Block, Network};
use super::simd::Kernel;
use super::slots::{PLIES, Slots, slot};

/// The squares of each kind of piece: pawn to king of White, then of Black.
pub type Pieces = [u64; 12];

/// No move changes more pieces than castling does: two leave their squares and two come to others.
const A_MOVE: u32 = 4;

/// From where a side sees the board, by its king's square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Angle {
    side: Color,
    /// What turns the files of squares.
    flip: usize,
    /// First row of the input bucket.
    base: usize,
}

impl Angle {
    fn new(architecture: &Architecture, side: Color, king: Square) -> Angle {
        let king = if side.is_white() { king } else { king.flip_vertical() } as usize;
        let (flip, bucket) = architecture.orientation(king);
        Angle { side, flip, base: bucket * all::COUNT }
    }

    /// The row of a piece on a square.
    #[inline]
    fn row(&self, kind: usize, square: Square) -> u16 {
        let piece = Piece { color: Color::from_white(kind < 6), role: Role::ALL[kind % 6] };
        (self.base + (all::index(self.side, piece, square) ^ self.flip)) as u16
    }

    /// Where the last position seen from here is kept.
    #[inline]
    fn place(&self) -> usize {
        4 * (self.base / all::COUNT) + 2 * (self.flip & 1) + usize::from(self.side.is_black())
    }
}

/// The sums of every ply for both sides, and of every angle.
#[derive(Debug, Clone)]
pub struct Stack {
    /// For White and for Black, by the king's square.
    angles: Box<[[Angle; 64]; 2]>,
    plies: Store,
    places: Store,
    added: Rows,
    removed: Rows,
}

/// Rows to add or to remove: no more than two boards have pieces.
type Rows = ArrayVec<u16, 64>;

/// Sums with the pieces that they stand for.
#[derive(Debug, Clone)]
struct Store {
    seen: Vec<(Pieces, Angle)>,
    sums: Slots,
}

impl Store {
    /// Of the empty board, seen from one angle.
    fn new(network: &Network, slots: usize, angle: Angle) -> Store {
        Store { seen: vec![([0; 12], angle); slots], sums: Slots::new(network, slots) }
    }

    /// How many pieces have to be added or removed, if the angle is the same.
    #[inline]
    fn distance(&self, slot: usize, pieces: &Pieces, angle: Angle) -> u32 {
        let (from, seen) = &self.seen[slot];
        if *seen != angle {
            return u32::MAX;
        }
        // Most kinds have not moved, and where the processor counts no bits, counting them is the dearest part.
        let differing = from.iter().zip(pieces).filter(|(a, b)| a != b);
        differing.map(|(a, b)| (a ^ b).count_ones()).sum()
    }
}

impl Stack {
    /// A stack that has seen the empty board everywhere.
    pub fn new(network: &Network) -> Stack {
        let architecture = network.architecture();
        let angles = Color::ALL.map(|side| Square::ALL.map(|king| Angle::new(architecture, side, king)));
        let mut places = Store::new(network, 4 * architecture.king_bucket_count(), angles[0][0]);
        for angle in angles.as_flattened() {
            places.seen[angle.place()].1 = *angle;
        }
        Stack {
            plies: Store::new(network, PLIES, angles[0][0]),
            angles: Box::new(angles),
            places,
            added: Rows::new(),
            removed: Rows::new(),
        }
    }

    /// Brings one side's sums of a ply up to date; [`Stack::sums`] gives them.
    pub fn update(&mut self, network: &Network, kernel: Kernel, pieces: &Pieces, side: Color, ply: usize) {
        let slot = slot(side, ply);
        let king = if side.is_white() { pieces[5] } else { pieces[11] };
        let angle = self.angles[usize::from(side.is_black())][king.trailing_zeros() as usize % 64];
        let before = if slot >= 2 { self.plies.distance(slot - 2, pieces, angle) } else { u32::MAX };
        if before <= A_MOVE {
            self.carry(network, kernel, slot, pieces, angle);
        } else {
            let here = self.plies.distance(slot, pieces, angle);
            // To start from an angle's last position costs a copy more.
            let place = angle.place();
            let there = self.places.distance(place, pieces, angle) + 1;
            if here <= before.min(there) {
                self.list(self.plies.seen[slot].0, pieces, angle);
                let sums = self.plies.sums.at_mut(slot);
                kernel.change(network, sums, &self.added, &self.removed);
            } else if before <= there {
                self.carry(network, kernel, slot, pieces, angle);
            } else {
                self.list(self.places.seen[place].0, pieces, angle);
                let sums = self.places.sums.at_mut(place);
                kernel.change(network, sums, &self.added, &self.removed);
                self.plies.sums.at_mut(slot).copy_from_slice(sums);
                self.places.seen[place].0 = *pieces;
            }
        }
        self.plies.seen[slot] = (*pieces, angle);
    }

    /// The sums of a ply as a side sees it, as they were brought up to date last.
    #[inline]
    pub fn sums(&self, side: Color, ply: usize) -> &[Block] {
        self.plies.sums.at(slot(side, ply))
    }

    /// Takes the sums of the ply before, but for what differs.
    #[inline]
    fn carry(&mut self, network: &Network, kernel: Kernel, slot: usize, pieces: &Pieces, angle: Angle) {
        self.list(self.plies.seen[slot - 2].0, pieces, angle);
        let (from, to) = self.plies.sums.before_and_at(slot);
        kernel.carry(network, from, to, &self.added, &self.removed);
    }

    /// Lists the rows that differ.
    #[inline]
    fn list(&mut self, from: Pieces, to: &Pieces, angle: Angle) {
        self.added.clear();
        self.removed.clear();
        for (kind, (from, &to)) in from.into_iter().zip(to).enumerate() {
            if from == to {
                continue;
            }
            for (squares, list) in [(to & !from, &mut self.added), (from & !to, &mut self.removed)] {
                for square in shakmaty::Bitboard(squares) {
                    list.push(angle.row(kind, square));
                }
            }
        }
    }
}

/// The pieces of a board.
#[inline]
pub fn pieces(board: &Board) -> Pieces {
    let roles =
        [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
    let mut pieces = [0; 12];
    for (role, squares) in roles.into_iter().enumerate() {
        pieces[role] = (squares & board.white()).0;
        pieces[6 + role] = (squares & board.black()).0;
    }
    pieces
}
