//! What can be known of a position, one name each.
//!
//! In: a record. Out: which facts it holds. The registry says of each format which facts it carries, so that what a
//! conversion loses is computed, and told, in one place.

use super::nibbles;
use crate::{Record, flags};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};

/// A set of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Facts(u16);

/// A fact with its name, as warnings and documents call it.
pub struct Fact {
    /// The set that holds this fact alone.
    pub fact: Facts,
    /// What warnings call it.
    pub name: &'static str,
    /// What it means, for the documents.
    pub doc: &'static str,
}

/// Every fact beside the pieces and the result, which all formats carry.
pub static FACTS: &[Fact] = &[
    Fact {
        fact: Facts::TURN,
        name: "side to move",
        doc: "which colour moves, not only which pieces are its own",
    },
    Fact { fact: Facts::CASTLING, name: "castling rights", doc: "those of standard chess" },
    Fact {
        fact: Facts::CHESS960,
        name: "Chess960 castling rights",
        doc: "those of other rook and king squares",
    },
    Fact { fact: Facts::EP, name: "en passant", doc: "the square, where the capture is legal" },
    Fact { fact: Facts::HALFMOVE, name: "halfmove clock", doc: "plies since the last capture or pawn move" },
    Fact { fact: Facts::FULLMOVE, name: "move number", doc: "the number of the move, as in a FEN" },
    Fact {
        fact: Facts::PLY,
        name: "ply",
        doc: "plies since the first move of the record, where they do not follow from the move number",
    },
    Fact { fact: Facts::GAME, name: "game", doc: "which positions are of the same game" },
    Fact { fact: Facts::SCORE, name: "score", doc: "the engine's score" },
    Fact { fact: Facts::NO_SCORE, name: "absence of a score", doc: "that a position has no score" },
    Fact { fact: Facts::DEPTH, name: "depth", doc: "the depth of the score" },
    Fact { fact: Facts::MOVE, name: "move played", doc: "the move, and what follows from it" },
    Fact {
        fact: Facts::DISTANCES,
        name: "distances",
        doc: "plies to the next capture, check and the end of the game",
    },
    Fact { fact: Facts::MARKS, name: "marks", doc: "moves from a book, games of Chess960" },
    Fact { fact: Facts::LEAF, name: "leaf", doc: "the quiet position that `label` resolved to" },
    Fact { fact: Facts::MEAN, name: "mean result", doc: "the results of all equal positions" },
];

impl Facts {
    /// No fact.
    pub const NONE: Facts = Facts(0);
    /// Which colour is to move.
    pub const TURN: Facts = Facts(1 << 0);
    /// Castling rights of standard chess.
    pub const CASTLING: Facts = Facts(1 << 1);
    /// Castling rights that only Chess960 has.
    pub const CHESS960: Facts = Facts(1 << 2);
    /// The en passant square.
    pub const EP: Facts = Facts(1 << 3);
    /// Plies since the last capture or pawn move.
    pub const HALFMOVE: Facts = Facts(1 << 4);
    /// The move number.
    pub const FULLMOVE: Facts = Facts(1 << 5);
    /// Plies since the start of the movetext.
    pub const PLY: Facts = Facts(1 << 6);
    /// Which positions are of the same game.
    pub const GAME: Facts = Facts(1 << 7);
    /// A score.
    pub const SCORE: Facts = Facts(1 << 8);
    /// That there is no score.
    pub const NO_SCORE: Facts = Facts(1 << 9);
    /// The depth of the score.
    pub const DEPTH: Facts = Facts(1 << 10);
    /// The move played.
    pub const MOVE: Facts = Facts(1 << 11);
    /// Distances to the next capture, check and end of the game.
    pub const DISTANCES: Facts = Facts(1 << 12);
    /// Flags that follow neither from the position nor from the move.
    pub const MARKS: Facts = Facts(1 << 13);
    /// The leaf of a labelled position.
    pub const LEAF: Facts = Facts(1 << 14);
    /// The results of all positions for which one stands.
    pub const MEAN: Facts = Facts(1 << 15);
    /// Every fact.
    pub const ALL: Facts = Facts(u16::MAX);

    /// The facts of both.
    pub const fn and(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    /// These facts without those.
    pub const fn without(self, other: Facts) -> Facts {
        Facts(self.0 & !other.0)
    }

    /// Whether all of those are among these.
    pub const fn contains(self, other: Facts) -> bool {
        self.0 & other.0 == other.0
    }

    /// The numbers of the facts, below 16.
    pub fn bits(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(bit)
        })
    }

    /// The facts by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        FACTS.iter().filter(move |row| self.contains(row.fact)).map(|row| row.name)
    }

    /// What a record holds that a format could lose.
    pub fn of(record: &Record) -> Facts {
        let when = |holds: bool, fact: Facts| if holds { fact.0 } else { 0 };
        let moved = record.played != PackedMove::NONE;
        Facts(
            when(record.turn.is_black(), Facts::TURN)
                | castling(&record.board).0
                | when(record.ep != NO_EP, Facts::EP)
                | when(record.halfmove != 0, Facts::HALFMOVE)
                | when(record.fullmove > 1, Facts::FULLMOVE)
                | when(u32::from(record.ply) != record.game_ply(), Facts::PLY)
                | Facts::GAME.0
                | when(record.score.is_some(), Facts::SCORE)
                | when(record.score.is_none(), Facts::NO_SCORE)
                | when(record.depth.is_some(), Facts::DEPTH)
                | when(moved, Facts::MOVE)
                | when(moved, Facts::DISTANCES)
                | when(record.flags & (flags::BOOK | flags::CHESS960) != 0, Facts::MARKS)
                | when(record.leaf.is_some(), Facts::LEAF)
                | when(record.mean.is_some(), Facts::MEAN),
        )
    }
}

/// Whether a board has castling rights, and whether standard chess has them too.
pub fn castling(board: &PackedBoard) -> Facts {
    let rooks = nibbles::castling_rooks(board);
    if rooks == 0 {
        return Facts::NONE;
    }
    const CORNERS: u64 = 0x8100_0000_0000_0081;
    let home = |rank: u64, king: u8, e: u32| rooks & rank == 0 || nibbles::squares(board, king) >> e & 1 == 1;
    let standard = rooks & !CORNERS == 0
        && home(0xff, nibbles::WHITE_KING, 4)
        && home(0xff << 56, nibbles::BLACK_KING, 60);
    if standard { Facts::CASTLING } else { Facts::CHESS960 }
}
