//! Resolves a parsed move to the one legal move that matches it.
//!
//! Only pieces that reach the destination are tried, and legality is tested only where it can fail: in check, for king
//! moves, en passant, and moves off a line with the own king.

use shakmaty::{Bitboard, Color, attacks};

use super::board::{Board, EMPTY, KING, PAWN, Step, bit, castled, sq};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParsedMove {
    Piece(Target),
    /// Castling; true for king side.
    Castle(bool),
    /// UCI move: from, to, promotion.
    Squares(u8, u8, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    /// Role, pawn 0 to king 5.
    pub(super) role: u8,
    /// Possible origins according to the written file, rank or square.
    pub(super) from: u64,
    pub(super) to: u8,
    /// Promotion: 0 none, 1 knight … 4 queen.
    pub(super) promotion: u8,
    /// Set for a move written as a capture; matters only for pawns.
    pub(super) captures: bool,
}

const LAST_RANKS: u64 = 0xff00_0000_0000_00ff;

impl Board {
    /// The matching legal move; `None` if there is none or more than one.
    #[inline(always)]
    pub(super) fn find(&self, parsed: ParsedMove) -> Option<Step> {
        match parsed {
            ParsedMove::Piece(target) if target.role == PAWN => self.find_pawn(target),
            ParsedMove::Piece(target) => self.find_piece(target),
            ParsedMove::Castle(king_side) => self.find_castle(king_side),
            ParsedMove::Squares(from, to, promotion) => self.find_squares(from, to, promotion),
        }
    }

    #[inline(always)]
    fn find_piece(&self, Target { role, from, to, promotion, .. }: Target) -> Option<Step> {
        if promotion != 0 || self.sides[self.us & 1] & bit(to) != 0 {
            return None;
        }
        let occupied = Bitboard(self.occupied);
        let reach = match role {
            1 => attacks::knight_attacks(sq(to)),
            2 => attacks::bishop_attacks(sq(to), occupied),
            3 => attacks::rook_attacks(sq(to), occupied),
            4 => attacks::queen_attacks(sq(to), occupied),
            _ => attacks::king_attacks(sq(to)),
        };
        let ours = self.roles[usize::from(role & 7)] & self.sides[self.us & 1];
        let step = |from| Step { from, to, promotion, castle: false, en_passant: false };
        self.only(reach.0 & ours & from, step)
    }

    #[inline(always)]
    fn find_pawn(&self, Target { from, to, promotion, captures, .. }: Target) -> Option<Step> {
        if (promotion != 0) != (LAST_RANKS & bit(to) != 0) {
            return None;
        }
        let en_passant = to == self.ep;
        let step = |from| Step { from, to, promotion, castle: false, en_passant };
        let pawns = self.roles[0] & self.sides[self.us & 1] & from;
        // A pawn move without an origin never captures: `d5` is not `exd5`.
        if (en_passant || self.sides[self.us & 1 ^ 1] & bit(to) != 0) && (captures || from != u64::MAX) {
            let color = Color::from_black(self.us == 0);
            return self.only(attacks::pawn_attacks(color, sq(to)).0 & pawns, step);
        }
        if captures || self.occupied & bit(to) != 0 {
            return None;
        }
        let back = |square: u64| if self.us == 0 { square >> 8 } else { square << 8 };
        let (one, fourth) = (back(bit(to)), if self.us == 0 { 3 } else { 4 });
        let two = if to / 8 == fourth && self.occupied & one == 0 { back(one) } else { 0 };
        self.only((one | two) & pawns, |from| Step { en_passant: false, ..step(from) })
    }

    fn find_castle(&self, king_side: bool) -> Option<Step> {
        let king = self.kings[self.us];
        let rooks = Bitboard(self.unmoved & self.sides[self.us]);
        let rook = rooks.into_iter().map(u8::from).find(|rook| (*rook > king) == king_side)?;
        let (king_to, rook_to) = castled(king, rook);
        let others = self.occupied & !bit(king) & !bit(rook);
        let path = |a: u8, b: u8| attacks::between(sq(a), sq(b)).0 | bit(a) | bit(b);
        if self.in_check || others & (path(king, king_to) | path(rook, rook_to)) != 0 {
            return None;
        }
        let them = self.us ^ 1;
        let way = Bitboard(path(king, king_to) & !bit(king_to));
        let attacked = |square: u8, occupied| self.attacked(them, square, occupied, 0);
        if way.into_iter().any(|square| attacked(u8::from(square), others | bit(rook)))
            || attacked(king_to, others | bit(rook_to) | bit(king_to))
        {
            return None;
        }
        Some(Step { from: king, to: rook, promotion: 0, castle: true, en_passant: false })
    }

    fn find_squares(&self, from: u8, to: u8, promotion: u8) -> Option<Step> {
        let role = self.role(from);
        if role == EMPTY || self.sides[self.us] & bit(from) == 0 {
            return None;
        }
        if role == KING {
            // Castling is king takes own rook, or a king move of two or more files.
            let own_rook = self.unmoved & self.sides[self.us] & bit(to) != 0;
            let far = from / 8 == to / 8 && from.abs_diff(to) >= 2 && matches!(to % 8, 2 | 6);
            if own_rook || far {
                return self.find_castle(to > from).filter(|step| !own_rook || step.to == to);
            }
        }
        let target = Target { role, from: bit(from), to, promotion, captures: false };
        self.find(ParsedMove::Piece(target))
    }

    /// The only legal step among the candidate origins.
    #[inline(always)]
    fn only(&self, from: u64, step: impl Fn(u8) -> Step) -> Option<Step> {
        let first = step(from.trailing_zeros() as u8);
        if from != 0 && from & (from - 1) == 0 {
            return self.is_legal(first).then_some(first);
        }
        self.only_of(from, step)
    }

    #[inline(never)]
    fn only_of(&self, from: u64, step: impl Fn(u8) -> Step) -> Option<Step> {
        let mut legal = Bitboard(from).into_iter().map(|s| step(u8::from(s))).filter(|s| self.is_legal(*s));
        let found = legal.next()?;
        legal.next().is_none().then_some(found)
    }

    /// Tests whether a pseudo-legal move leaves its king out of check.
    #[inline(always)]
    fn is_legal(&self, step: Step) -> bool {
        let Step { from, to, .. } = step;
        let king = self.kings[self.us & 1];
        if from != king && !self.in_check && !step.en_passant {
            if !self.on_kings_line(self.us, bit(from)) {
                return true;
            }
            let occupied = self.occupied & !bit(from) | bit(to);
            return !self.slider_attacks(self.us ^ 1, king, occupied, bit(to));
        }
        if step.en_passant {
            return self.en_passant_is_safe(from, to);
        }
        let king = if from == king { to } else { king };
        !self.attacked(self.us ^ 1, king, self.occupied & !bit(from) | bit(to), bit(to))
    }
}
