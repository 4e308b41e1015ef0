//! Lines of a journal: JSON objects with checksums.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::JournalEntry;
use super::key::Key;
use patzer_io::checked_line;
use patzer_io::error::{Error, Result};

/// Format that this version writes and reads.
pub(super) const FORMAT: u32 = 4;

/// First line of a new journal.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// Command that starts the run, and its settings for a resumed one.
    pub command: &'a str,
    pub settings: &'a Value,
    /// Conditions that decide the games; a resumed run has the same.
    pub conditions: &'a Value,
    /// Signs the journal.
    pub key: Option<&'a Key>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub patzer_journal: u32,
    /// Command that started the run.
    pub command: String,
    /// Its settings, so that a resumed run needs no other.
    pub settings: Value,
    /// Conditions that decide the games, so that a resumed run plays the same.
    pub conditions: Value,
    /// HMAC-SHA256 of the header without this member, by the key of the user who started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct EntryLine<E> {
    #[serde(flatten)]
    pub entry: E,
    pub bytes: u64,
    pub sha256: String,
}

/// Last line of a run that has come to its end.
#[derive(Debug, Serialize, Deserialize)]
struct EndLine {
    end: End,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    Complete,
}

pub(super) fn end_line() -> Result<Vec<u8>> {
    checked_line::write(&EndLine { end: End::Complete })
}

/// Tests whether the bytes after the last line end can be the beginning of a line, cut off by a kill or a power cut.
pub(super) fn is_cut_off(tail: &[u8]) -> bool {
    // Some file systems show zeros where a power cut came before the data.
    let end = tail.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    match serde_json::from_slice::<serde_json::Value>(&tail[..end]) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

pub(super) enum Line<E> {
    Entry(EntryLine<E>),
    End,
}

pub(super) fn parse<E: JournalEntry>(line: &[u8]) -> Option<Line<E>> {
    if serde_json::from_slice::<EndLine>(line).is_ok() {
        return Some(Line::End);
    }
    serde_json::from_slice(line).ok().map(Line::Entry)
}

/// Parses the first line; the error is the reason why it is none.
pub(super) fn header(line: &[u8]) -> std::result::Result<Header, &'static str> {
    let value = serde_json::from_slice::<serde_json::Value>(line).ok();
    let version = value.as_ref().and_then(|value| value["patzer_journal"].as_u64());
    let known = version.ok_or("is not a journal of patzer")? == u64::from(FORMAT);
    if !checked_line::is_intact(line, known) {
        return Err("is damaged: it does not agree with its checksum");
    }
    let header = value.filter(|_| known).and_then(|value| serde_json::from_value(value).ok());
    header.ok_or("is a journal of another version of patzer, which resumes and reports it")
}

impl Header {
    pub fn new(start: &Start) -> Result<Header> {
        let Start { command, settings, conditions, key } = *start;
        let (command, settings, conditions) = (command.to_string(), settings.clone(), conditions.clone());
        let mut header = Header { patzer_journal: FORMAT, command, settings, conditions, signature: None };
        // Readers sign what they read, where the last digit of a number may be another.
        let as_read: Option<Header> = serde_json::from_slice(&header.signed_text()).ok();
        let as_read =
            as_read.ok_or_else(|| Error::internal("the journal's first line cannot be read back"))?;
        header.signature = key.map(|key| key.sign(&as_read.signed_text()));
        Ok(header)
    }

    /// Text that the signature covers.
    pub fn signed_text(&self) -> Vec<u8> {
        let unsigned = Header { signature: None, ..self.clone() };
        serde_json::to_vec(&unsigned).unwrap_or_default()
    }
}
