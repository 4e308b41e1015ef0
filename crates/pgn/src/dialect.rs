//! The registry of comment dialects: how programs write scores, for which side and in which unit.
//!
//! `annotation` recognises the row of a single comment; `survey` decides by the whole file what the rows
//! leave open. To add a dialect: a row here, its arm in `annotation.rs`, a file of games in its test.

use serde::{Deserialize, Serialize};

/// Side of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The player of the commented move.
    Mover,
    White,
}

patzer_io::named! {
    /// Unit of a score in a comment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Unit {
        Pawn: "pawn";
        Cp: "cp", "Centipawns";
    }
}

/// A fact of a dialect: what its programs always do, or what is assumed unless the file shows otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declared<T> {
    Fixed(T),
    Open(T),
}

impl<T: Copy> Declared<T> {
    pub fn value(self) -> T {
        match self {
            Declared::Fixed(value) | Declared::Open(value) => value,
        }
    }

    pub fn is_open(self) -> bool {
        matches!(self, Declared::Open(_))
    }
}

/// The position that a score belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The position from which the commented move was played.
    Before,
    /// The position after the commented move.
    After,
    /// The position after the move if the scores are White's (an analysis), else the one before it (an engine's
    /// search).
    AfterIfWhite,
}

/// A way to write a score into a comment.
#[derive(Debug)]
pub struct Dialect {
    pub name: &'static str,
    /// Programs that write it.
    pub programs: &'static str,
    pub sample: &'static str,
    pub side: Declared<Side>,
    pub unit: Declared<Unit>,
    pub(crate) place: Place,
    /// `M5` counts full moves, not plies. `#5` always counts moves.
    pub(crate) mates_in_moves: bool,
}

/// Index of a dialect in [`DIALECTS`].
pub type DialectId = usize;

pub const CUTECHESS: DialectId = 0;
pub const COMPACT: DialectId = 1;
pub const XBOARD: DialectId = 2;
pub const CHESSBASE: DialectId = 3;
pub const ARENA: DialectId = 4;
pub const COMMA: DialectId = 5;
pub const OPENBENCH: DialectId = 6;
pub const CCC: DialectId = 7;
pub const EVAL: DialectId = 8;
pub const EVAL_CP: DialectId = 9;
pub const TCEC: DialectId = 10;
pub const EV: DialectId = 11;
pub const SCID: DialectId = 12;
pub const BARE: DialectId = 13;

/// All dialects, by [`DialectId`].
pub const DIALECTS: [Dialect; 14] = {
    use Declared::{Fixed, Open};
    use Place::{After, AfterIfWhite, Before};
    use Side::{Mover, White};
    use Unit::{Cp, Pawn};
    const fn row(
        name: &'static str,
        programs: &'static str,
        sample: &'static str,
        side: Declared<Side>,
        unit: Declared<Unit>,
        place: Place,
    ) -> Dialect {
        Dialect { name, programs, sample, side, unit, place, mates_in_moves: false }
    }
    const fn moves(dialect: Dialect) -> Dialect {
        Dialect { mates_in_moves: true, ..dialect }
    }
    [
        // Source: cutechess' `evalString` (chessgame.cpp), fastchess' PGN writer. Mates count plies: `+M1` mates with
        // the next move, `-M2` is mated by the next but one (fastchess' tests: mate 100 is `+M199`, mate −1 is `-M2`).
        row(
            "cutechess",
            "cutechess, fastchess, OpenBench",
            "+0.35/12 0.50s",
            Fixed(Mover),
            Fixed(Pawn),
            Before,
        ),
        // OpenBench's compact PGNs, c-chess-cli without times.
        row("compact", "OpenBench, c-chess-cli", "+0.35/12", Open(Mover), Open(Pawn), Before),
        // A plus before positive scores; whole seconds, or tenths.
        row("xboard", "XBoard, WinBoard, Banksia", "+0.35/12 5", Open(Mover), Open(Pawn), Before),
        // No plus; whole seconds; the expected move comes last. Source: the first TCEC matches, played in the Fritz
        // GUI.
        row("chessbase", "ChessBase, Fritz", "0.18/23 239 (Nd7)", Open(White), Open(Pawn), Before),
        // The expected moves come first.
        row("arena", "Arena", "(e5) +0.35/12 5", Open(Mover), Open(Pawn), Before),
        row("comma", "GUIs that write decimal commas (CEGT)", "+0,35/12 5", Open(Mover), Open(Pawn), Before),
        // Depth/selective depth, milliseconds, nodes. Source: OpenBench's PGNs before 2024.
        row(
            "openbench",
            "OpenBench before 2024",
            "+0.57 17/28 583 363004",
            Fixed(Mover),
            Fixed(Pawn),
            Before,
        ),
        moves(row("ccc", "chess.com's computer championship", "+0.35 | 12", Open(Mover), Open(Pawn), Before)),
        // Mates count full moves. PyChess puts a slash before the depth.
        moves(row(
            "eval",
            "Lichess, python-chess, PyChess",
            "[%eval 0.35,12]",
            Fixed(White),
            Fixed(Pawn),
            After,
        )),
        // Whole numbers. Source: PalView's "enhanced PGN" (2001), which ChessBase follows.
        moves(row("eval-cp", "ChessBase, Chess Assistant", "[%eval 35,12]", Fixed(White), Fixed(Cp), After)),
        // In TCEC's files the winner's mates count M5, M3, M1: plies.
        row("tcec", "TCEC since season 5", "d=24, wv=0.35", Fixed(White), Fixed(Pawn), Before),
        // White's in each of the 19 files of seasons 1 to 4; season 5 writes both, and there `ev` is the mover's.
        row("ev", "TCEC seasons 1 to 4, Banksia", "ev=0.35, d=24", Open(White), Open(Pawn), Before),
        // Source: Scid's annotation in tcl/tools/analysis.tcl: depth, colon, White's score.
        moves(row("scid", "Scid, Scid vs. PC", "12:+0.35", Fixed(White), Fixed(Pawn), After)),
        // python-chess-annotator, chess-artist, ChessBase.
        moves(row("bare", "annotators", "+0.35", Open(White), Open(Pawn), AfterIfWhite)),
    ]
};

