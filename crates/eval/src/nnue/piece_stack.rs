//! Accumulators of networks with one feature per piece and square, with any mirroring and king buckets.
//! Each ply keeps the pieces of its accumulators and the key of each perspective. A new position usually differs from
//! the previous ply's by one move: only the difference is added and removed, listed once for both perspectives. After a
//! king move that changes the key, the update starts from whichever position differs least: the previous ply's, the one
//! last seen at this ply, or the last one seen with this key (Koivisto's refresh tables). Accumulators are wrapping
//! integers, so the result is that of a full refresh. The search needs no hook in making and unmaking moves (akimbo's
//! accumulator cache).

use shakmaty::{Bitboard, Board, Color, Square};

use super::architecture::Architecture;
use super::arena::{AccumulatorArena, PLIES, slot};
use super::features::all;
use super::network::{Block, Network};
use super::simd::Kernel;
use patzer_chess::score::MAX_PLY;

/// Castling changes the most squares of any move: it vacates two and occupies two.
const A_MOVE: u32 = 4;
/// Farther than any two boards are apart.
const NEVER: u32 = u32::MAX;

/// Perspective key: how a side sees the board, by its king's square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PerspectiveKey {
    /// Xor mask for the files of squares: 7 if mirrored, else 0.
    flip: u16,
    base: u16,
}

impl PerspectiveKey {
    /// For a perspective without an accumulator.
    const NONE: PerspectiveKey = PerspectiveKey { flip: u16::MAX, base: u16::MAX };

    fn new(architecture: &Architecture, side: Color, king: Square) -> PerspectiveKey {
        let king = if side.is_white() { king } else { king.flip_vertical() } as usize;
        let (flip, bucket) = architecture.orientation(king);
        PerspectiveKey { flip: flip as u16, base: (bucket * all::COUNT) as u16 }
    }

    #[inline]
    fn row(self, feature: usize) -> u16 {
        self.base + (feature as u16 ^ self.flip)
    }

    #[inline]
    fn refresh_index(self, side: Color) -> usize {
        4 * (usize::from(self.base) / all::COUNT)
            + 2 * usize::from(self.flip & 1)
            + usize::from(side.is_black())
    }
}

#[derive(Debug, Clone, Copy)]
struct Snapshot {
    pieces: Pieces,
    keys: [PerspectiveKey; 2],
}

/// Feature rows for both perspectives, at most one per square.
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
    fn of(&self, side: Color) -> &[u16] {
        &self.rows[usize::from(side.is_black())][..self.count]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    PreviousPly,
    SamePly,
    Refresh(usize),
}

#[derive(Debug, Clone)]
pub struct PieceStack {
    keys: Box<[[PerspectiveKey; 64]; 2]>,
    plies: Vec<Snapshot>,
    accumulators: AccumulatorArena,
    refresh: Vec<Pieces>,
    refresh_accumulators: AccumulatorArena,
    changes: Box<[Rows; 2]>,
}

impl PieceStack {
    pub fn new(network: &Network) -> PieceStack {
        let architecture = network.architecture();
        let keys = 4 * architecture.king_bucket_count();
        let key = |side| Square::ALL.map(|king| PerspectiveKey::new(architecture, side, king));
        PieceStack {
            keys: Box::new(Color::ALL.map(key)),
            plies: vec![Snapshot { pieces: Pieces::NONE, keys: [PerspectiveKey::NONE; 2] }; MAX_PLY + 1],
            accumulators: AccumulatorArena::new(network, PLIES),
            refresh: vec![Pieces::NONE; keys],
            refresh_accumulators: AccumulatorArena::new(network, keys),
            changes: Box::new([Rows::NONE; 2]),
        }
    }

    #[inline]
    pub fn update(
        &mut self,
        network: &Network,
        kernel: Kernel,
        board: &Board,
        perspectives: &[Color],
        ply: usize,
    ) {
        let ply = ply.min(MAX_PLY);
        let pieces = Pieces::of(board);
        let king = |side: Color| board.king_of(side).map_or(0, |square| square as usize);
        let keys = [self.keys[0][king(Color::White)], self.keys[1][king(Color::Black)]];
        let mut snapshot = Snapshot { pieces, keys: [PerspectiveKey::NONE; 2] };
        for &side in perspectives {
            snapshot.keys[usize::from(side.is_black())] = keys[usize::from(side.is_black())];
        }
        let previous = ply.checked_sub(1).map_or(NEVER, |ply| self.plies[ply].pieces.distance(&pieces));
        if previous <= A_MOVE && self.plies[ply - 1].keys == snapshot.keys {
            let from = self.plies[ply - 1].pieces;
            self.list(&from, &pieces, keys);
            for &side in perspectives {
                self.apply(network, kernel, Origin::PreviousPly, side, ply);
            }
        } else {
            self.update_from_afar(network, kernel, &pieces, keys, perspectives, (ply, previous));
        }
        self.plies[ply] = snapshot;
    }

