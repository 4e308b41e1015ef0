//! Polyglot books (`.bin`): moves with weights by position.
//!
//! Entries have 16 bytes, big-endian: key, move, weight, and 4 bytes of learning data that nobody reads. Keys are those
//! of shakmaty's Zobrist hash, with an en passant file only where a pawn stands ready to capture. Castling is written
//! as king takes rook, in some books as the king's two steps.
//!
//! Source: Michel Van den Bergh, "Polyglot book format" (hgm.nubati.net/book_format.html).

use std::collections::{HashMap, HashSet};
use std::path::Path;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, File, Move, Position, Rank, Role, Square};

use super::opening::{Opening, OpeningError, playable};
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

const ENTRY: usize = 16;

#[derive(Debug)]
pub struct Polyglot {
    /// Sorted by key; equal keys in the order of the file.
    entries: Vec<BookEntry>,
}

#[derive(Debug, Clone, Copy)]
struct BookEntry {
    key: u64,
    code: u16,
    weight: u16,
    /// From 1, in the file.
    number: u32,
}

/// An opening of a book, or why it cannot be played.
pub(super) struct BookLine {
    /// Number of the last entry that leads here.
    pub number: u32,
    pub opening: std::result::Result<Opening, OpeningError>,
    /// Chance that both sides play it by the weights.
    pub share: f64,
}

/// Tests whether the name is that of a Polyglot book, compressed or not.
pub(super) fn is_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".bz2", ".zst"].iter().find_map(|ending| name.strip_suffix(ending));
    packed.unwrap_or(&name).ends_with(".bin")
}

impl Polyglot {
    /// Reads a book, also a compressed one; returns it with the SHA-256 of its bytes.
    pub fn load(path: &Path) -> Result<(Polyglot, String)> {
        let bytes = patzer_io::read_as(path, |_| Some(Limit::BOOK))?;
        Ok((Polyglot::parse(&bytes, path)?, patzer_io::sha256(&bytes)))
    }

    pub fn key(position: &Chess) -> u64 {
        position.zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal).0
    }

    pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Polyglot> {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() || entries.is_empty() {
            let reason =
                format!("is no Polyglot book: {} bytes are not whole entries of {ENTRY}", bytes.len());
            return Err(Error::data(path, reason));
        }
        let entry = |(number, bytes): (u32, &[u8; ENTRY])| {
            let [a, b, c, d, e, f, g, h, code @ .., _, _, _, _] = *bytes;
            let [code, code_low, weight, weight_low] = code;
            BookEntry {
                key: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                code: u16::from_be_bytes([code, code_low]),
                weight: u16::from_be_bytes([weight, weight_low]),
                number,
            }
        };
        let mut entries: Vec<BookEntry> = (1..).zip(entries).map(entry).collect();
        entries.sort_by_key(|entry| entry.key);
        Ok(Polyglot { entries })
    }

    /// Legal moves of the position with weights above 0, in the order of the book.
    pub fn moves(&self, position: &Chess) -> Vec<(Move, u16)> {
        let found = self.found(position).iter().filter(|entry| entry.weight > 0);
        found.filter_map(|entry| Some((move_of(entry.code, position)?, entry.weight))).collect()
    }

    fn found(&self, position: &Chess) -> &[BookEntry] {
        let key = Polyglot::key(position);
        let begin = self.entries.partition_point(|entry| entry.key < key);
        let count = self.entries[begin..].iter().take_while(|entry| entry.key == key).count();
        &self.entries[begin..begin + count]
    }

    /// Positions where the book ends or after `plies` plies, from the start position, each once; the likely ones first.
    pub(super) fn lines(&self, plies: Option<u32>) -> Vec<BookLine> {
        let start = Opening::from_position(Chess::default());
        let mut layer = vec![BookLine { number: 1, opening: Ok(start), share: 1.0 }];
        let (mut seen, mut ends) = (HashSet::new(), Vec::new());
        for ply in 0.. {
            let mut next = NextPly::default();
            let deep = plies.is_some_and(|plies| ply >= plies);
            for line in layer {
                let Ok(opening) = &line.opening else {
                    ends.push(line);
                    continue;
                };
                // A position that an earlier ply had is not followed twice: books may go in circles.
                let known = !seen.insert(opening.position.clone());
                let sum: f64 =
                    self.found(&opening.position).iter().map(|entry| f64::from(entry.weight)).sum();
                if sum > 0.0 && !deep && !known {
                    self.follow(&line, opening, sum, &mut next);
                } else if !known && !opening.moves.is_empty() {
                    let opening = playable(opening.position.clone()).map(|_| opening.clone());
                    ends.push(BookLine { opening, ..line });
                }
            }
            layer = next.lines;
            if layer.is_empty() {
                break;
            }
        }
        ends.sort_by(|a, b| b.share.total_cmp(&a.share));
        ends
    }

    fn follow(&self, line: &BookLine, opening: &Opening, sum: f64, next: &mut NextPly) {
        for entry in self.found(&opening.position).iter().filter(|entry| entry.weight > 0) {
            let share = line.share * f64::from(entry.weight) / sum;
            let Some(m) = move_of(entry.code, &opening.position) else {
                let reason = format!("{} is not legal in its position", square_names(entry.code));
                next.lines.push(BookLine { number: entry.number, opening: Err(OpeningError(reason)), share });
                continue;
            };
            let mut after = opening.clone();
            after.position.play_unchecked(m);
            after.moves.push(m);
            match next.index.get(&after.position) {
                Some(&at) => next.lines[at].share += share,
                None => {
                    next.index.insert(after.position.clone(), next.lines.len());
                    next.lines.push(BookLine { number: entry.number, opening: Ok(after), share });
                }
            }
        }
    }
}

