//! The table of dataset columns.
//!
//! A column is a field of [`Record`] and one row of [`COLUMNS`]: its name, its type in the file, and how it is written
//! from and read into records.

use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescriptor;
use shakmaty::Color;

use crate::native::kind::ColumnType;
use crate::native::page::{Builder, Cursor};
use crate::native::readable::ReadableColumns;
use crate::{Leaf, MeanResult, Record, Wdl};
use patzer_chess::{PackedBoard, PackedMove};

/// One column. `write` and `read` take slices of records, so that a call costs little per row.
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnType,
    pub optional: bool,
    part: Part,
    pub write: Write,
    pub read: Read,
}

impl Column {
    /// Tests whether a column of a file is as the writer makes it.
    pub fn is_own(&self, stored: &ColumnDescriptor) -> bool {
        let form = match self.kind {
            Board => {
                stored.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY && stored.type_length() == 24
            }
            Bool => stored.physical_type() == PhysicalType::BOOLEAN,
            Int(_) => stored.physical_type() == PhysicalType::INT32,
        };
        form && (stored.max_def_level() == 1) == self.optional
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Resolved,
    Means,
    Taught,
}

use ColumnType::{Board, Bool, Int};
use Part::{All, Means, Resolved, Taught};

macro_rules! int {
    ($name:literal, $logical:literal, $field:ident: $type:ty) => {
        required(
            $name,
            Int($logical),
            |to, s| to.ints(s, |s| s.$field as i32),
            |from, s| from.ints(s, |s, v| s.$field = v as $type),
        )
    };
}

/// Every column in file order. `leaf_stm` and `leaf_score` complete the leaf that `leaf` has started, `mean_sum` the
/// mean of `mean_count`, `wdl_draw` the shares of `wdl_win`.
pub static COLUMNS: [Column; 23] = [
    required(
        "board",
        Board,
        |to, s| to.bytes(s, |s| &s.board.0),
        |from, s| from.bytes(s, |s, v| s.board = PackedBoard(v)),
    ),
    required(
        "stm",
        Bool,
        |to, s| to.bools(s, |s| s.turn.is_black()),
        |from, s| from.bools(s, |s, v| s.turn = Color::from_black(v)),
    ),
    int!("ep", "UINT_8", ep: u8),
    int!("halfmove", "UINT_8", halfmove: u8),
    int!("fullmove", "UINT_16", fullmove: u16),
    int!("ply", "UINT_16", ply: u16),
    int!("game", "UINT_32", game: u32),
    int!("result", "INT_8", result: i8),
    optional(
        All,
        "score",
        Int("INT_16"),
        |to, s| to.some_ints(s, |s| s.score.map(i32::from)),
        |from, s| from.ints(s, |s, v| s.score = Some(v as i16)),
    ),
    optional(
        All,
        "depth",
        Int("UINT_8"),
        |to, s| to.some_ints(s, |s| s.depth.map(i32::from)),
        |from, s| from.ints(s, |s, v| s.depth = Some(v as u8)),
    ),
    required(
        "move",
        Int("UINT_16"),
        |to, s| to.ints(s, |s| s.played.0.into()),
        |from, s| from.ints(s, |s, v| s.played = PackedMove(v as u16)),
    ),
    int!("flags", "UINT_16", flags: u16),
    int!("to_capture", "UINT_8", to_capture: u8),
    int!("to_check", "UINT_8", to_check: u8),
    int!("to_end", "UINT_8", to_end: u8),
    optional(
        Resolved,
        "leaf",
        Board,
        |to, s| to.some_bytes(s, leaf_board),
        |from, s| {
            from.bytes(s, |s, v| s.leaf = Some(Leaf { board: PackedBoard(v), turn: Color::White, score: 0 }))
        },
    ),
    optional(
        Resolved,
        "leaf_stm",
        Bool,
        |to, s| to.some_bools(s, |s| Some(s.leaf?.turn.is_black())),
        |from, s| from.bools(s, |s, v| s.leaf.iter_mut().for_each(|leaf| leaf.turn = Color::from_black(v))),
    ),
    optional(
        Resolved,
        "leaf_score",
        Int("INT_16"),
        |to, s| to.some_ints(s, |s| Some(s.leaf?.score.into())),
        |from, s| from.ints(s, |s, v| s.leaf.iter_mut().for_each(|leaf| leaf.score = v as i16)),
    ),
    optional(
        Means,
        "mean_count",
        Int("UINT_32"),
        |to, s| to.some_ints(s, |s| Some(s.mean?.count as i32)),
        |from, s| from.ints(s, |s, v| s.mean = Some(MeanResult { count: v as u32, sum: 0 })),
    ),
    optional(
        Means,
        "mean_sum",
        Int("INT_32"),
        |to, s| to.some_ints(s, |s| Some(s.mean?.sum)),
        |from, s| from.ints(s, |s, v| s.mean.iter_mut().for_each(|mean| mean.sum = v)),
    ),
    optional(
        Taught,
        "best",
        Int("UINT_16"),
        |to, s| to.some_ints(s, |s| (s.best != PackedMove::NONE).then_some(s.best.0.into())),
        |from, s| from.ints(s, |s, v| s.best = PackedMove(v as u16)),
    ),
    optional(
        Taught,
        "wdl_win",
        Int("UINT_16"),
        |to, s| to.some_ints(s, |s| Some(s.wdl?.win.into())),
        |from, s| from.ints(s, |s, v| s.wdl = Some(Wdl { win: v as u16, draw: 0 })),
    ),
    optional(
        Taught,
        "wdl_draw",
        Int("UINT_16"),
        |to, s| to.some_ints(s, |s| Some(s.wdl?.draw.into())),
        |from, s| from.ints(s, |s, v| s.wdl.iter_mut().for_each(|wdl| wdl.draw = v as u16)),
    ),
];

fn leaf_board(record: &Record) -> Option<&[u8; 24]> {
    record.leaf.as_ref().map(|leaf| &leaf.board.0)
}

type Write = fn(&mut Builder, &[Record]);
type Read = fn(&mut Cursor, &mut [Record]) -> Result<()>;

const fn required(name: &'static str, kind: ColumnType, write: Write, read: Read) -> Column {
    Column { name, kind, optional: false, part: All, write, read }
}

const fn optional(part: Part, name: &'static str, kind: ColumnType, write: Write, read: Read) -> Column {
    Column { optional: true, part, ..required(name, kind, write, read) }
}

/// The optional parts of a file's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    pub resolved: bool,
    pub means: bool,
    pub taught: bool,
}

