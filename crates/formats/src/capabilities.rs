//! The properties of records that a format can carry, need or refuse.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::nibbles;
use crate::{Record, flags};
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Capabilities(u32);

pub struct Capability {
    pub set: Capabilities,
    pub name: &'static str,
    pub doc: &'static str,
}

macro_rules! capabilities {
    ($($set:ident: $name:literal, $doc:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Bit { $($set),* }

        impl Capabilities {
            $(#[doc = $doc] pub const $set: Capabilities = Capabilities(1 << Bit::$set as u32);)*
        }

        /// Every property except pieces and result, which all formats carry.
        pub static CAPABILITIES: &[Capability] =
            &[$(Capability { set: Capabilities::$set, name: $name, doc: $doc }),*];
    };
}

capabilities! {
    TURN: "side to move", "which colour moves, not only which pieces are its own";
    CASTLING: "castling rights", "those of standard chess";
    CHESS960: "Chess960 castling rights", "those of other rook and king squares";
    EP: "en passant", "the square, where the capture is legal";
    HALFMOVE: "halfmove clock", "plies since the last capture or pawn move";
    FULLMOVE: "move number", "the number of the move, as in a FEN";
    PLY: "ply", "plies since the first move of the record, where they do not follow from the move number";
    GAME: "game", "which positions are of the same game";
    SCORE: "score", "the engine's score";
    NO_SCORE: "absence of a score", "that a position has no score";
    DEPTH: "depth", "the depth of the score";
    MOVE: "move played", "the move, and what follows from it";
    DISTANCES: "distances", "plies to the next capture, check and the end of the game";
    MARKS: "marks", "moves from a book, games of Chess960";
    LEAF: "leaf", "the quiet position that `label` resolved to";
    MEAN: "mean result", "the results of all equal positions";
    TEACHER: "teacher's answer", "the best move, and wins and draws in a thousand, of an engine that labelled";
    VISITS: "visits", "how often a search by playouts visited each move, which lies beside the record";
}

impl Capabilities {
    pub const NONE: Capabilities = Capabilities(0);
    pub const ALL: Capabilities = Capabilities(u32::MAX);

    /// Facts of a position's game, which no later step can add.
    pub const OF_SOURCE: Capabilities = Capabilities::TURN
        .and(Capabilities::HALFMOVE)
        .and(Capabilities::FULLMOVE)
        .and(Capabilities::PLY)
        .and(Capabilities::GAME)
        .and(Capabilities::MOVE)
        .and(Capabilities::DISTANCES)
        .and(Capabilities::MARKS);

    /// The counters of a FEN.
    pub const CLOCKS: Capabilities = Capabilities::HALFMOVE.and(Capabilities::FULLMOVE);

    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }

    pub const fn of_both(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }

    pub fn is_none(&self) -> bool {
        *self == Capabilities::NONE
    }

    pub const fn contains(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Iterates over the bit indices, below 32.
    pub fn bits(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(bit)
        })
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        CAPABILITIES.iter().filter(move |row| self.contains(row.set)).map(|row| row.name)
    }

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
                | when(record.mean.is_some(), Capabilities::MEAN)
                | when(record.best != PackedMove::NONE || record.wdl.is_some(), Capabilities::TEACHER),
        )
    }
}

/// Written as the list of names.
impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_seq(self.names())
    }
}

/// Names of a later version are ignored.
impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Capabilities, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let known = CAPABILITIES.iter().filter(|row| names.iter().any(|name| name == row.name));
        Ok(known.fold(Capabilities::NONE, |all, row| all.and(row.set)))
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
