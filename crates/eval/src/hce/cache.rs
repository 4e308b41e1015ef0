//! Pawn hash table and material hash table. An entry holds all that it depends on and a lookup compares it, so the
//! cache never changes an evaluation.

use shakmaty::{Bitboard, Board, ByColor, Color};

use super::context::Context;
use super::pawn_structure::PawnStructure;
use super::phase::phase;
use super::scale::{Scales, counts};
use super::sink::{Packed, Total, WeightTable};
use super::terms;

/// Number of entries: enough for most of a search, and few enough for a processor's own cache.
const PAWN_ENTRIES: usize = 4096;

const MATERIAL_ENTRIES: usize = 1024;

/// Values that depend on pawns and kings alone.
#[derive(Debug, Clone, Copy)]
pub struct PawnEntry {
    pawns: ByColor<Bitboard>,
    kings: [u8; 2],
    closed: u8,
    one_wing: bool,
    /// Passed pawns of both sides; intersect with `pawns`.
    passed: Bitboard,
    pub sum: Packed,
}

impl PawnEntry {
    #[inline(always)]
    pub fn structure(&self) -> PawnStructure {
        let passed = |color: Color| self.passed & self.pawns[color];
        PawnStructure {
            passed: ByColor { black: passed(Color::Black), white: passed(Color::White) },
            closed: self.closed,
            one_wing: self.one_wing,
        }
    }
}

/// Values that depend on the numbers of pieces alone.
#[derive(Debug, Clone, Copy)]
pub struct MaterialEntry {
    key: u64,
    /// Sum of the `material` terms, White's minus Black's.
    pub sum: Packed,
    pub scales: Scales,
    pub phase: u8,
}

#[derive(Debug, Clone)]
pub struct Cache {
    structures: Box<[PawnEntry]>,
    materials: Box<[MaterialEntry]>,
}

impl Cache {
    pub fn new() -> Cache {
        // No board has a pawn of each side on every square, so no lookup matches an empty entry.
        let structure = PawnEntry {
            pawns: ByColor { black: Bitboard::FULL, white: Bitboard::FULL },
            kings: [0; 2],
            closed: 0,
            one_wing: false,
            passed: Bitboard::EMPTY,
            sum: Packed::default(),
        };
        let material =
            MaterialEntry { key: u64::MAX, sum: Packed::default(), scales: Scales::default(), phase: 0 };
        Cache {
            structures: vec![structure; PAWN_ENTRIES].into_boxed_slice(),
            materials: vec![material; MATERIAL_ENTRIES].into_boxed_slice(),
        }
    }

    #[inline(always)]
    pub fn structure(&mut self, table: &WeightTable, board: &Board) -> &PawnEntry {
        let ours = |color: Color| board.pawns() & board.by_color(color);
        let pawns = ByColor { black: ours(Color::Black), white: ours(Color::White) };
        let kings = [king(board, Color::White), king(board, Color::Black)];
        let mixed = mix(pawns.white.0)
            ^ mix(pawns.black.0.rotate_left(31))
            ^ mix(u64::from(u16::from_le_bytes(kings)));
        let entry = &mut self.structures[slot(mixed, PAWN_ENTRIES)];
        if entry.pawns != pawns || entry.kings != kings {
            let structure = PawnStructure::of(board);
            let mut total = Total::new(table, Packed::default());
            structure_sum(board, structure, &mut total);
            let PawnStructure { passed, closed, one_wing } = structure;
            let passed = passed.black | passed.white;
            *entry = PawnEntry { pawns, kings, closed, one_wing, passed, sum: total.sum() };
        }
        entry
    }

    #[inline(always)]
    pub fn material(&mut self, table: &WeightTable, board: &Board) -> &MaterialEntry {
        // Six bits a number: kings stand on two squares, so none reaches 64.
        let counts = counts(board);
        let numbers = counts.white.iter().chain(&counts.black);
        let key = numbers.fold(0, |key, &count| key << 6 | count as u64);
        let entry = &mut self.materials[slot(mix(key), MATERIAL_ENTRIES)];
        if entry.key != key {
            let mut total = Total::new(table, Packed::default());
            terms::material(&counts, &mut total);
            *entry = MaterialEntry {
                key,
                sum: total.sum(),
                scales: Scales::of(&counts),
                phase: phase(board) as u8,
            };
        }
        entry
    }
}

/// Square of a king; 64 for none or more than one, which the terms ignore.
#[inline(always)]
fn king(board: &Board, color: Color) -> u8 {
    board.king_of(color).map_or(64, u8::from)
}

#[inline(never)]
fn structure_sum(board: &Board, structure: PawnStructure, total: &mut Total<'_>) {
    // No `structure` term depends on the side to move.
    terms::structure(&Context::new(board, Color::White, structure), total);
}

/// Multiplicative hashing; the high bits depend on all bits (Knuth, TAOCP 3, 6.4).
#[inline(always)]
fn mix(bits: u64) -> u64 {
    bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline(always)]
fn slot(mixed: u64, slots: usize) -> usize {
    (mix(mixed ^ mixed >> 32) >> 40) as usize % slots
}