impl Layout {
    /// The optional parts of which every column is there.
    pub fn of(has: impl Fn(&str) -> bool) -> Layout {
        let all = |part| COLUMNS.iter().filter(|column| column.part == part).all(|column| has(column.name));
        Layout { resolved: all(Resolved), means: all(Means), taught: all(Taught) }
    }

    pub fn columns(self) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(move |column| match column.part {
            All => true,
            Resolved => self.resolved,
            Means => self.means,
            Taught => self.taught,
        })
    }

    /// The file's schema in Parquet's notation.
    pub fn schema(self, readable: ReadableColumns) -> String {
        let lines = self.columns().map(|column| {
            let repetition = if column.optional { "OPTIONAL" } else { "REQUIRED" };
            match (column.kind, column.name) {
                (Board, name) => format!("{repetition} FIXED_LEN_BYTE_ARRAY(24) {name};\n"),
                (Bool, name) => format!("{repetition} BOOLEAN {name};\n"),
                (Int(logical), name) => format!("{repetition} INT32 {name} ({logical});\n"),
            }
        });
        let texts = readable.iter().map(|column| format!("REQUIRED BYTE_ARRAY {} (UTF8);\n", column.name));
        format!("message positions {{\n{}}}", lines.chain(texts).collect::<String>())
    }
}

