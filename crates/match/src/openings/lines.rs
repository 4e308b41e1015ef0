//! Index of a book of EPD or FEN lines: where they begin, and which of them repeat an earlier position.
//!
//! Most lines have one way to write their position, so that equal text is equal position and no line has to be
//! parsed. The others, such as those with an en passant square, are parsed and written again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::opening::{OpeningError, parse_line};
use patzer_chess::rng::mix;
use patzer_io::error::{Error, Result};

#[derive(Debug)]
pub(super) struct Lines {
    text: Arc<String>,
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

/// Key of a line in the index.
enum Key {
    /// Hash of the position's only text.
    Plain(u64),
    /// A line that has to be parsed.
    Other,
}

impl Lines {
    /// Finds the lines of a book, and the indices of those to play; one that needs Chess960 castling rules applies them
    /// to all.
    ///
    /// The first line begins at `start`.
    pub fn index(
        text: Arc<String>,
        start: usize,
        path: &Path,
        chess960: bool,
        repeats: bool,
    ) -> (Lines, Vec<u32>) {
        let mut lines = Vec::with_capacity(text.len() / 64);
        let ends = memchr::memchr_iter(b'\n', &text.as_bytes()[start..]).map(|end| start + end + 1);
        let mut byte = start;
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

    pub fn len(&self) -> usize {
        self.lines.len()
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
        let position = parse_line(self.line(at), self.chess960);
        let place = || format!("line {}", self.lines[at].number);
        position.map_err(|OpeningError(reason)| Error::at(&self.path, place(), reason))
    }
}

fn key(line: &str) -> Key {
    let mut spaces = memchr::memchr_iter(b' ', line.as_bytes());
    let Some([a, b, c]) = spaces.next().zip(spaces.next()).zip(spaces.next()).map(|((a, b), c)| [a, b, c])
    else {
        return Key::Other;
    };
    let (board, turn, castling) = (&line[..a], &line[a + 1..b], &line[b + 1..c]);
    let no_ep_square = line[c..] == *" -" || line[c..].starts_with(" - ");
    if matches!(turn, "w" | "b") && no_ep_square && is_plain(board, castling) {
        Key::Plain(hash(&line[..c + 2]))
    } else {
        Key::Other
    }
}

fn key_of(position: &Chess) -> u64 {
    let text = Fen::from_position(position, EnPassantMode::Legal).to_string();
    let counters = text.rmatch_indices(' ').nth(1).map_or(text.len(), |(at, _)| at);
    hash(&text[..counters])
}

fn hash(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(text.len() as u64, mix)
}

/// Squares that a byte of the board takes, and 16 if it is a digit; 64 for a byte that has no place there.
const BYTES: [u8; 256] = {
    let mut table = [64; 256];
    let (mut at, pieces) = (0, *b"pnbrqkPNBRQK/");
    while at < pieces.len() {
        table[pieces[at] as usize] = 1;
        at += 1;
    }
    table[b'/' as usize] = 0;
    let mut digit = 1;
    while digit <= 8 {
        table[(b'0' + digit) as usize] = 16 | digit;
        digit += 1;
    }
    table
};

/// Tests whether board and castling rights can be written in this way alone: eight whole ranks, and rights in the
/// usual order that the board supports by the rules of standard chess.
fn is_plain(board: &str, castling: &str) -> bool {
    let mut squares = [0; 64];
    let (mut at, mut end, mut wrong, mut last_digit) = (0, 8, board.len() > 71, 0);
    // Without branches, which could not be predicted.
    for &byte in board.as_bytes() {
        let what = BYTES[usize::from(byte)];
        let (digit, slash) = (what & 16, byte == b'/');
        squares[at & 63] = byte;
        wrong |= (what == 64) | (digit & last_digit != 0) | (slash & (at != end));
        at += usize::from(what & 15);
        end += 8 * usize::from(slash);
        wrong |= at > end;
        last_digit = digit;
    }
    if wrong || at != 64 || end != 64 {
        return false;
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
    castling == "-" || !castling.is_empty() && in_order && castling.chars().all(supported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::epd;

    #[test]
    fn a_text_is_plain_if_the_position_has_no_other() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        for (board, castling, plain) in [
            (START, "KQkq", true),
            (START, "Kq", true),
            (START, "-", true),
            (START, "kQ", false),
            (START, "KK", false),
            (START, "", false),
            (START, "HAha", false),
            ("rnbqkbnr/pppppppp/44/8/8/8/PPPPPPPP/RNBQKBNR", "KQkq", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP", "-", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8", "-", false),
            ("rnbqkbnr/ppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR", "-", false),
            ("rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPPP/RNBQKBNR", "-", false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR~", "-", false),
            ("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR", "KQkq", false),
            ("4k3/8/8/8/8/8/8/4K3", "K", false),
            ("4k3/8/8/8/8/8/8/4K3/", "-", false),
            ("4k3/8/8/8/8/8//84K3", "-", false),
            ("rnbqkbnrpppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "-", false),
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
