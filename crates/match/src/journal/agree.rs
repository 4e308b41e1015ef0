//! Compares a journal with its file of games.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::entry::JournalEntry;
use super::line::{self, EntryLine, Line};
use patzer_io::checked_line;

/// Entries on which a journal and its file of games agree, up to the first difference.
pub(super) struct Survey<E> {
    pub entries: Vec<EntryLine<E>>,
    /// End offsets in file and journal of the first line and of each entry.
    pub ends: Vec<[u64; 2]>,
    /// The run has come to its end.
    pub complete: bool,
    /// The first difference.
    pub fault: Option<Fault>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A line of the journal, counted from 1.
    Journal { line: usize, reason: String },
    /// An entry whose games differ, by its index.
    Games { index: usize, reason: String },
}

/// Bytes of an entry's games at most.
const MOST_BYTES: u64 = 1 << 30;

/// Reads the entries of a journal until the first damaged line.
pub(super) fn entries<E: JournalEntry>(journal: &[u8], first: usize) -> Survey<E> {
    let mut survey =
        Survey { entries: Vec::new(), ends: vec![[0, first as u64]], complete: false, fault: None };
    let (mut at, mut end) = (first, 0);
    while let Some(length) = journal[at..].iter().position(|&byte| byte == b'\n') {
        let text = &journal[at..at + length];
        at += length + 1;
        let number = survey.entries.len() + 1;
        let reason = match line::parse::<E>(text) {
            _ if !checked_line::is_intact(text, true) => {
                "is damaged: it does not agree with its checksum".to_string()
            }
            _ if survey.complete => "comes after the end of the run".to_string(),
            Some(Line::End) => {
                survey.complete = true;
                continue;
            }
            // A length that no entry has is damage.
            Some(Line::Entry(entry)) if entry.entry.number() == number && entry.bytes <= MOST_BYTES => {
                end += entry.bytes;
                survey.ends.push([end, at as u64]);
                survey.entries.push(entry);
                continue;
            }
            Some(Line::Entry(_)) => format!("is not {} {number}", E::UNITS[0]),
            None => format!("is not a {} of games", E::UNITS[0]),
        };
        survey.fault = Some(Fault::Journal { line: number + 1, reason });
        return survey;
    }
    if !line::is_cut_off(&journal[at..]) {
        let line = survey.entries.len() + 2;
        survey.fault = Some(Fault::Journal {
            line,
            reason: "has no end and is not the beginning of an entry".to_string(),
        });
    }
    survey
}

/// Bytes in the file after the games of the entries.
pub(super) fn rest<E>(survey: &Survey<E>, file: Option<&File>) -> u64 {
    let length = file.and_then(|file| file.metadata().ok()).map_or(0, |about| about.len());
    length.saturating_sub(survey.ends.last().map_or(0, |ends| ends[0]))
}

/// Compares the games with the entries: a difference before that of the journal replaces it.
pub(super) fn compare<E: JournalEntry>(survey: &mut Survey<E>, file: Option<&mut File>) -> io::Result<()> {
    let Some(file) = file else {
        if survey.ends.last().is_some_and(|ends| ends[0] > 0) {
            survey.fault = Some(Fault::Games { index: 0, reason: "the file is gone".to_string() });
        }
        return Ok(());
    };
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut file = io::BufReader::new(file);
    let mut bytes = Vec::new();
    for (index, line) in survey.entries.iter().enumerate() {
        bytes.clear();
        let end = survey.ends[index + 1][0];
        (&mut file).take(line.bytes).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != line.bytes {
            let reason = format!("the file ends at byte {length}, before their end at byte {end}");
            survey.fault = Some(Fault::Games { index, reason });
            return Ok(());
        }
        if checked_line::checksum(&bytes) != line.sha256 {
            let carriage = if bytes.contains(&b'\r') { " (it has CRLF line ends)" } else { "" };
            let reason = format!("the games differ from those that the journal counts{carriage}");
            survey.fault = Some(Fault::Games { index, reason });
            return Ok(());
        }
    }
    Ok(())
}

impl Fault {
    /// The place and the reason of the difference, for a message that names the file.
    pub fn place<E: JournalEntry>(&self, path: &Path, survey: &Survey<E>) -> (String, String) {
        match self {
            Fault::Journal { line, reason } => (format!("line {line}"), reason.clone()),
            Fault::Games { index, reason } => {
                let byte = survey.ends[*index][0];
                let number = index + 1;
                let games = E::games(number, survey.entries.get(*index).map(|line| &line.entry));
                let line = E::TEXT.then(|| line_at(path, byte)).flatten();
                let place = line.map_or_else(|| format!("byte {byte}"), |line| format!("line {line}"));
                (place, format!("{games} ({} {number}): {reason}", E::UNITS[0]))
            }
        }
    }
}

/// The line, counted from 1, in which the byte at an offset lies.
fn line_at(path: &Path, offset: u64) -> Option<usize> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(offset).read_to_end(&mut head).ok()?;
    Some(1 + memchr::memchr_iter(b'\n', &head).count())
}