/// Reading of the comments of a dialect in one file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The dialect that its comments count under: a file's dialect may claim comments that look like another's.
    pub dialect: DialectId,
    pub side: Side,
    pub(crate) after: bool,
    /// True if the comments are read at all.
    pub read: bool,
    /// Centipawns for a hundredth of the number in the comment: 1 for pawns, 0.01 for centipawns.
    pub factor: f32,
    /// `M5` counts full moves, though the dialect's programs count plies.
    pub(crate) mates_in_moves: bool,
}

impl Reading {
    pub fn of(dialect: DialectId, side: Side, unit: Unit) -> Reading {
        let after = match DIALECTS[dialect].place {
            Place::Before => false,
            Place::After => true,
            Place::AfterIfWhite => side == Side::White,
        };
        let factor = if unit == Unit::Pawn { 1.0 } else { 0.01 };
        Reading { dialect, side, after, read: true, factor, mates_in_moves: false }
    }
}

/// Reading of the comments of one file, by [`DialectId`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conventions(pub [Reading; DIALECTS.len()]);

impl Default for Conventions {
    /// Each dialect as its programs write it, without a look at the file.
    fn default() -> Conventions {
        Conventions(std::array::from_fn(|id| {
            Reading::of(id, DIALECTS[id].side.value(), DIALECTS[id].unit.value())
        }))
    }
}

impl Conventions {
    /// Reads one dialect alone, for White and for the position before the move: what a survey compares with results.
    pub(crate) fn only(
        dialect: DialectId,
        unit: Unit,
        counted_as: impl Fn(DialectId) -> DialectId,
    ) -> Conventions {
        let reading = Reading { after: false, ..Reading::of(dialect, Side::White, unit) };
        Conventions(std::array::from_fn(|id| Reading { read: counted_as(id) == dialect, ..reading }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Annotation;

    #[test]
    fn the_documents_table_is_the_registrys() {
        let page = include_str!("../../../docs/scores.md");
        for dialect in &DIALECTS {
            let side = if dialect.side.value() == Side::White { "White" } else { "mover" };
            let unit = if dialect.unit.value() == Unit::Pawn { "pawns" } else { "centipawns" };
            let open = |is_open: bool| if is_open { " (open)" } else { "" };
            let row = format!(
                "| `{}` | {} | `{}` | {side}{} | {unit}{} |",
                dialect.name,
                dialect.programs,
                dialect.sample.replace('|', "\\|"),
                open(dialect.side.is_open()),
                open(dialect.unit.is_open())
            );
            assert!(page.contains(&row), "docs/scores.md lacks {row}");
        }
    }

    #[test]
    fn the_sample_of_each_dialect_is_read_as_that_dialect() {
        for (id, dialect) in DIALECTS.iter().enumerate() {
            let read = Annotation::parse(dialect.sample.as_bytes()).score.map(|score| score.dialect);
            assert_eq!(read, Some(id), "{}", dialect.name);
            assert!(DIALECTS[..id].iter().all(|other| other.name != dialect.name));
        }
    }
}