    /// Slow path: a perspective is more than one move away from the previous ply's accumulator.
    fn update_from_afar(
        &mut self,
        network: &Network,
        kernel: Kernel,
        pieces: &Pieces,
        keys: [PerspectiveKey; 2],
        perspectives: &[Color],
        (ply, previous): (usize, u32),
    ) {
        let same = self.plies[ply].pieces.distance(pieces);
        let mut listed = None;
        for &side in perspectives {
            let key = keys[usize::from(side.is_black())];
            let origin = self.origin(pieces, side, key, ply, [previous, same]);
            if listed != Some(origin) {
                let from = match origin {
                    Origin::PreviousPly => self.plies[ply - 1].pieces,
                    Origin::SamePly => self.plies[ply].pieces,
                    Origin::Refresh(index) => self.refresh[index],
                };
                self.list(&from, pieces, keys);
                listed = Some(origin);
            }
            self.apply(network, kernel, origin, side, ply);
            if let Origin::Refresh(index) = origin {
                self.refresh[index] = *pieces;
            }
        }
    }

    #[inline]
    pub fn accumulator(&self, side: Color, ply: usize) -> &[Block] {
        self.accumulators.at(slot(side, ply))
    }

    /// Picks the cheapest origin, given the distances to the positions of the previous ply and of this ply.
    #[inline]
    fn origin(
        &self,
        pieces: &Pieces,
        side: Color,
        key: PerspectiveKey,
        ply: usize,
        [previous, same]: [u32; 2],
    ) -> Origin {
        let key_matches = |ply: usize| self.plies[ply].keys[usize::from(side.is_black())] == key;
        let previous = if previous < NEVER && key_matches(ply - 1) { previous } else { NEVER };
        if previous <= A_MOVE {
            return Origin::PreviousPly;
        }
        let same = if key_matches(ply) { same } else { NEVER };
        let index = key.refresh_index(side);
        // Starting from the refresh table costs one more copy.
        let refresh = self.refresh[index].distance(pieces) + 1;
        if same <= previous.min(refresh) {
            Origin::SamePly
        } else if previous <= refresh {
            Origin::PreviousPly
        } else {
            Origin::Refresh(index)
        }
    }

    #[inline]
    fn apply(&mut self, network: &Network, kernel: Kernel, origin: Origin, side: Color, ply: usize) {
        let [added, removed] = &*self.changes;
        let (added, removed) = (added.of(side), removed.of(side));
        let slot = slot(side, ply);
        match origin {
            Origin::PreviousPly => {
                let (from, to) = self.accumulators.before_and_at(slot);
                kernel.carry(network, from, to, added, removed);
            }
            Origin::SamePly => kernel.change(network, self.accumulators.at_mut(slot), added, removed),
            Origin::Refresh(index) => {
                let accumulator = self.refresh_accumulators.at_mut(index);
                kernel.change(network, accumulator, added, removed);
                self.accumulators.at_mut(slot).copy_from_slice(accumulator);
            }
        }
    }

    #[inline]
    fn list(&mut self, from: &Pieces, to: &Pieces, keys: [PerspectiveKey; 2]) {
        let changed = from.changed(to);
        for (pieces, rows) in [to, from].into_iter().zip(&mut *self.changes) {
            rows.count = 0;
            for square in Bitboard(changed & pieces.occupied()) {
                let [white, black] = all::both_of(pieces.feature(square as usize));
                rows.push([keys[0].row(white), keys[1].row(black)]);
            }
        }
    }
}

/// A board as quad-bitboards: occupied, Black, and the three binary digits of the role. Five words compare quickly.
#[derive(Debug, Clone, Copy)]
struct Pieces([u64; 5]);

impl Pieces {
    const NONE: Pieces = Pieces([0; 5]);

    #[inline]
    fn of(board: &Board) -> Pieces {
        let (rooks, kings) = (board.rooks(), board.kings());
        let digits = [board.knights() | rooks | kings, board.bishops() | rooks, board.queens() | kings];
        Pieces([board.occupied(), board.black(), digits[0], digits[1], digits[2]].map(|squares| squares.0))
    }

    #[inline]
    fn occupied(&self) -> u64 {
        self.0[0]
    }

    /// The feature of the piece on an occupied square, from White's perspective.
    #[inline]
    fn feature(&self, square: usize) -> usize {
        let [_, black, ones, twos, fours] = self.0.map(|squares| (squares >> square & 1) as usize);
        64 * (6 * black + ones + 2 * twos + 4 * fours) + square
    }

    #[inline]
    fn changed(&self, other: &Pieces) -> u64 {
        self.0.iter().zip(&other.0).fold(0, |changed, (a, b)| changed | (a ^ b))
    }

    /// How many pieces an update from one board to the other adds and removes.
    #[inline]
    fn distance(&self, other: &Pieces) -> u32 {
        let changed = self.changed(other);
        (changed & self.occupied()).count_ones() + (changed & other.occupied()).count_ones()
    }
}
