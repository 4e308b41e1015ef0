//! The columns of a dataset.
//!
//! In and out: records on one side, the values of typed columns on the other. A column is one line of [`COLUMNS`],
//! of [`put`] and of [`take`], in the same place of each.

use shakmaty::Color;

use super::page::{Builder, Cursor};
use crate::{Leaf, MeanResult, Record};
use patzer_chess::{PackedBoard, PackedMove};

/// Which datasets have a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All.
    Base,
    /// Those whose positions are resolved.
    Leaf,
    /// Those in which one row stands for all equal positions, with the mean of their results.
    Mean,
}

/// Every column there is, in the order of the file: who has it, and its line of the schema.
const COLUMNS: [(Part, &str); 20] = [
    (Part::Base, "REQUIRED FIXED_LEN_BYTE_ARRAY(24) board"),
    (Part::Base, "REQUIRED BOOLEAN stm"),
    (Part::Base, "REQUIRED INT32 ep (UINT_8)"),
    (Part::Base, "REQUIRED INT32 halfmove (UINT_8)"),
    (Part::Base, "REQUIRED INT32 fullmove (UINT_16)"),
    (Part::Base, "REQUIRED INT32 ply (UINT_16)"),
    (Part::Base, "REQUIRED INT32 game (UINT_32)"),
    (Part::Base, "REQUIRED INT32 result (INT_8)"),
    (Part::Base, "OPTIONAL INT32 score (INT_16)"),
    (Part::Base, "OPTIONAL INT32 depth (UINT_8)"),
    (Part::Base, "REQUIRED INT32 move (UINT_16)"),
    (Part::Base, "REQUIRED INT32 flags (UINT_16)"),
    (Part::Base, "REQUIRED INT32 to_capture (UINT_8)"),
    (Part::Base, "REQUIRED INT32 to_check (UINT_8)"),
    (Part::Base, "REQUIRED INT32 to_end (UINT_8)"),
    (Part::Leaf, "OPTIONAL FIXED_LEN_BYTE_ARRAY(24) leaf"),
    (Part::Leaf, "OPTIONAL BOOLEAN leaf_stm"),
    (Part::Leaf, "OPTIONAL INT32 leaf_score (INT_16)"),
    (Part::Mean, "OPTIONAL INT32 mean_count (UINT_32)"),
    (Part::Mean, "OPTIONAL INT32 mean_sum (INT_32)"),
];

/// Which of the columns a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// Those of the leaves.
    pub resolved: bool,
    /// Those of the mean results.
    pub means: bool,
}

impl Layout {
    /// For each column that there is, its place in a file of this layout.
    fn places(self) -> [Option<usize>; COLUMNS.len()] {
        let mut next = 0;
        COLUMNS.map(|(part, _)| {
            let there = match part {
                Part::Base => true,
                Part::Leaf => self.resolved,
                Part::Mean => self.means,
            };
            let place = next;
            next += usize::from(there);
            there.then_some(place)
        })
    }

    /// How many columns a file of this layout has.
    pub fn columns(self) -> usize {
        self.places().iter().flatten().count()
    }

    /// The line of the schema of the column at this place of a file.
    fn line(self, place: usize) -> &'static str {
        let there = COLUMNS.iter().zip(self.places()).find(|(_, at)| *at == Some(place));
        there.map_or("", |((_, line), _)| line)
    }

    /// Whether values of the column at this place of a file may be absent.
    pub fn optional(self, place: usize) -> bool {
        self.line(place).starts_with("OPTIONAL")
    }

    /// Whether the column at this place of a file holds whole numbers.
    pub fn is_number(self, place: usize) -> bool {
        self.line(place).contains(" INT32 ")
    }

    /// The schema of a file of this layout.
    pub fn schema(self) -> String {
        let places = self.places();
        let there = COLUMNS.iter().zip(&places).filter(|(_, place)| place.is_some());
        let lines = there.fold(String::new(), |text, ((_, line), _)| text + "    " + line + ";\n");
        format!("message positions {{\n{lines}}}")
    }
}

/// A choice of columns to read; of the others, records hold what [`EMPTY`] does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted(u32);

impl Wanted {
    /// All that the file has.
    pub const ALL: Wanted = Wanted(u32::MAX);
    /// The number of the game.
    pub const GAME: Wanted = Wanted(1 << 6);
    /// What makes the key of a position: board, side to move, en passant.
    pub const KEY: Wanted = Wanted(0b111);
    /// What training takes when nothing is filtered: board, side to move, result and score, and where the file has them
    /// the leaves and mean results. To split validation off it also needs the game.
    pub const TRAINING: Wanted = Wanted(1 | 1 << 1 | 1 << 7 | 1 << 8 | 0b11111 << 15);

    /// Both choices together.
    pub const fn and(self, other: Wanted) -> Wanted {
        Wanted(self.0 | other.0)
    }

    /// The places in a file of this layout of the columns that are wanted; `None` for the others.
    pub fn places(self, layout: Layout) -> Vec<Option<usize>> {
        let places = layout.places().into_iter().enumerate();
        places.map(|(index, place)| place.filter(|_| self.0 >> index & 1 == 1)).collect()
    }
}

