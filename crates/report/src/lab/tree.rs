//! Lineage of a file: the run that wrote it, the files which that run read, and so on back to the games.

use std::fmt;

use serde::Serialize;

use super::{Book, Entry, FileRecord, short};
use patzer_io::printable;

/// A file with the run that wrote it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Branch {
    /// Name of the file.
    pub file: String,
    /// Digest of its content.
    pub digest: String,
    /// Identity, command and result of the run; none for a file from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The file stands further up, with all that it comes from.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub above: bool,
    /// Files which that run read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<Branch>,
    /// Later tests of the file: identity and result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Run>,
}

/// A run in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Identity.
    pub id: String,
    /// Begin.
    pub time: String,
    /// Name of the command.
    pub kind: String,
    /// Result in a few words.
    pub result: String,
}

impl Run {
    fn of(entry: &Entry) -> Run {
        let Entry { id, time, kind, .. } = entry;
        Run { id: id.clone(), time: time.clone(), kind: kind.clone(), result: short(entry) }
    }
}

/// The tree of a file by its digest.
pub fn tree(book: &Book, digest: &str) -> Branch {
    let mut records = book.entries.iter().flat_map(|entry| entry.written.iter().chain(&entry.read));
    let name = records.find(|record| record.digest == digest).map(FileRecord::name);
    branch_of(book, name.unwrap_or_default(), digest, &mut Vec::new())
}

/// Matches and tests with a file among their players.
pub(super) fn tests_of(book: &Book, digest: &str) -> Vec<Run> {
    let plays = |entry: &&Entry| entry.players.iter().any(|player| player.digest == digest);
    book.entries.iter().filter(plays).map(Run::of).collect()
}

fn branch_of(book: &Book, file: String, digest: &str, seen: &mut Vec<String>) -> Branch {
    let wrote = |entry: &&Entry| entry.written.iter().any(|record| record.digest == digest);
    let writer = book.entries.iter().find(wrote);
    let above = seen.iter().any(|known| known == digest);
    let mut branch = Branch {
        file,
        digest: digest.to_string(),
        run: writer.map(Run::of),
        above,
        from: Vec::new(),
        tests: Vec::new(),
    };
    if above {
        return branch;
    }
    seen.push(digest.to_string());
    let inputs = writer.iter().flat_map(|entry| {
        let own = |record: &&FileRecord| entry.written.iter().all(|own| own.digest != record.digest);
        entry.read.iter().filter(own)
    });
    branch.from = inputs.map(|record| branch_of(book, record.name(), &record.digest, seen)).collect();
    branch.tests = tests_of(book, digest);
    branch
}

impl Branch {
    fn write(&self, f: &mut fmt::Formatter<'_>, indent: &str) -> fmt::Result {
        let digest: String = self.digest.chars().take(12).collect();
        write!(f, "{}  {digest}", printable(&self.file))?;
        match &self.run {
            _ if self.above => f.write_str("  as above")?,
            Some(run) => {
                write!(f, "  {} {}, {}: {}", run.kind, run.id, day(&run.time), printable(&run.result))?
            }
            None => f.write_str("  of no run in the book")?,
        }
        for test in &self.tests {
            let (Run { id, kind, result, .. }, day) = (test, day(&test.time));
            write!(f, "\n{indent}   {kind} {id}, {day}: {}", printable(result))?;
        }
        for (at, branch) in self.from.iter().enumerate() {
            let last = at + 1 == self.from.len();
            write!(f, "\n{indent}{} ", if last { "└─" } else { "├─" })?;
            branch.write(f, &format!("{indent}{}", if last { "   " } else { "│  " }))?;
        }
        Ok(())
    }
}

fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or(time)
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}
