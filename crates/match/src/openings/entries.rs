//! All entries of a book in the order of its file, good and bad.

use std::path::Path;

use rayon::prelude::*;
use shakmaty::Position;

use super::archive;
use super::book_file::{begins_as_games, read, text_of};
use super::games;
use super::opening::{Entry, Opening, OpeningError, parse_line};
use super::polyglot::{self, Polyglot};
use patzer_chess::epd;
use patzer_io::error::{Error, Result};

/// Reads a book of lines, of games, or of Polyglot; games and lines of moves up to this many plies.
pub fn entries(path: &Path, plies: Option<u32>, chess960: bool) -> Result<Vec<Entry>> {
    let bytes = read(path)?;
    let bytes = if archive::is_zip(&bytes) { archive::only_file(&bytes, path)? } else { bytes };
    let entries = if polyglot::is_name(path) {
        Polyglot::parse(&bytes, path)?.lines(plies).into_iter().map(of_polyglot).collect()
    } else if begins_as_games(&bytes) {
        games::entries(bytes, plies)
    } else {
        let text = text_of(bytes, path)?;
        let read = |chess960: bool| -> Vec<Entry> {
            let lines: Vec<(usize, &str)> = text.trim_start_matches('\u{feff}').lines().enumerate().collect();
            let is_text = |line: &str| !line.trim().is_empty() && !line.starts_with(['#', '%']);
            let read = |&(at, line): &(usize, &str)| is_text(line).then(|| entry(at + 1, line, chess960));
            lines.par_iter().with_min_len(1024).filter_map(read).collect()
        };
        let entries = read(chess960);
        // One line that needs the rules of Chess960 applies them to all, as in a match.
        let needed = |entry: &Entry| {
            entry.opening.as_ref().is_ok_and(|opening| opening.position.castles().mode().is_chess960())
        };
        if !chess960 && entries.iter().any(needed) { read(true) } else { entries }
    };
    if entries.is_empty() { Err(Error::data(path, "holds no opening")) } else { Ok(entries) }
}

fn of_polyglot(line: polyglot::BookLine) -> Entry {
    Entry {
        place: format!("entry {}", line.number),
        plies: line.opening.as_ref().ok().map(|opening| opening.moves.len() as u32),
        opening: line.opening.map_err(|OpeningError(reason)| reason),
    }
}

fn entry(number: usize, line: &str, chess960: bool) -> Entry {
    let read = parse_line(line.trim(), chess960);
    Entry {
        place: format!("line {number}"),
        opening: read.map(Opening::from_position).map_err(|OpeningError(reason)| reason),
        plies: epd::plies(line),
    }
}
