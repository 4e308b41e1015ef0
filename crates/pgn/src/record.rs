//! The dataset's record: one position of a game with the move played from it.
//!
//! Distances to the next capture, check and end of the game are stored, so that a filter gives the same answer at
//! `extract` and at `tune`. A distance counts the plies before the event's move: 0 for the move played.
//!
//! A game of n plies has n records, one before each move; the final position has none.

use shakmaty::{Chess, Color};

use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};

/// Distance "255 plies or more, or never".
pub const FAR: u8 = 255;

/// Bits about a position and the move played. The values are part of the dataset format.
pub mod flags {
    pub const CAPTURE: u16 = 1 << 0;
    pub const PROMOTION: u16 = 1 << 1;
    pub const IN_CHECK: u16 = 1 << 2;
    pub const GIVES_CHECK: u16 = 1 << 3;
    pub const MATE_END: u16 = 1 << 4;
    pub const BOOK: u16 = 1 << 5;
    pub const MATE_SCORE: u16 = 1 << 6;
    pub const CHESS960: u16 = 1 << 7;
    /// Score 0 in place of none, see [`Placeholders`](super::Placeholders).
    pub const PLACEHOLDER: u16 = 1 << 8;
}

/// One position of one game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    pub turn: Color,
    /// En passant square if the capture is legal, else [`patzer_chess::packed::NO_EP`].
    pub ep: u8,
    /// Plies since the last capture or pawn move, at most 255.
    pub halfmove: u8,
    /// Move number as in a FEN.
    pub fullmove: u16,
    /// Plies played since the start of the game's movetext.
    pub ply: u16,
    /// Index of the game in the input, broken games included.
    pub game: u32,
    /// Result from White's side: 1, 0 or −1.
    pub result: i8,
    /// Engine score, centipawns from the side to move; mates as ±(32000 − plies).
    pub score: Option<i16>,
    pub depth: Option<u8>,
    pub played: PackedMove,
    /// Bits of [`flags`].
    pub flags: u16,
    /// Plies before the next capture: 0 if the move played captures.
    pub to_capture: u8,
    /// Plies before the next check: 0 if the move played gives check.
    pub to_check: u8,
    /// Plies before the last move of the game: 0 if the move played is the last.
    pub to_end: u8,
    pub leaf: Option<Leaf>,
    /// Results of all equal positions, if `--duplicates mean` merged them into this one.
    pub mean: Option<MeanResult>,
    /// Best move of the teacher that gave the score; else [`PackedMove::NONE`].
    pub best: PackedMove,
    /// The teacher's expected shares, if it shows them.
    pub wdl: Option<Wdl>,
}

/// Marks scores of 0 written in place of none: those after a score beyond 100 centipawns in a decided game. Source:
/// nnue-pytorch, `cpp/training_data_loader.cpp`, which leaves them out of Stockfish's binpacks.
#[derive(Debug, Default)]
pub struct Placeholders {
    /// Ply and score of the record before, to which a later ply belongs.
    ply: Option<u32>,
    score: i16,
}

impl Placeholders {
    /// Marks the records of a game, or of its next part.
    pub fn mark(&mut self, game: &mut [Record]) {
        for record in game {
            let ply = Some(record.game_ply());
            let goes_on = ply > self.ply && self.ply.is_some();
            self.ply = ply;
            let Some(score) = record.score else { continue };
            if score == 0 && goes_on && record.result != 0 && self.score.unsigned_abs() > 100 {
                record.flags |= flags::PLACEHOLDER;
            } else {
                self.score = score;
            }
        }
    }
}

/// An engine's expected shares of wins and draws for the side to move, per mille; the rest are losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wdl {
    pub win: u16,
    pub draw: u16,
}

impl Wdl {
    pub fn loss(self) -> u16 {
        1000u16.saturating_sub(self.win).saturating_sub(self.draw)
    }
}

/// Results of equal positions merged into one. Sum and count instead of the mean, so that merging datasets gives
/// exactly the result of one run over all games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeanResult {
    pub count: u32,
    /// Sum of their results from White's side.
    pub sum: i32,
}

/// The end of a labelled position's principal variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Pieces and castling rights.
    pub board: PackedBoard,
    pub turn: Color,
    /// Static evaluation, centipawns from the leaf's side to move; a mate score if the line ends in mate.
    pub score: i16,
}

impl Record {
    /// Returns the game's result, or the mean result of merged positions: −1 to 1 from White's side.
    #[inline]
    pub fn outcome(&self) -> f32 {
        match self.mean {
            Some(mean) => mean.sum as f32 / mean.count.max(1) as f32,
            None => f32::from(self.result),
        }
    }

    #[inline]
    pub fn game_ply(&self) -> u32 {
        2 * (u32::from(self.fullmove.max(1)) - 1) + u32::from(self.turn.is_black())
    }

    #[inline]
    pub fn has(&self, bits: u16) -> bool {
        self.flags & bits == bits
    }

    pub fn position(&self) -> Option<Chess> {
        self.board.unpack(self.turn, self.ep, u32::from(self.halfmove), u32::from(self.fullmove.max(1)))
    }

    /// Returns one key for a position and its horizontal mirror image; with castling rights the position's own key.
    pub fn key_or_mirrored(&self) -> u128 {
        let Some(board) = self.board.mirrored() else { return self.key() };
        let ep = if self.ep == NO_EP { NO_EP } else { self.ep ^ 7 };
        if (board, ep) < (self.board, self.ep) { Record { board, ep, ..*self }.key() } else { self.key() }
    }

    /// Returns a 128-bit key of board, side to move, castling and en passant: two independent 64-bit mixes. With 10^10
    /// different positions the chance of any collision is below 10^-18.
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

/// Multiplies to 128 bits and folds the halves together; [`patzer_chess::rng::mix`] finalises the result.
#[inline]
fn fold(x: u64, multiplier: u64) -> u64 {
    let product = u128::from(x) * u128::from(multiplier);
    (product as u64) ^ (product >> 64) as u64 ^ x.rotate_left(29)
}
