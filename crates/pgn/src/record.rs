//! One position of one game, with everything that a filter, a label or a training step may ask of it.
//!
//! In: what the game reader saw. Out: the record that datasets store, one row a position. Distances to the next
//! capture, check and end of the game are stored, so a filter gives the same answer at `extract` and at `tune`.
//! A distance counts the plies before the move that makes the event: 0 means that the next move does.
//!
//! A game of n plies has n records, one before each move; the final position, from which nothing was played, is
//! not one.

use shakmaty::{Chess, Color};

use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};

/// A distance field's value for "further than that, or never".
pub const FAR: u8 = 255;

/// Facts about a position and the move played from it, as bits. The numbers are part of the dataset format.
pub mod flags {
    /// The move played captures.
    pub const CAPTURE: u16 = 1 << 0;
    /// The move played promotes.
    pub const PROMOTION: u16 = 1 << 1;
    /// The side to move is in check.
    pub const IN_CHECK: u16 = 1 << 2;
    /// The move played gives check.
    pub const GIVES_CHECK: u16 = 1 << 3;
    /// The game ends in checkmate.
    pub const MATE_END: u16 = 1 << 4;
    /// The move played was commented as coming from an opening book.
    pub const BOOK: u16 = 1 << 5;
    /// The score is a forced mate.
    pub const MATE_SCORE: u16 = 1 << 6;
    /// The game is one of Chess960.
    pub const CHESS960: u16 = 1 << 7;
}

/// One position of one game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    /// Side to move.
    pub turn: Color,
    /// En passant square index if the capture is legal, else [`patzer_chess::packed::NO_EP`].
    pub ep: u8,
    /// Plies since the last capture or pawn move, at most 255.
    pub halfmove: u8,
    /// Move number as in a FEN.
    pub fullmove: u16,
    /// Plies played since the start of the game's movetext.
    pub ply: u16,
    /// Number of the game, from 0, in the order of the input; bad games have numbers too.
    pub game: u32,
    /// Result from White's side: 1, 0 or −1.
    pub result: i8,
    /// The engine's score for this position, in centipawns from the side to move; mates as ±(32000 − plies).
    pub score: Option<i16>,
    /// The depth that the score was searched to.
    pub depth: Option<u8>,
    /// The move that was played.
    pub played: PackedMove,
    /// Bits of [`flags`].
    pub flags: u16,
    /// Plies before the next capture: 0 if the move played is one, [`FAR`] if none comes or it is further off.
    pub to_capture: u8,
    /// Plies before the next move that gives check: 0 if the move played does, [`FAR`] if none comes.
    pub to_check: u8,
    /// Plies before the last move of the game: 0 if the move played is it, [`FAR`] if it is further off.
    pub to_end: u8,
    /// Where `label` resolved this position to; `None` before.
    pub leaf: Option<Leaf>,
    /// The results of all positions equal to this one, where this one stands for them.
    pub mean: Option<MeanResult>,
}

/// The results of positions that are equal, of which one was kept. Sum and number, not their quotient, so that
/// datasets merge to exactly what one run over all games gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeanResult {
    /// How many positions there were, at least 1.
    pub count: u32,
    /// The sum of their results from White's side.
    pub sum: i32,
}

/// The quiet position that a labelled position resolves to: the end of the principal variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    /// Side to move at the leaf.
    pub turn: Color,
    /// The labelling engine's static evaluation of the leaf, centipawns from the leaf's side to move; a mate
    /// where the line ends in one.
    pub score: i16,
}

impl Record {
    /// The result from White's side, −1 to 1: that of the game, or where this position stands for all equal to it
    /// the mean of theirs.
    #[inline]
    pub fn outcome(&self) -> f32 {
        match self.mean {
            Some(mean) => mean.sum as f32 / mean.count.max(1) as f32,
            None => f32::from(self.result),
        }
    }

    /// Plies since move 1 by the move number: that of the record of a game which starts at move 1.
    #[inline]
    pub fn game_ply(&self) -> u32 {
        2 * (u32::from(self.fullmove.max(1)) - 1) + u32::from(self.turn.is_black())
    }

    /// Whether all the given [`flags`] are set.
    #[inline]
    pub fn has(&self, bits: u16) -> bool {
        self.flags & bits == bits
    }

    /// The whole position, or `None` if the record does not hold a legal one.
    pub fn position(&self) -> Option<Chess> {
        self.board.unpack(self.turn, self.ep, u32::from(self.halfmove), u32::from(self.fullmove.max(1)))
    }

    /// The key of this position or of its mirror image, left and right exchanged, whichever of the two comes first
    /// in the order of their bytes; with castling rights its own.
    pub fn key_or_mirrored(&self) -> u128 {
        let Some(board) = self.board.mirrored() else { return self.key() };
        let ep = if self.ep == NO_EP { NO_EP } else { self.ep ^ 7 };
        if (board, ep) < (self.board, self.ep) { Record { board, ep, ..*self }.key() } else { self.key() }
    }

    /// A 128-bit key of what makes positions equal: board, side to move, castling and en passant.
    ///
    /// Two independent 64-bit mixes of the exact bytes: with 10^10 different positions the chance that any two
    /// share a key is below 10^-18.
    #[inline]
    pub fn key(&self) -> u128 {
        let word = |i: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&self.board.0[i..i + 8]);
            u64::from_le_bytes(bytes)
        };
        let state = u64::from(self.ep) << 1 | u64::from(self.turn.is_black());
        let words = [word(0), word(8), word(16), state];
        let (mut a, mut b) = (0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344u64);
        for w in words {
            a = fold(a ^ w, 0xa076_1d64_78bd_642f);
            b = fold(b ^ w.rotate_left(32), 0xe703_7ed1_a0b4_28db);
        }
        u128::from(patzer_chess::rng::mix(a, 0)) << 64 | u128::from(patzer_chess::rng::mix(b, 1))
    }
}

/// Multiplies to 128 bits and folds the halves together; bijective enough once finalised by [`patzer_chess::rng::mix`].
#[inline]
fn fold(x: u64, multiplier: u64) -> u64 {
    let product = u128::from(x) * u128::from(multiplier);
    (product as u64) ^ (product >> 64) as u64 ^ x.rotate_left(29)
}
