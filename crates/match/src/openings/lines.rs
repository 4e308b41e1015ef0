//! Index of a book of EPD or FEN lines: where they begin, and which of them repeat an earlier position.
//!
//! Most lines have one way to write their position, so that equal text is equal position and no line has to be
//! parsed. The others, such as those with an en passant square, are parsed and written again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::{OpeningError, epd, playable};
use patzer_io::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Lines {
    text: String,
    lines: Vec<LineStart>,
    path: PathBuf,
    chess960: bool,
}

#[derive(Debug, Clone, Copy)]
struct LineStart {
    byte: usize,
    /// From 1.
    number: usize,
}

/// What the index knows of a line.
enum Key {
    /// Hash of the position's only text.
    Plain(u64),
    /// Has to be parsed.
    Other,
}

impl Lines {
    /// Finds the lines of a book, and the indices of those to play; one that needs Chess960 castling rules applies them
    /// to all.
    pub fn index(text: String, path: &Path, chess960: bool, repeats: bool) -> (Lines, Vec<u32>) {
        let mut lines = Vec::with_capacity(text.len() / 64);
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
        let mut byte = 0;
        for (index, end) in ends.chain([text.len()]).enumerate() {
            let line = text[byte..end].trim();
            if !line.is_empty() && !line.starts_with(['#', '%']) {
                lines.push(LineStart { byte, number: index + 1 });
            }
            byte = end;
        }
        let mut book = Lines { text, lines, path: path.to_path_buf(), chess960 };
        let keys: Vec<Key> =
            (0..book.lines.len()).into_par_iter().with_min_len(1024).map(|at| key(book.line(at))).collect();
        let others: Vec<usize> = (0..keys.len()).filter(|&at| matches!(keys[at], Key::Other)).collect();
        let mut parsed = book.positions(&others);
        let needs_chess960 = |position: &Chess| position.castles().mode().is_chess960();
        if !chess960 && parsed.iter().flatten().any(needs_chess960) {
            book.chess960 = true;
            parsed = book.positions(&others);
        }
        let all = 0..book.lines.len() as u32;
        if repeats {
            return (book, all.collect());
        }
        let plain = all.filter_map(|at| match keys[at as usize] {
            Key::Plain(hash) => Some((hash, at)),
            Key::Other => None,
        });
        let other = others.iter().zip(&parsed);
        let other = other.filter_map(|(&at, position)| Some((key_of(position.as_ref()?), at as u32)));
        let repeated = book.repeated(plain.chain(other).collect());
        let kept = repeated.iter().zip(0..).filter(|(repeated, _)| !**repeated).map(|(_, at)| at).collect();
        (book, kept)
    }

    fn positions(&self, lines: &[usize]) -> Vec<Option<Chess>> {
        lines.par_iter().with_min_len(1024).map(|&at| self.position(at).ok()).collect()
    }

    /// Marks lines whose position a line before them has; bad lines repeat none.
    fn repeated(&self, mut keys: Vec<(u64, u32)>) -> Vec<bool> {
        keys.par_sort_unstable();
        let mut repeated = vec![false; self.lines.len()];
        for equal in keys.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            let mut seen = Vec::new();
            for &(_, at) in equal {
                let Ok(position) = self.position(at as usize) else { continue };
                repeated[at as usize] = seen.contains(&position);
                if !repeated[at as usize] {
                    seen.push(position);
                }
            }
        }
        repeated
    }

    fn line(&self, at: usize) -> &str {
        let rest = &self.text[self.lines[at].byte..];
        rest[..memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())].trim()
    }

    pub fn position(&self, at: usize) -> Result<Chess> {
        let position = epd::position(self.line(at), self.chess960).and_then(playable);
        let place = || format!("line {}", self.lines[at].number);
        position.map_err(|OpeningError(reason)| Error::at(&self.path, place(), reason))
    }
}

fn key(line: &str) -> Key {
    let mut fields = line.split_ascii_whitespace();
    let fields = [fields.next(), fields.next(), fields.next(), fields.next()];
    match fields {
        [Some(board), Some(turn @ ("w" | "b")), Some(castling), Some("-")] if is_plain(board, castling) => {
            Key::Plain(hash(&[board, turn, castling, "-"]))
        }
        _ => Key::Other,
    }
}

fn key_of(position: &Chess) -> u64 {
    let text = Fen::from_position(position, EnPassantMode::Legal).to_string();
    let fields: Vec<&str> = text.split(' ').take(4).collect();
    hash(&fields)
}

fn hash(fields: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    fields.hash(&mut hasher);
    hasher.finish()
}

/// Whether board and castling rights can be written in this way alone: eight whole ranks, and rights in the usual order
/// that the board supports by the rules of standard chess.
fn is_plain(board: &str, castling: &str) -> bool {
    let mut squares = [b'.'; 64];
    let (mut at, mut ranks, mut after_digit) = (0, 1, false);
    for byte in board.bytes() {
        match byte {
            b'/' if at == 8 * ranks && ranks < 8 => (ranks, after_digit) = (ranks + 1, false),
            b'1'..=b'8' if !after_digit => (at, after_digit) = (at + usize::from(byte - b'0'), true),
            b'p' | b'n' | b'b' | b'r' | b'q' | b'k' | b'P' | b'N' | b'B' | b'R' | b'Q' | b'K' if at < 64 => {
                squares[at] = byte;
                (at, after_digit) = (at + 1, false);
            }
            _ => return false,
        }
        if at > 8 * ranks {
            return false;
        }
    }
    let [a8, e8, h8, a1, e1, h1] = [0, 4, 7, 56, 60, 63].map(|square: usize| squares[square]);
    let supported = |right| match right {
        'K' => [e1, h1] == *b"KR",
        'Q' => [e1, a1] == *b"KR",
        'k' => [e8, h8] == *b"kr",
        _ => [e8, a8] == *b"kr",
    };
    let mut order = "KQkq".chars();
    let in_order = castling.chars().all(|right| order.any(|known| known == right));
    at == 64 && ranks == 8 && (castling == "-" || in_order && castling.chars().all(supported))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_plain_if_the_position_has_no_other() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for (board, castling, plain) in [
            (START, "KQkq", true),
            (START, "Kq", true),
            (START, "-", true),
            (START, "kQ", false),
            (START, "KK", false),
            (START, "HAha", false),
            ("rnbqkbnr/pppppppp/44/8/8/8/PPPPPPPP/RNBQKBNR", "KQkq", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP", "-", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8", "-", false),
            ("rnbqkbnr/ppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR", "-", false),
            ("rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPPP/RNBQKBNR", "-", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR~", "-", false),
            ("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR", "KQkq", false),
            ("4k3/8/8/8/8/8/8/4K3", "K", false),
        ] {
            assert_eq!(is_plain(board, castling), plain, "{board} {castling}");
        }
    }

    #[test]
    fn the_text_of_a_plain_line_is_that_of_its_position() {
        for line in include_str!("book.epd").lines().filter(|line| !line.starts_with('#')) {
            let position = epd::position(line, false).unwrap();
            match key(line) {
                Key::Plain(hash) => assert_eq!(hash, key_of(&position), "{line}"),
                Key::Other => assert!(!line.ends_with(" -"), "{line}"),
            }
            let chess960 = epd::position(line, true).unwrap();
            assert_eq!(key_of(&chess960), key_of(&position), "{line}");
        }
    }
}
