//! The hidden layer of networks that see the squares of the pieces, with any mirroring and input buckets, kept up to
//! date by what differs from a position seen before.
//!
//! In: a board, the sides that look, and the distance from the root. Out: the sums of the hidden layer for those sides.
//! Each ply keeps the pieces that its sums stand for, and the angles from which they were seen. A new position differs
//! from that of the ply before by a move, as a rule, and only the difference is added and removed; it is listed once for
//! both sides. Where it does not, as after a king's move that turns the board, it is compared with its own ply and with
//! the last position seen from the same angle too (the idea of Koivisto's refresh tables), and whichever differs least is
//! changed. Sums are integers that wrap, so the result is that of adding everything anew, whatever was stored. The
//! search needs no hook in making and unmaking moves (the idea of akimbo's accumulator cache).

use shakmaty::{Bitboard, Board, Color, Square};

use super::architecture::Architecture;
use super::features::all;
use super::network::{Block, Network};
use super::simd::Kernel;
use super::arena::{PLIES, Slots, slot};
use patzer_chess::score::MAX_PLY;

/// No move changes more pieces than castling does: two leave their squares and two come to others.
const A_MOVE: u32 = 4;
/// Farther than any two boards are from each other.
const NEVER: u32 = u32::MAX;

/// From where a side sees the board, by its king's square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Angle {
    /// What turns the files of squares.
    flip: u16,
    /// First row of the input bucket.
    base: u16,
}

impl Angle {
    /// That of a side that did not look.
    const NONE: Angle = Angle { flip: u16::MAX, base: u16::MAX };

    fn new(architecture: &Architecture, side: Color, king: Square) -> Angle {
        let king = if side.is_white() { king } else { king.flip_vertical() } as usize;
        let (flip, bucket) = architecture.orientation(king);
        Angle { flip: flip as u16, base: (bucket * all::COUNT) as u16 }
    }

    /// The row of a feature that a side sees.
    #[inline]
    fn row(self, feature: usize) -> u16 {
        self.base + (feature as u16 ^ self.flip)
    }

    /// Where the last position that a side saw from here is kept.
    #[inline]
    fn place(self, side: Color) -> usize {
        4 * (usize::from(self.base) / all::COUNT)
            + 2 * usize::from(self.flip & 1)
            + usize::from(side.is_black())
    }
}

/// What a ply's sums stand for: those of a side that did not look stand for nothing.
#[derive(Debug, Clone, Copy)]
struct Seen {
    pieces: Pieces,
    angles: [Angle; 2],
}

/// Rows as both sides see them, at most one for each square.
#[derive(Debug, Clone, Copy)]
struct Rows {
    rows: [[u16; 64]; 2],
    count: usize,
}

impl Rows {
    const NONE: Rows = Rows { rows: [[0; 64]; 2], count: 0 };

    #[inline]
    fn push(&mut self, [white, black]: [u16; 2]) {
        self.rows[0][self.count % 64] = white;
        self.rows[1][self.count % 64] = black;
        self.count += 1;
    }

    #[inline]
    fn seen_by(&self, side: Color) -> &[u16] {
        &self.rows[usize::from(side.is_black())][..self.count]
    }
}

/// The sums from which those of a new position are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The ply before.
    Before,
    /// The same ply, in another line.
    Here,
    /// The last position that the side saw from this angle.
    Place(usize),
}

/// The sums of every ply for both sides, and of every angle.
#[derive(Debug, Clone)]
pub struct Stack {
    /// For White and for Black, by the king's square.
    angles: Box<[[Angle; 64]; 2]>,
    seen: Vec<Seen>,
    sums: Slots,
    /// What was last seen from each angle.
    places: Vec<Pieces>,
    place_sums: Slots,
    /// The rows in which a new position differs: added, and removed.
    changes: Box<[Rows; 2]>,
}

impl Stack {
    /// A stack that has seen the empty board everywhere.
    pub fn new(network: &Network) -> Stack {
        let architecture = network.architecture();
        let places = 4 * architecture.king_bucket_count();
        Stack {
            angles: Box::new(
                Color::ALL.map(|side| Square::ALL.map(|king| Angle::new(architecture, side, king))),
            ),
            seen: vec![Seen { pieces: Pieces::NONE, angles: [Angle::NONE; 2] }; MAX_PLY + 1],
            sums: Slots::new(network, PLIES),
            places: vec![Pieces::NONE; places],
            place_sums: Slots::new(network, places),
            changes: Box::new([Rows::NONE; 2]),
        }
    }

    /// Brings the sums of a ply up to date for the sides that look; [`Stack::sums`] gives them.
    #[inline]
    pub fn update(
        &mut self,
        network: &Network,
        kernel: Kernel,
        board: &Board,
        looking: &[Color],
        ply: usize,
    ) {
        let ply = ply.min(MAX_PLY);
        let pieces = Pieces::of(board);
        let king = |side: Color| board.king_of(side).map_or(0, |square| square as usize);
        let angles = [self.angles[0][king(Color::White)], self.angles[1][king(Color::Black)]];
        let mut seen = Seen { pieces, angles: [Angle::NONE; 2] };
        for &side in looking {
            seen.angles[usize::from(side.is_black())] = angles[usize::from(side.is_black())];
        }
        let before = ply.checked_sub(1).map_or(NEVER, |before| self.seen[before].pieces.distance(&pieces));
        if before <= A_MOVE && self.seen[ply - 1].angles == seen.angles {
            let from = self.seen[ply - 1].pieces;
            self.list(&from, &pieces, angles);
            for &side in looking {
                self.change(network, kernel, Origin::Before, side, ply);
            }
        } else {
            self.update_from_afar(network, kernel, &pieces, angles, looking, (ply, before));
        }
        self.seen[ply] = seen;
    }

