//! Bytes of a book: reads them, and recognises their kind.

use std::path::Path;

use super::polyglot;
use patzer_io as io;
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Reads a book. Text and archives do not begin with NUL, Polyglot books may.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let is_book = |head: &[u8]| polyglot::is_name(path) || head.first() != Some(&0);
    io::read_as(path, |head| is_book(head).then_some(Limit::BOOK))
}

/// Tests for a book of games, as opposed to one of lines.
pub(super) fn begins_as_games(bytes: &[u8]) -> bool {
    let text = io::without_byte_order_mark(bytes);
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%");
    let first = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(is_text);
    first.is_some_and(|line| line.starts_with(b"[") || line.starts_with(b"1."))
}

pub(super) fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String> {
    const REASON: &str =
        "is not UTF-8 text; a book has EPD, FEN or PGN, and `patzer data convert` makes FENs of a dataset";
    String::from_utf8(bytes)
        .map_err(|e| Error::at(path, format!("byte {}", e.utf8_error().valid_up_to()), REASON))
}