pub const EMPTY: Record = Record {
    board: PackedBoard([0; 24]),
    turn: Color::White,
    ep: 0,
    halfmove: 0,
    fullmove: 0,
    ply: 0,
    game: 0,
    result: 0,
    score: None,
    depth: None,
    played: PackedMove::NONE,
    flags: 0,
    to_capture: 0,
    to_check: 0,
    to_end: 0,
    leaf: None,
    mean: None,
    best: PackedMove::NONE,
    wdl: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dedupe_rule::{Dedupe, Keep};
    use crate::native::projection::Projection;
    use crate::{Dataset, Metadata, Writer};

    fn filled(count: usize) -> Vec<Record> {
        let board = PackedBoard::pack(&shakmaty::Chess::default());
        let record = |n: usize| Record {
            board,
            turn: Color::Black,
            ep: 1 + n as u8 % 60,
            halfmove: 2 + n as u8 % 90,
            fullmove: 300 + n as u16,
            ply: 600 + n as u16,
            game: u32::MAX - n as u32,
            result: -1,
            score: (!n.is_multiple_of(3)).then_some(-500 - n as i16),
            depth: (!n.is_multiple_of(5)).then_some(9),
            played: PackedMove(1 + n as u16),
            flags: 1 << (n % 16),
            to_capture: 3,
            to_check: 4,
            to_end: 5,
            leaf: (!n.is_multiple_of(7)).then_some(Leaf { board, turn: Color::Black, score: -31_999 }),
            mean: Some(MeanResult { count: 2 + n as u32, sum: -1 - n as i32 }),
            best: PackedMove(if n.is_multiple_of(11) { 0 } else { 7 + n as u16 }),
            wdl: (!n.is_multiple_of(13)).then_some(Wdl { win: 10 + n as u16 % 900, draw: 90 }),
        };
        (0..count).map(record).collect()
    }

    fn page(column: &Column, records: &[Record]) -> Vec<u8> {
        let (mut builder, mut page) = (Builder::default(), Vec::new());
        (column.write)(&mut builder, records);
        builder.finish(&mut page);
        page
    }

    #[test]
    fn every_column_survives_and_an_absent_one_reads_as_its_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let records = filled(1000);
        // Where `leaf`, `mean_count` and `wdl_win` are read, the rest of the fact has default values.
        let default = |s: &Record| Record {
            leaf: s.leaf.map(|leaf| Leaf { turn: Color::White, score: 0, ..leaf }),
            mean: s.mean.map(|mean| MeanResult { sum: 0, ..mean }),
            wdl: s.wdl.map(|wdl| Wdl { draw: 0, ..wdl }),
            ..EMPTY
        };
        let (defaults, empty) = (records.iter().map(default).collect::<Vec<_>>(), vec![EMPTY; 1000]);
        let mut metadata = Metadata { resolved: Some("qsearch".into()), ..Metadata::default() };
        metadata.dedupe = Some(Dedupe { keep: Keep::Mean, mirror: false });
        metadata.teacher = Some("an engine".into());
        let write = |metadata| {
            let mut writer = Writer::create(&path, metadata).unwrap();
            writer.write(&records).unwrap();
            writer.finish().unwrap();
        };
        write(metadata);
        let dataset = Dataset::open(&path).unwrap();
        assert_eq!(dataset.read_group(0).unwrap(), records);
        for column in &COLUMNS {
            let absent =
                if matches!(column.name, "leaf" | "mean_count" | "wdl_win") { &empty } else { &defaults };
            assert_ne!(page(column, &records), page(column, absent), "{}", column.name);
            let read = dataset.read_columns(0, Projection::all_but(column)).unwrap();
            assert_eq!(page(column, &read), page(column, absent), "{}", column.name);
        }
        // A file without the optional parts.
        write(Metadata::default());
        let Record { leaf, mean, best, wdl, .. } = EMPTY;
        let plain: Vec<Record> = records.iter().map(|s| Record { leaf, mean, best, wdl, ..*s }).collect();
        assert_eq!(Dataset::open(&path).unwrap().read_group(0).unwrap(), plain);
    }
}
