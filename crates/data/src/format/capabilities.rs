//! The properties of records that a format can carry, need or refuse.

use super::nibbles;
use crate::{Record, flags};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};

/// A set of record properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u16);

/// One property.
pub struct Capability {
    /// The set of this property alone.
    pub set: Capabilities,
    /// Name in warnings and documents.
    pub name: &'static str,
    pub doc: &'static str,
}

/// Every property except pieces and result, which all formats carry.
pub static CAPABILITIES: &[Capability] = &[
    Capability {
        set: Capabilities::TURN,
        name: "side to move",
        doc: "which colour moves, not only which pieces are its own",
    },
    Capability { set: Capabilities::CASTLING, name: "castling rights", doc: "those of standard chess" },
    Capability {
        set: Capabilities::CHESS960,
        name: "Chess960 castling rights",
        doc: "those of other rook and king squares",
    },
    Capability { set: Capabilities::EP, name: "en passant", doc: "the square, where the capture is legal" },
    Capability {
        set: Capabilities::HALFMOVE,
        name: "halfmove clock",
        doc: "plies since the last capture or pawn move",
    },
    Capability {
        set: Capabilities::FULLMOVE,
        name: "move number",
        doc: "the number of the move, as in a FEN",
    },
    Capability {
        set: Capabilities::PLY,
        name: "ply",
        doc: "plies since the first move of the record, where they do not follow from the move number",
    },
    Capability { set: Capabilities::GAME, name: "game", doc: "which positions are of the same game" },
    Capability { set: Capabilities::SCORE, name: "score", doc: "the engine's score" },
    Capability {
        set: Capabilities::NO_SCORE,
        name: "absence of a score",
        doc: "that a position has no score",
    },
    Capability { set: Capabilities::DEPTH, name: "depth", doc: "the depth of the score" },
    Capability { set: Capabilities::MOVE, name: "move played", doc: "the move, and what follows from it" },
    Capability {
        set: Capabilities::DISTANCES,
        name: "distances",
        doc: "plies to the next capture, check and the end of the game",
    },
    Capability { set: Capabilities::MARKS, name: "marks", doc: "moves from a book, games of Chess960" },
    Capability { set: Capabilities::LEAF, name: "leaf", doc: "the quiet position that `label` resolved to" },
    Capability { set: Capabilities::MEAN, name: "mean result", doc: "the results of all equal positions" },
];

impl Capabilities {
    pub const NONE: Capabilities = Capabilities(0);
    pub const TURN: Capabilities = Capabilities(1 << 0);
    pub const CASTLING: Capabilities = Capabilities(1 << 1);
    pub const CHESS960: Capabilities = Capabilities(1 << 2);
    pub const EP: Capabilities = Capabilities(1 << 3);
    pub const HALFMOVE: Capabilities = Capabilities(1 << 4);
    pub const FULLMOVE: Capabilities = Capabilities(1 << 5);
    pub const PLY: Capabilities = Capabilities(1 << 6);
    pub const GAME: Capabilities = Capabilities(1 << 7);
    pub const SCORE: Capabilities = Capabilities(1 << 8);
    pub const NO_SCORE: Capabilities = Capabilities(1 << 9);
    pub const DEPTH: Capabilities = Capabilities(1 << 10);
    pub const MOVE: Capabilities = Capabilities(1 << 11);
    pub const DISTANCES: Capabilities = Capabilities(1 << 12);
    /// Flags that follow neither from the position nor from the move.
    pub const MARKS: Capabilities = Capabilities(1 << 13);
    pub const LEAF: Capabilities = Capabilities(1 << 14);
    pub const MEAN: Capabilities = Capabilities(1 << 15);
    pub const ALL: Capabilities = Capabilities(u16::MAX);

    /// Union.
    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// Difference.
    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }

    /// Tests for a subset.
    pub const fn contains(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Iterates over the bit indices, below 16.
    pub fn bits(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(bit)
        })
    }

    /// Iterates over the names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        CAPABILITIES.iter().filter(move |row| self.contains(row.set)).map(|row| row.name)
    }

    /// Returns the properties of a record.
    pub fn of(record: &Record) -> Capabilities {
        let when = |holds: bool, set: Capabilities| if holds { set.0 } else { 0 };
        let moved = record.played != PackedMove::NONE;
        Capabilities(
            when(record.turn.is_black(), Capabilities::TURN)
                | castling(&record.board).0
                | when(record.ep != NO_EP, Capabilities::EP)
                | when(record.halfmove != 0, Capabilities::HALFMOVE)
                | when(record.fullmove > 1, Capabilities::FULLMOVE)
                | when(u32::from(record.ply) != record.game_ply(), Capabilities::PLY)
                | Capabilities::GAME.0
                | when(record.score.is_some(), Capabilities::SCORE)
                | when(record.score.is_none(), Capabilities::NO_SCORE)
                | when(record.depth.is_some(), Capabilities::DEPTH)
                | when(moved, Capabilities::MOVE)
                | when(moved, Capabilities::DISTANCES)
                | when(record.flags & (flags::BOOK | flags::CHESS960) != 0, Capabilities::MARKS)
                | when(record.leaf.is_some(), Capabilities::LEAF)
                | when(record.mean.is_some(), Capabilities::MEAN),
        )
    }
}

/// Returns the kind of a board's castling rights: none, standard or Chess960.
pub fn castling(board: &PackedBoard) -> Capabilities {
    let rooks = nibbles::castling_rooks(board);
    if rooks == 0 {
        return Capabilities::NONE;
    }
    const CORNERS: u64 = 0x8100_0000_0000_0081;
    let home = |rank: u64, king: u8, e: u32| rooks & rank == 0 || nibbles::squares(board, king) >> e & 1 == 1;
    let standard = rooks & !CORNERS == 0
        && home(0xff, nibbles::WHITE_KING, 4)
        && home(0xff << 56, nibbles::BLACK_KING, 60);
    if standard { Capabilities::CASTLING } else { Capabilities::CHESS960 }
}
