//! Shapes and numbers of a term's values.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermKind {
    #[default]
    Pair,
    /// One value for both halves.
    Single,
    Midgame,
    Endgame,
}

impl TermKind {
    /// The value of a term that has one.
    pub fn single(self, pair: &[i64; 2]) -> i64 {
        if self == TermKind::Endgame { pair[1] } else { pair[0] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`shape` is a length, [rows, columns], [planes, rows, columns], \"board\" or \"board-a8\""
)]
pub enum Shape {
    /// One entry is a scalar.
    List(usize),
    Grid([usize; 2]),
    Cube([usize; 3]),
    Board(Board),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Board {
    #[serde(rename = "board", alias = "board-a1")]
    A1,
    #[serde(rename = "board-a8")]
    A8,
}

impl Shape {
    pub fn len(self) -> usize {
        let [rows, columns] = self.grid();
        rows * columns
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    pub fn grid(self) -> [usize; 2] {
        match self {
            Shape::List(length) => [1, length],
            Shape::Grid(grid) => grid,
            Shape::Cube([planes, rows, columns]) => [planes.saturating_mul(rows), columns],
            Shape::Board(_) => [8, 8],
        }
    }

    /// Lengths of the nested arrays, from the outermost; none of a scalar.
    pub fn dims(self) -> Vec<usize> {
        match self {
            Shape::List(1) => Vec::new(),
            Shape::List(length) => vec![length],
            Shape::Grid(dims) => dims.to_vec(),
            Shape::Cube(dims) => dims.to_vec(),
            Shape::Board(_) => vec![64],
        }
    }

    /// Suffix of an entry's name: `[e4]`, `[2][3]`, `[5]`, or nothing.
    pub fn suffix(self, entry: usize) -> String {
        let [_, columns] = self.grid();
        let (row, column) = (entry / columns, entry % columns);
        match self {
            Shape::List(1) => String::new(),
            Shape::List(_) => format!("[{entry}]"),
            Shape::Grid(_) => format!("[{row}][{column}]"),
            Shape::Cube([_, rows, _]) => format!("[{}][{}][{column}]", row / rows, row % rows),
            Shape::Board(board) => {
                let square = if board == Board::A8 { entry ^ 56 } else { entry };
                format!("[{}{}]", char::from(b'a' + (square % 8) as u8), square / 8 + 1)
            }
        }
    }
}

/// Type that an engine stores a weight in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberType {
    I8,
    I16,
    I32,
}

impl NumberType {
    /// Least and largest value. Halves of a pair avoid the least of the type: packed into one number, a negative
    /// midgame half borrows 1 from the endgame half.
    pub fn bounds(self, kind: TermKind) -> [f64; 2] {
        let largest = match self {
            NumberType::I8 => f64::from(i8::MAX),
            NumberType::I16 => f64::from(i16::MAX),
            NumberType::I32 => f64::from(i32::MAX),
        };
        [if kind == TermKind::Pair { -largest } else { -largest - 1.0 }, largest]
    }

    pub fn name(self) -> &'static str {
        match self {
            NumberType::I8 => "i8",
            NumberType::I16 => "i16",
            NumberType::I32 => "i32",
        }
    }
}