/// Adds records to the columns of a page, one builder a column of the layout. Their number has to be a multiple of
/// 8 unless nothing follows.
pub fn put(builders: &mut [Builder], layout: Layout, records: &[Record]) {
    let mut to = Next { columns: builders.iter_mut() };
    to.boards(records, |s| &s.board.0);
    to.bools(records, |s| s.turn.is_black());
    to.ints(records, |s| i32::from(s.ep));
    to.ints(records, |s| i32::from(s.halfmove));
    to.ints(records, |s| i32::from(s.fullmove));
    to.ints(records, |s| i32::from(s.ply));
    to.ints(records, |s| s.game as i32);
    to.ints(records, |s| i32::from(s.result));
    to.some_ints(records, |s| s.score.map(i32::from));
    to.some_ints(records, |s| s.depth.map(i32::from));
    to.ints(records, |s| i32::from(s.played.0));
    to.ints(records, |s| i32::from(s.flags));
    to.ints(records, |s| i32::from(s.to_capture));
    to.ints(records, |s| i32::from(s.to_check));
    to.ints(records, |s| i32::from(s.to_end));
    if layout.resolved {
        to.some_boards(records, |s| s.leaf.as_ref().map(|l| &l.board.0));
        to.some_bools(records, |s| s.leaf.map(|l| l.turn.is_black()));
        to.some_ints(records, |s| s.leaf.map(|l| i32::from(l.score)));
    }
    if layout.means {
        to.some_ints(records, |s| s.mean.map(|m| m.count as i32));
        to.some_ints(records, |s| s.mean.map(|m| m.sum));
    }
}

/// The builders in their order.
struct Next<'a> {
    columns: std::slice::IterMut<'a, Builder>,
}

impl Next<'_> {
    fn boards(&mut self, records: &[Record], get: impl Fn(&Record) -> &[u8; 24]) {
        self.columns.next().into_iter().for_each(|column| column.bytes(records, &get));
    }

    fn some_boards(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<&[u8; 24]>) {
        self.columns.next().into_iter().for_each(|column| column.some_bytes(records, &get));
    }

    fn bools(&mut self, records: &[Record], get: impl Fn(&Record) -> bool) {
        self.columns.next().into_iter().for_each(|column| column.bools(records, &get));
    }

    fn some_bools(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<bool>) {
        self.columns.next().into_iter().for_each(|column| column.some_bools(records, &get));
    }

    fn ints(&mut self, records: &[Record], get: impl Fn(&Record) -> i32) {
        self.columns.next().into_iter().for_each(|column| column.ints(records, &get));
    }

    fn some_ints(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<i32>) {
        self.columns.next().into_iter().for_each(|column| column.some_ints(records, &get));
    }
}

type Parquet<T> = parquet::errors::Result<T>;

/// Takes the next values of every column that is wanted; a cursor for each column that there is, `None` for those
/// that are not.
pub fn take(cursors: &mut [Option<Cursor>], records: &mut [Record]) -> Parquet<()> {
    let mut from = Given { columns: cursors.iter_mut() };
    from.boards(records, |s, v| s.board = PackedBoard(v))?;
    from.bools(records, |s, v| s.turn = Color::from_black(v))?;
    from.ints(records, |s, v| s.ep = v as u8)?;
    from.ints(records, |s, v| s.halfmove = v as u8)?;
    from.ints(records, |s, v| s.fullmove = v as u16)?;
    from.ints(records, |s, v| s.ply = v as u16)?;
    from.ints(records, |s, v| s.game = v as u32)?;
    from.ints(records, |s, v| s.result = v as i8)?;
    from.ints(records, |s, v| s.score = Some(v as i16))?;
    from.ints(records, |s, v| s.depth = Some(v as u8))?;
    from.ints(records, |s, v| s.played = PackedMove(v as u16))?;
    from.ints(records, |s, v| s.flags = v as u16)?;
    from.ints(records, |s, v| s.to_capture = v as u8)?;
    from.ints(records, |s, v| s.to_check = v as u8)?;
    from.ints(records, |s, v| s.to_end = v as u8)?;
    from.boards(records, |s, v| {
        s.leaf = Some(Leaf { board: PackedBoard(v), turn: Color::White, score: 0 });
    })?;
    from.bools(records, |s, v| {
        if let Some(leaf) = &mut s.leaf {
            leaf.turn = Color::from_black(v);
        }
    })?;
    from.ints(records, |s, v| {
        if let Some(leaf) = &mut s.leaf {
            leaf.score = v as i16;
        }
    })?;
    from.ints(records, |s, v| s.mean = Some(MeanResult { count: v as u32, sum: 0 }))?;
    from.ints(records, |s, v| {
        if let Some(mean) = &mut s.mean {
            mean.sum = v;
        }
    })
}

/// The cursors in their order.
struct Given<'a> {
    columns: std::slice::IterMut<'a, Option<Cursor>>,
}

impl Given<'_> {
    fn boards(&mut self, records: &mut [Record], set: impl Fn(&mut Record, [u8; 24])) -> Parquet<()> {
        self.columns.next().into_iter().flatten().try_for_each(|column| column.bytes(records, &set))
    }

    fn bools(&mut self, records: &mut [Record], set: impl Fn(&mut Record, bool)) -> Parquet<()> {
        self.columns.next().into_iter().flatten().try_for_each(|column| column.bools(records, &set))
    }

    fn ints(&mut self, records: &mut [Record], set: impl Fn(&mut Record, i32)) -> Parquet<()> {
        self.columns.next().into_iter().flatten().try_for_each(|column| column.ints(records, &set))
    }
}

/// A record with nothing in it, to fill column by column.
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
};
