//! Incremental board for replaying games: occupancy, piece codes and checks are updated move by move.
//!
//! [`super::resolve`] finds the moves. shakmaty sets positions up and stays the reference: tests replay every fixture
//! and random games on both.

use shakmaty::{Bitboard, Chess, Color, Position, Role, Square, attacks};

use patzer_chess::PackedBoard;
use patzer_chess::packed::{NO_EP, ep_code};

pub(super) const PAWN: u8 = 0;
pub(super) const KNIGHT: u8 = 1;
pub(super) const BISHOP: u8 = 2;
pub(super) const ROOK: u8 = 3;
const QUEEN: u8 = 4;
pub(super) const KING: u8 = 5;
/// A rook that may still castle, as in [`PackedBoard`].
const UNMOVED: u8 = 6;
const NOTHING: u8 = 15;
pub(super) const EMPTY: u8 = 7;

const ROLE_OF: [u8; 16] = [
    PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, ROOK, EMPTY, PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING, ROOK,
    EMPTY,
];

const ROOK_RAYS: [u64; 64] = rays(true, false);
const BISHOP_RAYS: [u64; 64] = rays(false, true);
const QUEEN_RAYS: [u64; 64] = rays(true, true);

const fn rays(straight: bool, diagonal: bool) -> [u64; 64] {
    let mut table = [0; 64];
    let mut at = 0;
    while at < 64 {
        let mut to = 0;
        while to < 64 {
            let (files, ranks) = ((at % 8) as i32 - (to % 8) as i32, (at / 8) as i32 - (to / 8) as i32);
            let on_line = straight && (files == 0 || ranks == 0);
            let on_diagonal = diagonal && (files == ranks || files == -ranks);
            if at != to && (on_line || on_diagonal) {
                table[at] |= 1 << to;
            }
            to += 1;
        }
        at += 1;
    }
    table
}

const LOW: [u128; 33] = {
    let mut table = [u128::MAX; 33];
    let mut n = 0;
    while n < 32 {
        table[n] = (1 << (4 * n)) - 1;
        n += 1;
    }
    table
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) from: u8,
    /// Destination; for castling, the rook's square.
    pub(super) to: u8,
    /// Promotion: 0 none, 1 knight … 4 queen.
    pub(super) promotion: u8,
    pub(super) castle: bool,
    pub(super) en_passant: bool,
}

impl Step {
    #[inline(always)]
    pub(super) fn packed(self) -> u16 {
        u16::from(self.from)
            | u16::from(self.to) << 6
            | u16::from(self.promotion) << 12
            | u16::from(self.castle) << 15
    }
}

/// A position in the middle of a game. Sides are indexed 0 White, 1 Black; squares a1 = 0 to h8 = 63.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Board {
    pub(super) occupied: u64,
    pub(super) sides: [u64; 2],
    /// Squares by role, pawn to king; two spare entries make every index in bounds.
    pub(super) roles: [u64; 8],
    /// Code of [`PackedBoard`] on each square, or [`NOTHING`].
    squares: [u8; 64],
    /// The codes of the occupied squares in square order, as in [`PackedBoard`].
    codes: u128,
    /// Rooks that may still castle.
    pub(super) unmoved: u64,
    pub(super) kings: [u8; 2],
    pub(super) us: usize,
    /// The en passant square if the capture is legal, else [`NO_EP`].
    pub(super) ep: u8,
    pub(super) halfmoves: u32,
    pub(super) fullmoves: u32,
    pub(super) in_check: bool,
}

#[inline(always)]
pub(super) fn sq(index: u8) -> Square {
    Square::new(u32::from(index & 63))
}

#[inline(always)]
pub(super) fn bit(index: u8) -> u64 {
    1 << (index & 63)
}

impl Board {
    pub(super) fn new(position: &Chess) -> Board {
        let board = position.board();
        let (packed, unmoved) = (PackedBoard::pack(position), position.castles().castling_rights().0);
        let mut codes = [0; 16];
        codes.copy_from_slice(&packed.0[8..]);
        let mut squares = [NOTHING; 64];
        for (square, piece) in board.iter() {
            let role = if unmoved & bit(u8::from(square)) != 0 { UNMOVED } else { piece.role as u8 - 1 };
            squares[square.to_usize()] = 8 * u8::from(piece.color.is_black()) + role;
        }
        let king = |color| board.king_of(color).map_or(0, u8::from);
        Board {
            occupied: board.occupied().0,
            sides: [board.white().0, board.black().0],
            roles: std::array::from_fn(|role| Role::ALL.get(role).map_or(0, |role| board.by_role(*role).0)),
            squares,
            codes: u128::from_le_bytes(codes),
            unmoved,
            kings: [king(Color::White), king(Color::Black)],
            us: usize::from(position.turn().is_black()),
            ep: ep_code(position),
            halfmoves: position.halfmoves(),
            fullmoves: position.fullmoves().get(),
            in_check: position.is_check(),
        }
    }