/// Positions one ply further, transpositions merged.
#[derive(Default)]
struct NextPly {
    lines: Vec<BookLine>,
    index: HashMap<Chess, usize>,
}

fn squares(code: u16) -> [Square; 2] {
    let square =
        |bits: u16| Square::from_coords(File::new(u32::from(bits & 7)), Rank::new(u32::from(bits >> 3 & 7)));
    [square(code >> 6), square(code)]
}

fn square_names(code: u16) -> String {
    let [from, to] = squares(code);
    format!("{from}{to}")
}

fn move_of(code: u16, position: &Chess) -> Option<Move> {
    let [from, to] = squares(code);
    let promotion = match code >> 12 {
        0 => None,
        1 => Some(Role::Knight),
        2 => Some(Role::Bishop),
        3 => Some(Role::Rook),
        4 => Some(Role::Queen),
        _ => return None,
    };
    let standard = position.castles().mode() == CastlingMode::Standard;
    position.legal_moves().into_iter().find(|m| match *m {
        Move::Castle { king, rook } => {
            let goal = Square::from_coords(if king < rook { File::G } else { File::C }, king.rank());
            king == from && promotion.is_none() && (rook == to || standard && goal == to)
        }
        _ => m.from() == Some(from) && m.to() == to && m.promotion() == promotion,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::san::San;
    use shakmaty::uci::UciMove;

    const BOOK: &[u8] = include_bytes!("../../../../fixtures/polyglot.bin");

    fn book(bytes: &[u8]) -> Polyglot {
        Polyglot::parse(bytes, Path::new("b.bin")).unwrap()
    }

    fn after(moves: &str) -> Chess {
        let mut position = Chess::default();
        for word in moves.split_whitespace() {
            let m = word.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
        }
        position
    }

    /// An entry for a position reached by moves: move code and weight.
    fn entry(moves: &str, code: u16, weight: u16) -> Vec<u8> {
        [&Polyglot::key(&after(moves)).to_be_bytes()[..], &code.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]]
            .concat()
    }

    fn code(from: &str, to: &str) -> u16 {
        let of = |name: &str| u16::from(u8::from(name.parse::<Square>().unwrap()));
        of(from) << 6 | of(to)
    }

    #[test]
    fn keys_are_those_of_the_published_examples() {
        for (moves, key) in [
            ("", 0x463b96181691fc9c),
            ("e2e4", 0x823c9b50fd114196),
            ("e2e4 d7d5", 0x0756b94461c50fb0),
            ("e2e4 d7d5 e4e5", 0x662fafb965db29d4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22a48b5a8e47ff78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a607ca3f242c1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fdd303c946bdd9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c8123ea7b067637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f9b829b279560),
        ] {
            assert_eq!(Polyglot::key(&after(moves)), key, "{moves}");
        }
    }

    /// The dump was written by `polyglot dump-book` 2.0.4: White plays the book's moves, Black any.
    #[test]
    fn moves_and_their_shares_are_those_that_polyglot_dumps() {
        let (book, mut compared) = (book(BOOK), 0);
        for line in include_str!("../../../../fixtures/polyglot_white.txt").lines().skip(1) {
            let mut position = Chess::default();
            for word in line.split_whitespace().skip(1).filter(|word| !word.ends_with('.')) {
                let (san, share) = word.split_once('{').unwrap_or((word, ""));
                if san.is_empty() {
                    break;
                }
                let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
                if let Some(percent) = share.strip_suffix("%}") {
                    let moves = book.moves(&position);
                    let sum: f64 = moves.iter().map(|(_, weight)| f64::from(*weight)).sum();
                    let weight = moves.iter().find(|(other, _)| *other == m).unwrap().1;
                    let shown: f64 = percent.parse().unwrap();
                    assert!((100.0 * f64::from(weight) / sum - shown).abs() < 1.0, "{line}");
                    compared += 1;
                }
                position.play_unchecked(m);
            }
        }
        assert_eq!(compared, 291, "all moves of White in the dump");
    }

    #[test]
    fn openings_are_the_ends_of_the_books_lines_the_likely_first() {
        let book = book(BOOK);
        let lines = book.lines(None);
        assert!(lines.len() > 50 && lines.iter().all(|line| line.opening.is_ok()));
        assert!((lines.iter().map(|line| line.share).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(lines.is_sorted_by(|a, b| a.share >= b.share));
        let positions: HashSet<&Chess> =
            lines.iter().map(|line| &line.opening.as_ref().unwrap().position).collect();
        assert_eq!(positions.len(), lines.len());
        assert!(positions.iter().all(|position| book.moves(position).is_empty()));
        let two = book.lines(Some(2));
        assert!(two.iter().all(|line| line.opening.as_ref().unwrap().moves.len() <= 2));
        assert!(two.len() < lines.len());
    }

    #[test]
    fn castling_is_read_in_both_forms_and_circles_and_bad_moves_end() {
        let castles = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
        for to in ["h1", "g1"] {
            let book = book(&entry(castles, code("e1", to), 1));
            assert!(matches!(book.moves(&after(castles))[..], [(Move::Castle { .. }, 1)]), "{to}");
        }
        let circle = [
            entry("", code("g1", "f3"), 3),
            entry("", code("e2", "e5"), 1),
            entry("", code("e2", "e4"), 0),
            entry("g1f3", code("g8", "f6"), 1),
            entry("g1f3 g8f6", code("f3", "g1"), 1),
            entry("g1f3 g8f6 f3g1", code("f6", "g8"), 1),
        ];
        let book = book(&circle.concat());
        let lines = book.lines(None);
        let [bad] = &lines[..] else { panic!("{} lines", lines.len()) };
        let OpeningError(reason) = bad.opening.as_ref().unwrap_err();
        assert_eq!((bad.number, reason.as_str(), bad.share), (2, "e2e5 is not legal in its position", 0.25));
        assert_eq!(book.lines(Some(3)).len(), 2);
        assert!(Polyglot::parse(&circle.concat()[..90], Path::new("b.bin")).is_err());
        assert!(Polyglot::parse(&[], Path::new("b.bin")).is_err());
    }
}
