//! Columns that are written for other programs to read.

use serde::{Deserialize, Serialize};

use crate::Record;
use crate::fen;
use patzer_io::error::Error;

/// A column that is written for other programs to read, and ignored on reading.
pub struct Readable {
    pub name: &'static str,
    pub doc: &'static str,
    pub text: fn(&mut Vec<u8>, &Record),
}

/// Columns of `--with`.
pub static READABLE: [Readable; 2] = [
    Readable { name: "fen", doc: "the position as a FEN", text: fen::six },
    Readable { name: "uci", doc: "the move played in UCI notation, empty without one", text: fen::uci },
];

/// The columns of `--with`, a bit for each of [`READABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ReadableColumns(u8);

impl From<ReadableColumns> for String {
    fn from(columns: ReadableColumns) -> String {
        columns.without(ReadableColumns::default()).join(",")
    }
}

impl TryFrom<String> for ReadableColumns {
    type Error = Error;

    fn try_from(text: String) -> std::result::Result<ReadableColumns, Error> {
        if text.is_empty() { Ok(ReadableColumns::default()) } else { text.parse() }
    }
}

impl ReadableColumns {
    /// The columns of which a file has the names.
    pub(crate) fn among(has: impl Fn(&str) -> bool) -> ReadableColumns {
        let bits =
            READABLE.iter().enumerate().filter(|(_, column)| has(column.name)).map(|(bit, _)| 1 << bit);
        ReadableColumns(bits.sum())
    }

    pub(crate) fn or(self, other: ReadableColumns) -> ReadableColumns {
        ReadableColumns(self.0 | other.0)
    }

    /// The columns that `other` has not, by name.
    pub(crate) fn without(self, other: ReadableColumns) -> Vec<&'static str> {
        ReadableColumns(self.0 & !other.0).iter().map(|column| column.name).collect()
    }

    pub fn iter(self) -> impl Iterator<Item = &'static Readable> {
        READABLE.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, column)| column)
    }
}

impl std::str::FromStr for ReadableColumns {
    type Err = Error;

    fn from_str(text: &str) -> std::result::Result<ReadableColumns, Error> {
        let mut columns = ReadableColumns::default();
        for name in text.split(',') {
            let known = || READABLE.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
            let bit = READABLE.iter().position(|column| column.name == name);
            columns.0 |= 1 << bit.ok_or_else(|| Error::usage(format!("{name}: known are {}", known())))?;
        }
        Ok(columns)
    }
}