    #[inline(always)]
    pub(super) fn packed(&self) -> PackedBoard {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..].copy_from_slice(&self.codes.to_le_bytes());
        PackedBoard(bytes)
    }

    pub(super) fn position(&self) -> Option<Chess> {
        self.packed().unpack(self.turn(), self.ep, self.halfmoves, self.fullmoves.max(1))
    }

    /// Tests for a capture, en passant included.
    #[inline(always)]
    pub(super) fn captures(&self, step: Step) -> bool {
        !step.castle && (step.en_passant || self.occupied & bit(step.to) != 0)
    }

    /// Tests whether the king has a legal move: a quick test that rules out most mates and stalemates.
    pub(super) fn king_can_move(&self) -> bool {
        let king = self.kings[self.us & 1];
        let free = attacks::king_attacks(sq(king)).0 & !self.sides[self.us & 1];
        Bitboard(free).into_iter().any(|to| {
            let to = u8::from(to);
            let occupied = self.occupied & !bit(king) | bit(to);
            !self.attacked(self.us & 1 ^ 1, to, occupied, bit(to))
        })
    }

    #[inline(always)]
    pub(super) fn turn(&self) -> Color {
        Color::from_black(self.us == 1)
    }

    /// The role on a square, pawn 0 to king 5, or [`EMPTY`].
    #[inline(always)]
    pub(super) fn role(&self, square: u8) -> u8 {
        ROLE_OF[usize::from(self.squares[usize::from(square & 63)] & 15)]
    }

    /// Tests whether a side's sliders attack a square through `occupied`, ignoring the pieces on `without`.
    #[inline(always)]
    pub(super) fn slider_attacks(&self, side: usize, square: u8, occupied: u64, without: u64) -> bool {
        let theirs = self.sides[side & 1] & !without;
        let straight = (self.roles[3] | self.roles[4]) & theirs;
        let diagonal = (self.roles[2] | self.roles[4]) & theirs;
        let at = usize::from(square & 63);
        // Most squares have no slider on their lines, which one table look-up shows.
        (straight & ROOK_RAYS[at] != 0
            && attacks::rook_attacks(sq(square), Bitboard(occupied)).0 & straight != 0)
            || (diagonal & BISHOP_RAYS[at] != 0
                && attacks::bishop_attacks(sq(square), Bitboard(occupied)).0 & diagonal != 0)
    }

    /// Tests whether a side attacks a square through `occupied`, ignoring the pieces on `without`.
    #[inline]
    pub(super) fn attacked(&self, side: usize, square: u8, occupied: u64, without: u64) -> bool {
        let theirs = self.sides[side & 1] & !without;
        let color = Color::from_black(side == 1);
        let near = attacks::knight_attacks(sq(square)).0 & self.roles[1]
            | attacks::pawn_attacks(!color, sq(square)).0 & self.roles[0]
            | attacks::king_attacks(sq(square)).0 & self.roles[5];
        near & theirs != 0 || self.slider_attacks(side, square, occupied, without)
    }

    /// Tests whether any of the squares is on a queen line of a side's king, so that leaving it may expose the king.
    #[inline(always)]
    pub(super) fn on_kings_line(&self, side: usize, squares: u64) -> bool {
        let king = usize::from(self.kings[side & 1] & 63);
        QUEEN_RAYS[king] & squares != 0
    }

    #[inline(always)]
    pub(super) fn play(&mut self, step: Step) {
        if step.castle {
            self.castle(step);
            return;
        }
        let (us, them) = (self.us & 1, self.us & 1 ^ 1);
        let Step { from, to, .. } = step;
        let role = self.role(from);
        let captured = self.role(to);
        let placed = if step.promotion == 0 { role } else { step.promotion };
        let mut opened = bit(from);
        self.take(from, role, us);
        if captured == EMPTY {
            if step.en_passant {
                let pawn = to ^ 8;
                self.take(pawn, PAWN, them);
                opened |= bit(pawn);
            }
            self.put(to, placed, us);
        } else {
            self.replace(to, captured, placed, us);
        }
        if role == KING {
            self.kings[us] = to;
            self.lose_rights(us);
        }
        self.halfmoves = if role == PAWN || captured != EMPTY { 0 } else { self.halfmoves.saturating_add(1) };
        self.pass_turn();
        if role == PAWN && from ^ to == 16 {
            self.offer_en_passant(to);
        }
        self.in_check = self.gives_check(to, placed, opened);
    }

    /// Plays a null move. Must not be called in check.
    pub(super) fn pass(&mut self) {
        self.halfmoves = self.halfmoves.saturating_add(1);
        self.pass_turn();
    }

    #[inline(always)]
    fn pass_turn(&mut self) {
        self.ep = NO_EP;
        self.fullmoves = self.fullmoves.saturating_add(self.us as u32);
        self.us ^= 1;
    }

    #[cold]
    fn castle(&mut self, step: Step) {
        let us = self.us;
        let (king_to, rook_to) = castled(step.from, step.to);
        self.take(step.from, KING, us);
        self.take(step.to, ROOK, us);
        self.put(king_to, KING, us);
        self.put(rook_to, ROOK, us);
        self.kings[us] = king_to;
        self.lose_rights(us);
        self.halfmoves = self.halfmoves.saturating_add(1);
        self.pass_turn();
        let king = self.kings[us ^ 1];
        self.in_check = self.slider_attacks(us, king, self.occupied, 0);
    }

    /// Tests whether the move of a `role` to `to`, which emptied the squares `opened`, gives check.
    #[inline(always)]
    fn gives_check(&self, to: u8, role: u8, opened: u64) -> bool {
        let (mover, king) = (self.us & 1 ^ 1, self.kings[self.us & 1]);
        let at = usize::from(king & 63);
        let color = Color::from_black(mover == 1);
        let direct = match role {
            PAWN => attacks::pawn_attacks(color, sq(to)).0 & bit(king) != 0,
            KNIGHT => attacks::knight_attacks(sq(to)).0 & bit(king) != 0,
            KING => false,
            _ => {
                let diagonal = if role == ROOK { 0 } else { BISHOP_RAYS[at] };
                let straight = if role == BISHOP { 0 } else { ROOK_RAYS[at] };
                let lines = diagonal | straight;
                lines & bit(to) != 0 && attacks::between(sq(to), sq(king)).0 & self.occupied == 0
            }
        };
        direct || (self.on_kings_line(self.us, opened) && self.slider_attacks(mover, king, self.occupied, 0))
    }

    /// Sets the en passant square after a double push if the capture is legal.
    #[inline(always)]
    fn offer_en_passant(&mut self, pawn: u8) {
        let target = pawn ^ 8;
        let pushed = Color::from_black(self.us == 0);
        let takers = attacks::pawn_attacks(pushed, sq(target)).0 & self.roles[0] & self.sides[self.us & 1];
        if takers != 0 {
            self.offer_to(takers, target);
        }
    }

    #[cold]
    fn offer_to(&mut self, takers: u64, target: u8) {
        if Bitboard(takers).into_iter().any(|from| self.en_passant_is_safe(u8::from(from), target)) {
            self.ep = target;
        }
    }

    pub(super) fn en_passant_is_safe(&self, from: u8, target: u8) -> bool {
        let taken = bit(target ^ 8);
        let occupied = self.occupied & !bit(from) & !taken | bit(target);
        !self.attacked(self.us ^ 1, self.kings[self.us], occupied, taken)
    }

    #[inline]
    fn lose_rights(&mut self, side: usize) {
        let lost = self.unmoved & self.sides[side];
        if lost != 0 {
            self.unmoved &= !lost;
            for rook in Bitboard(lost) {
                let (square, code) = (u8::from(rook), 8 * side as u8 + ROOK);
                self.squares[usize::from(square)] = code;
                self.set_code(square, code);
            }
        }
    }

    #[inline(always)]
    fn rank_of(&self, square: u8) -> usize {
        (self.occupied & (bit(square) - 1)).count_ones() as usize & 31
    }

    #[inline(always)]
    fn take(&mut self, square: u8, role: u8, side: usize) {
        let low = LOW[self.rank_of(square)];
        self.codes = self.codes & low | (self.codes >> 4) & !low;
        self.squares[usize::from(square & 63)] = NOTHING;
        self.flip(square, role, side);
        self.unmoved &= !bit(square);
    }

    #[inline(always)]
    fn put(&mut self, square: u8, role: u8, side: usize) {
        let at = self.rank_of(square);
        let (low, code) = (LOW[at], 8 * side as u8 + role);
        self.codes = self.codes & low | (self.codes & !low) << 4 | u128::from(code) << (4 * at);
        self.squares[usize::from(square & 63)] = code;
        self.flip(square, role, side);
    }

    #[inline(always)]
    fn replace(&mut self, square: u8, captured: u8, role: u8, side: usize) {
        let code = 8 * side as u8 + role;
        self.set_code(square, code);
        self.squares[usize::from(square & 63)] = code;
        self.sides[0] ^= bit(square);
        self.sides[1] ^= bit(square);
        self.roles[usize::from(captured & 7)] ^= bit(square);
        self.roles[usize::from(role & 7)] ^= bit(square);
        self.unmoved &= !bit(square);
    }

    #[inline(always)]
    fn set_code(&mut self, square: u8, code: u8) {
        let shift = 4 * self.rank_of(square);
        self.codes = self.codes & !(15 << shift) | u128::from(code) << shift;
    }

    #[inline(always)]
    fn flip(&mut self, square: u8, role: u8, side: usize) {
        self.occupied ^= bit(square);
        self.sides[side & 1] ^= bit(square);
        self.roles[usize::from(role & 7)] ^= bit(square);
    }
}

pub(super) fn castled(king: u8, rook: u8) -> (u8, u8) {
    let home = king & !7;
    if rook > king { (home | 6, home | 5) } else { (home | 2, home | 3) }
}
