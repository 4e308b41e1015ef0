//! Choice of a dataset's columns to read.

use crate::native::columns::{COLUMNS, Column};

/// A set of columns to read; fields of the other columns stay as in [`EMPTY`](crate::native::columns::EMPTY).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection(u32);

impl Projection {
    pub const ALL: Projection = Projection(u32::MAX);
    pub const GAME: Projection = Projection::of(&["game"]);
    pub const KEY: Projection = Projection::of(&["board", "stm", "ep"]);
    /// The columns of training without filters; splitting off a validation set also needs [`Projection::GAME`], the
    /// halfmove clock and plies their own columns.
    pub const TRAINING: Projection = Projection::of(&[
        "board",
        "stm",
        "result",
        "score",
        "leaf",
        "leaf_stm",
        "leaf_score",
        "mean_count",
        "mean_sum",
    ]);

    /// Selects columns by name; an unknown name does not compile.
    pub const fn of(names: &[&str]) -> Projection {
        let (mut bits, mut nth) = (0, 0);
        while nth < names.len() {
            bits |= 1 << index(names[nth]);
            nth += 1;
        }
        Projection(bits)
    }

    pub const fn and(self, other: Projection) -> Projection {
        Projection(self.0 | other.0)
    }

    pub const fn has(self, columns: Projection) -> bool {
        self.0 & columns.0 == columns.0
    }

    pub fn contains(self, column: &Column) -> bool {
        self.0 >> index(column.name) & 1 == 1
    }

    #[cfg(test)]
    pub fn all_but(column: &Column) -> Projection {
        Projection(!(1 << index(column.name)))
    }
}

/// Index of a column in [`COLUMNS`].
const fn index(name: &str) -> usize {
    let mut index = 0;
    while index < COLUMNS.len() {
        if equal(COLUMNS[index].name.as_bytes(), name.as_bytes()) {
            return index;
        }
        index += 1;
    }
    panic!("no column has this name")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
