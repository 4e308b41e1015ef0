//! The file of refused games: each as it was read, with the reason in a tag before its own.

use std::path::Path;

use patzer_formats::stream::CompressedOutput;
use patzer_io as io;
use patzer_io::error::Result;

/// Opens the file, compressed as its name says.
pub(crate) fn create(path: &Path) -> Result<CompressedOutput> {
    CompressedOutput::create(path, None, false)
}

/// Appends a game with the tag `Rejected`; `tagged`: the game has tags, which may follow at once.
pub(crate) fn push(games: &mut Vec<u8>, game: &[u8], reason: &str, tagged: bool) {
    let reason = reason.replace('\\', "\\\\").replace('"', "\\\"");
    let gap = if tagged { "" } else { "\n" };
    games.extend_from_slice(format!("[Rejected \"{reason}\"]\n{gap}").as_bytes());
    push_game(games, game);
}

/// Appends a game as it was read, with an empty line after it.
pub(crate) fn push_game(games: &mut Vec<u8>, game: &[u8]) {
    let text = io::without_byte_order_mark(game);
    games.extend_from_slice(text.trim_ascii());
    games.extend_from_slice(b"\n\n");
}
