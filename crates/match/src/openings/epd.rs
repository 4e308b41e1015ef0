//! Openings from EPD or FEN lines.
//!
//! In: text. Out: a position a line, or the number of the first line that is not one. Books have up to some
//! millions of lines, so they are read by all threads.

use std::path::Path;

use rayon::prelude::*;
use shakmaty::Chess;

use super::playable;
use patzer_chess::fen;
use patzer_io::error::{Error, Result};

/// Reads all positions of a book; `chess960` plays all of them by the castling rules of Chess960.
pub(super) fn positions(text: &str, path: &Path, chess960: bool) -> Result<Vec<Chess>> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(str::trim)
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '%']))
        .collect();
    let read: Vec<_> = lines
        .par_iter()
        .with_min_len(1024)
        .map(|&(index, line)| {
            position(line, chess960).and_then(playable).map_err(|reason| (index + 1, reason))
        })
        .collect();
    // The first bad line is the one to name, whichever thread was first.
    read.into_iter()
        .map(|read| read.map_err(|(line, reason)| Error::at(path, format!("line {line}"), reason)))
        .collect()
}

/// Reads four fields with operations, of which `hmvc` and `fmvn` are used, or the six fields of a FEN.
fn position(line: &str, chess960: bool) -> std::result::Result<Chess, String> {
    let fields: Vec<&str> = line.split_whitespace().take(6).collect();
    let [board, turn, castling, ep, rest @ ..] = &fields[..] else {
        return Err(format!(
            "is not an EPD or FEN position: `{}`",
            line.chars().take(40).collect::<String>()
        ));
    };
    let number = |text: &&str| text.trim_end_matches(';').parse::<u32>().ok();
    let (halfmoves, fullmoves) = match rest {
        [half, full] if number(half).is_some() && number(full).is_some() => (number(half), number(full)),
        _ => (operand(line, "hmvc"), operand(line, "fmvn")),
    };
    let (halfmoves, fullmoves) = (halfmoves.unwrap_or(0), fullmoves.unwrap_or(1).max(1));
    Ok(fen::position(&format!("{board} {turn} {castling} {ep} {halfmoves} {fullmoves}"), chess960)?)
}

fn operand(line: &str, operation: &str) -> Option<u32> {
    let mut words = line.split([';', ' ']).filter(|word| !word.is_empty());
    words.find(|&word| word == operation)?;
    words.next()?.parse().ok()
}
