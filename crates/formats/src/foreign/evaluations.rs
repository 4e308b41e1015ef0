//! Lichess's evaluations as a table: each row is one line of an evaluation. Of the rows of a FEN, which follow each other,
//! the first line of the deepest evaluation counts.

use std::path::Path;

use crate::Record;
use crate::foreign::columns::{DEPTH, FEN, GAME, KNODES, MOVE, RESULT};
use crate::notices::Notices;
use patzer_io::number::counted;

/// The rows of a FEN so far.
#[derive(Debug, Default)]
pub struct Evaluations {
    fen: String,
    /// Depth and thousands of nodes of the record's evaluation.
    effort: (u64, u64),
    record: Option<Record>,
    rows: u64,
    positions: u64,
}

impl Evaluations {
    /// Tests whether a table with columns of these roles is one of evaluations.
    pub fn are(has: impl Fn(usize) -> bool) -> bool {
        [FEN, MOVE, DEPTH, KNODES].into_iter().all(&has) && !has(GAME) && !has(RESULT)
    }

    /// Counts a row; the game of its position, or `None` if the record so far stays.
    pub fn count(&mut self, fen: &str, effort: (u64, u64)) -> Option<u32> {
        self.rows += 1;
        let known = self.record.is_some() && self.fen == fen;
        if known && effort <= self.effort {
            return None;
        }
        Some((self.positions - u64::from(known)) as u32)
    }

    /// Takes the record of a row that counts, and gives back the position before if this is another.
    pub fn put(&mut self, fen: &str, effort: (u64, u64), record: Record) -> Option<Record> {
        self.effort = effort;
        let before = self.record.replace(record);
        if before.is_some() && self.fen == fen {
            return None;
        }
        self.positions += 1;
        self.fen.clear();
        self.fen.push_str(fen);
        before
    }

    /// Gives back the last position, and says how many rows were merged.
    pub fn end(&mut self, path: &Path, notices: &Notices) -> Option<Record> {
        let (rows, positions) = (std::mem::take(&mut self.rows), self.positions);
        if rows > positions {
            let (rows, positions) = (counted(rows, "row"), counted(positions, "position"));
            let text =
                format!("{rows} are lines of evaluations of {positions}: of each the deepest's first counts");
            notices.add(path, text);
        }
        self.record.take()
    }
}