    /// The same where some side's sums are not a move away from those of the ply before, which is `before` away.
    fn update_from_afar(
        &mut self,
        network: &Network,
        kernel: Kernel,
        pieces: &Pieces,
        angles: [Angle; 2],
        looking: &[Color],
        (ply, before): (usize, u32),
    ) {
        let here = self.seen[ply].pieces.distance(pieces);
        let mut listed = None;
        for &side in looking {
            let angle = angles[usize::from(side.is_black())];
            let origin = self.origin(pieces, side, angle, ply, [before, here]);
            if listed != Some(origin) {
                let from = match origin {
                    Origin::Before => self.seen[ply - 1].pieces,
                    Origin::Here => self.seen[ply].pieces,
                    Origin::Place(place) => self.places[place],
                };
                self.list(&from, pieces, angles);
                listed = Some(origin);
            }
            self.change(network, kernel, origin, side, ply);
            if let Origin::Place(place) = origin {
                self.places[place] = *pieces;
            }
        }
    }

    /// The sums of a ply as a side sees it, as they were brought up to date last.
    #[inline]
    pub fn sums(&self, side: Color, ply: usize) -> &[Block] {
        self.sums.at(slot(side, ply))
    }

    /// The sums from which a side's are made with the least work. `before` is how far the ply before is, and `here` what
    /// this one stood for.
    #[inline]
    fn origin(
        &self,
        pieces: &Pieces,
        side: Color,
        angle: Angle,
        ply: usize,
        [before, here]: [u32; 2],
    ) -> Origin {
        let seen_so = |ply: usize| self.seen[ply].angles[usize::from(side.is_black())] == angle;
        let before = if before < NEVER && seen_so(ply - 1) { before } else { NEVER };
        if before <= A_MOVE {
            return Origin::Before;
        }
        let here = if seen_so(ply) { here } else { NEVER };
        let place = angle.place(side);
        // To start from an angle's last position costs a copy more.
        let there = self.places[place].distance(pieces) + 1;
        if here <= before.min(there) {
            Origin::Here
        } else if before <= there {
            Origin::Before
        } else {
            Origin::Place(place)
        }
    }

    /// Makes a side's sums of a ply from others by the rows that are listed.
    #[inline]
    fn change(&mut self, network: &Network, kernel: Kernel, origin: Origin, side: Color, ply: usize) {
        let [added, removed] = &*self.changes;
        let (added, removed) = (added.seen_by(side), removed.seen_by(side));
        let slot = slot(side, ply);
        match origin {
            Origin::Before => {
                let (from, to) = self.sums.before_and_at(slot);
                kernel.carry(network, from, to, added, removed);
            }
            Origin::Here => kernel.change(network, self.sums.at_mut(slot), added, removed),
            Origin::Place(place) => {
                let sums = self.place_sums.at_mut(place);
                kernel.change(network, sums, added, removed);
                self.sums.at_mut(slot).copy_from_slice(sums);
            }
        }
    }

    /// Lists the rows that differ, as both sides see them.
    #[inline]
    fn list(&mut self, from: &Pieces, to: &Pieces, angles: [Angle; 2]) {
        let changed = from.changed(to);
        for (pieces, rows) in [to, from].into_iter().zip(&mut *self.changes) {
            rows.count = 0;
            for square in Bitboard(changed & pieces.taken()) {
                let [white, black] = all::both_of(pieces.feature(square as usize));
                rows.push([angles[0].row(white), angles[1].row(black)]);
            }
        }
    }
}

/// The pieces of a board: which squares are taken, which by Black, and the three digits of the kind of piece there, a
/// bit for each square (the idea of quad-bitboards). So few words say quickly what differs.
#[derive(Debug, Clone, Copy)]
struct Pieces([u64; 5]);

impl Pieces {
    const NONE: Pieces = Pieces([0; 5]);

    #[inline]
    fn of(board: &Board) -> Pieces {
        let (rooks, kings) = (board.rooks(), board.kings());
        Pieces(
            [
                board.occupied(),
                board.black(),
                board.knights() | rooks | kings,
                board.bishops() | rooks,
                board.queens() | kings,
            ]
            .map(|squares| squares.0),
        )
    }

    #[inline]
    fn taken(&self) -> u64 {
        self.0[0]
    }

    /// The feature of the piece on a taken square, as White sees it.
    #[inline]
    fn feature(&self, square: usize) -> usize {
        let [_, black, ones, twos, fours] = self.0.map(|squares| (squares >> square & 1) as usize);
        64 * (6 * black + ones + 2 * twos + 4 * fours) + square
    }

    /// The squares on which not the same stands.
    #[inline]
    fn changed(&self, other: &Pieces) -> u64 {
        self.0.iter().zip(&other.0).fold(0, |changed, (a, b)| changed | (a ^ b))
    }

    /// How many pieces have to be added or removed to come from one board to another.
    #[inline]
    fn distance(&self, other: &Pieces) -> u32 {
        let changed = self.changed(other);
        (changed & self.taken()).count_ones() + (changed & other.taken()).count_ones()
    }
}
