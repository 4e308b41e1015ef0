//! Opening books: EPD, FEN or PGN, plain, compressed or in a ZIP archive.
//!
//! The seed alone decides a random order, so pair `i` of a test always starts from the same opening. After
//! the last opening the first comes again; for deterministic players, with two random moves added.
//!
//! A large book of lines is indexed, and a line is parsed when it is drawn.

mod archive;
mod epd;
mod games;
mod lines;
mod mersenne;
mod vary;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use shakmaty::Chess;

use super::game::ending;
use crate::message_error::message_error;
use lines::Lines;
use patzer_chess::Line;
use patzer_chess::rng::{Rng, mix};
use patzer_io as io;
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Built-in book; its header says how it was made.
const EMBEDDED: &[u8] = include_bytes!("book.epd");

const EMBEDDED_NAME: &str = "built-in book";

/// Openings up to which a book is parsed when it is loaded, so that bad ones are named at once.
const SMALL: usize = 4096;

#[derive(Debug)]
pub struct Openings {
    book: Book,
    /// Indices into the book in the order of play.
    order: Vec<u32>,
    drawn: Mutex<Drawn>,
    digest: String,
    seed: u64,
    as_is: bool,
}

#[derive(Debug)]
enum Book {
    Positions(Vec<Chess>),
    Lines(Lines),
}

/// Openings parsed so far.
#[derive(Debug, Default)]
struct Drawn {
    positions: Vec<Chess>,
    /// Place in the order of the next opening to parse.
    next: usize,
    bad: Option<BadOpenings>,
    /// Bad openings that [`Openings::newly_bad`] has returned.
    reported: usize,
}

/// Openings of a book that cannot be read and are left out.
#[derive(Debug, Clone)]
pub struct BadOpenings {
    pub count: usize,
    /// Place and reason.
    pub first: String,
    /// Place and reason.
    pub last: String,
}

/// Order of a book
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Shuffled by the seed.
    Random,
    /// Shuffled by the seed as fastchess shuffles it.
    Fastchess,
    /// As in the file.
    Sequential,
}

#[derive(Debug, Clone, Copy)]
pub struct BookOptions<'a> {
    pub path: Option<&'a Path>,
    pub order: Order,
    /// Seeds the order, and the moves added after the last opening.
    pub seed: u64,
    pub start: usize,
    /// Position of a PGN game after this many plies; `None` for its last one.
    pub plies: Option<u32>,
    /// Apply Chess960 castling rules to standard positions too.
    pub chess960: bool,
    /// Keep repeated openings, and begin again after the last without random moves, as fastchess does.
    pub as_is: bool,
    /// Use so many openings alone, from the first on.
    pub most: Option<usize>,
}

impl Default for BookOptions<'_> {
    fn default() -> Self {
        let (path, order, plies) = (None, Order::Random, None);
        BookOptions { path, order, seed: 0, start: 1, plies, chess960: false, as_is: false, most: None }
    }
}

impl Openings {
    pub fn load(options: BookOptions<'_>) -> Result<Openings> {
        match options.path {
            Some(path) => Openings::parse(io::read_as(path, limit_of)?, path, options),
            None => Openings::parse(EMBEDDED.to_vec(), Path::new(EMBEDDED_NAME), options),
        }
    }

    fn parse(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<Openings> {
        let BookOptions { seed, start, as_is, .. } = options;
        let ReadBook { book, order, bad, digest } = if archive::is_zip(&bytes) {
            let digest = Sha256::digest(&bytes);
            ReadBook { digest, ..read_book(archive::only_file(&bytes, path)?, path, options)? }
        } else {
            read_book(bytes, path, options)?
        };
        let mut order = order;
        if start > order.len().max(1) && !as_is {
            let most = order.len();
            return Err(Error::usage(format!("opening {start} does not exist: the book has {most}")));
        }
        match options.order {
            Order::Random => Rng::new(seed).shuffle(&mut order),
            Order::Fastchess => mersenne::shuffle(&mut order, seed),
            Order::Sequential => {}
        }
        if !order.is_empty() {
            let first = start.saturating_sub(1) % order.len();
            order.rotate_left(first);
        }
        order.truncate(options.most.unwrap_or(order.len()).max(1));
        let drawn = Mutex::new(Drawn { bad, ..Drawn::default() });
        let openings = Openings { book, order, drawn, digest: format!("{digest:x}"), seed, as_is };
        let mut drawn = openings.drawn();
        openings.draw(&mut drawn, if openings.order.len() <= SMALL { usize::MAX } else { 1 });
        match (&drawn.positions[..], &drawn.bad) {
            ([], Some(bad)) => Err(Error::input(bad.first.clone())),
            ([], None) => Err(Error::data(path, "holds no opening")),
            _ => {
                drop(drawn);
                Ok(openings)
            }
        }
    }

    /// A book of the start position alone, for every game.
    pub fn start_position() -> Openings {
        let (positions, digest) = (vec![Chess::default()], "start position".to_string());
        let drawn = Mutex::default();
        Openings { book: Book::Positions(positions), order: vec![0], drawn, digest, seed: 0, as_is: true }
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses openings in their order until there are so many, or no more.
    fn draw(&self, drawn: &mut Drawn, enough: usize) {
        let read = |&index: &u32| match &self.book {
            Book::Positions(positions) => Ok(positions[index as usize].clone()),
            Book::Lines(lines) => lines.position(index as usize),
        };
        while drawn.positions.len() < enough && drawn.next < self.order.len() {
            let missing = enough - drawn.positions.len();
            let until = drawn.next.saturating_add(missing).min(self.order.len());
            let next = &self.order[std::mem::replace(&mut drawn.next, until)..until];
            let positions: Vec<_> = next.par_iter().with_min_len(1024).map(read).collect();
            for position in positions {
                match position {
                    Ok(position) => drawn.positions.push(position),
                    Err(error) => drawn.add_bad(error.to_string()),
                }
            }
        }
    }

    /// Parses the whole book, so that its length and its bad openings are known.
    pub fn read_all(&self) {
        self.draw(&mut self.drawn(), usize::MAX);
    }

    /// Openings found so far that are left out because they cannot be read.
    pub fn bad(&self) -> Option<BadOpenings> {
        let mut drawn = self.drawn();
        drawn.reported = drawn.bad.as_ref().map_or(0, |bad| bad.count);
        drawn.bad.clone()
    }

    /// The last of the bad openings found since the last call of this or of [`Openings::bad`], and how many they are.
    pub fn newly_bad(&self) -> Option<(String, usize)> {
        let mut drawn = self.drawn();
        let bad = drawn.bad.as_ref().filter(|bad| bad.count > drawn.reported)?;
        let (last, count) = (bad.last.clone(), bad.count);
        Some((last, count - std::mem::replace(&mut drawn.reported, count)))
    }

    /// Number of openings, less those found to be bad.
    pub fn len(&self) -> usize {
        let drawn = self.drawn();
        drawn.positions.len() + self.order.len() - drawn.next
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Opening of a pair; after the last, the first again, with two random moves if `vary`.
    pub fn get(&self, pair: usize, vary: bool) -> Chess {
        let mut drawn = self.drawn();
        self.draw(&mut drawn, pair.saturating_add(1));
        let count = drawn.positions.len();
        let opening = drawn.positions[pair % count].clone();
        drop(drawn);
        if !vary || self.as_is || pair < count {
            return opening;
        }
        let mut rng = Rng::new(mix(self.seed, pair as u64));
        vary::random_moves(&opening, &mut rng).unwrap_or(opening)
    }

    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl Drawn {
    fn add_bad(&mut self, text: String) {
        let bad = self.bad.get_or_insert_with(|| BadOpenings {
            count: 0,
            first: text.clone(),
            last: String::new(),
        });
        bad.count += 1;
        bad.last = text;
    }
}

/// Books are text or archives, which do not begin with NUL.
fn limit_of(head: &[u8]) -> Option<Limit> {
    (head.first() != Some(&0)).then_some(Limit::BOOK)
}

struct ReadBook {
    book: Book,
    /// Openings that repeat none before them, in the order of the file.
    order: Vec<u32>,
    bad: Option<BadOpenings>,
    digest: sha2::digest::Output<Sha256>,
}

fn read_book(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<ReadBook> {
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    let start = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%");
    let first = bytes[start..].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(is_text);
    if !first.is_some_and(|line| line.starts_with(b"[") || line.starts_with(b"1.")) {
        let text = String::from_utf8(bytes).map_err(|e| {
            Error::at(path, format!("byte {}", e.utf8_error().valid_up_to()), "is not UTF-8 text")
        })?;
        let text = Arc::new(text);
        let index = || Lines::index(text.clone(), start, path, options.chess960, options.as_is);
        let (digest, (lines, order)) = rayon::join(|| Sha256::digest(text.as_bytes()), index);
        return Ok(ReadBook { book: Book::Lines(lines), order, bad: None, digest });
    }
    let digest = Sha256::digest(&bytes);
    let (mut positions, mut drawn) = (Vec::new(), Drawn::default());
    for position in games::positions(bytes[start..].to_vec(), path, options.plies) {
        match position {
            Ok(position) => positions.push(position),
            Err(error) => drawn.add_bad(error.to_string()),
        }
    }
    let mut seen = HashSet::with_capacity(positions.len());
    let kept = (0..positions.len()).filter(|&at| options.as_is || seen.insert(&positions[at]));
    let order = kept.map(|at| at as u32).collect();
    Ok(ReadBook { book: Book::Positions(positions), order, bad: drawn.bad, digest })
}

message_error!(OpeningError);

fn playable(position: Chess) -> std::result::Result<Chess, OpeningError> {
    match ending(&Line::new(position.clone())) {
        None => Ok(position),
        Some(_) => Err(OpeningError("the game is over in this position".into())),
    }
}

pub fn book_name(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| EMBEDDED_NAME.to_string(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{EnPassantMode, Position, fen::Fen};

    fn parse(text: &str) -> Result<Openings> {
        let options = BookOptions { order: Order::Sequential, ..BookOptions::default() };
        Openings::parse(text.as_bytes().to_vec(), Path::new("book"), options)
    }

    fn fen_of(position: &Chess) -> String {
        Fen::from_position(position, EnPassantMode::Legal).to_string()
    }

    #[test]
    fn epd_and_fen_lines_are_read() {
        let book = parse(
            "# a comment\n\
             rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n\n\
             4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 3; fmvn 40; id \"x\";\n\
             4k3/8/8/8/8/8/4R3/4K3 b - - 7 50\n",
        )
        .unwrap();
        let fens: Vec<String> = (0..3).map(|i| fen_of(&book.get(i, false))).collect();
        assert_eq!(fens[0], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(fens[1], "4k3/8/8/8/8/8/4P3/4K3 w - - 3 40");
        assert_eq!(fens[2], "4k3/8/8/8/8/8/4R3/4K3 b - - 7 50");
        assert_eq!(book.get(3, false), book.get(0, false), "after the last the first comes again");
    }

    #[test]
    fn pgn_games_end_in_the_opening() {
        let book = parse("[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"b\"]\n\n1. d4 *\n").unwrap();
        assert_eq!(book.len(), 2);
        assert_eq!(
            fen_of(&book.get(0, false)),
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
        );
    }

    #[test]
    fn a_bad_line_is_named_and_left_out_and_a_book_of_bad_lines_is_an_error() {
        let good = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
        for (text, place) in [
            (format!("{good}\njunk\n"), "line 3"),
            (format!("{good}4k3/8/8/8/8/8/8/8 w - -\n"), "line 2"),
            (format!("{good}7k/6Q1/6K1/8/8/8/8/8 b - -\n"), "line 2: the game is over"),
            ("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. e5 *\n".to_string(), "game 2"),
            (
                "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. e4 xx 2. d4 *\n".to_string(),
                "game 2, line 5: cannot read `xx`",
            ),
        ] {
            let book = parse(&text).unwrap();
            let bad = book.bad().unwrap();
            assert_eq!((book.len(), bad.count), (1, 1));
            assert!(bad.first.contains(place), "{bad:?}");
        }
        let book = parse(good).unwrap();
        assert!(book.bad().is_none() && book.newly_bad().is_none());
        for (text, says) in [("", "no opening"), ("# nothing\n", "no opening"), ("\njunk\nmore\n", "line 2")]
        {
            let error = parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 1);
            assert!(error.to_string().contains(says), "{error}");
        }
    }

    /// A book of this many lines; the bad ones have no kings.
    fn large(lines: usize, is_bad: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut text = String::new();
        for line in 0..lines {
            let kings = if is_bad(line) { "8" } else { "4k2K" };
            text += &format!("{kings}/8/8/8/8/8/P7/8 w - - hmvc 0; fmvn {};\n", line + 1);
        }
        text.into_bytes()
    }

    fn number(position: &Chess) -> u32 {
        position.fullmoves().get()
    }

    #[test]
    fn lines_of_a_large_book_are_parsed_when_they_are_drawn_and_bad_ones_are_skipped() {
        let options =
            BookOptions { order: Order::Sequential, start: 3, as_is: true, ..BookOptions::default() };
        let count = SMALL + 100;
        let text = large(count, |line| line == 4 || line == 6 || line + 1 == count);
        let book = Openings::parse(text.clone(), Path::new("book"), options).unwrap();
        assert!(book.bad().is_none(), "line 5 has not been drawn");
        assert_eq!(book.len(), count);
        let drawn: Vec<u32> = (0..4).map(|pair| number(&book.get(pair, false))).collect();
        assert_eq!(drawn, [3, 4, 6, 8]);
        let (last, new) = book.newly_bad().unwrap();
        assert!(new == 2 && last.starts_with("book: line 7: "), "{last}");
        assert_eq!((book.newly_bad(), book.len()), (None, count - 2));
        assert!(book.bad().unwrap().first.starts_with("book: line 5: "));
        // After the last comes the first, whether drawn one by one or at once.
        let whole = Openings::parse(text, Path::new("book"), options).unwrap();
        whole.read_all();
        assert_eq!(whole.len(), count - 3);
        for pair in [count - 4, count - 3, 2 * count, 5, 1] {
            assert_eq!(book.get(pair, false), whole.get(pair, false), "{pair}");
        }
        assert_eq!((number(&book.get(count - 4, false)), number(&book.get(count - 3, false))), (2, 3));
    }

    #[test]
    fn a_book_in_the_order_of_a_seed_begins_as_its_parsed_positions_would() {
        let text = large(SMALL + 1, |_| false);
        for (order, shuffle) in [
            (Order::Random, (|items, seed| Rng::new(seed).shuffle(items)) as fn(&mut [u32], u64)),
            (Order::Fastchess, |items, seed| mersenne::shuffle(items, seed)),
        ] {
            let options = BookOptions { order, seed: 9, start: 2, as_is: true, ..BookOptions::default() };
            let book = Openings::parse(text.clone(), Path::new("book"), options).unwrap();
            let mut numbers: Vec<u32> = (1..=SMALL as u32 + 1).collect();
            shuffle(&mut numbers, 9);
            let drawn: Vec<u32> = (0..50).map(|pair| number(&book.get(pair, false))).collect();
            assert_eq!(drawn, numbers[1..51]);
        }
    }

    #[test]
    fn repeated_positions_are_dropped_however_they_are_written() {
        let book = parse(
            "4k2r/8/8/8/4P3/8/8/4K2R b Kk e3 0 1\n\
             4k2r/8/8/8/4P3/8/8/4K2R b Kk -\n\
             4k2r/8/8/8/4P3/8/8/4K2R  b  kK - hmvc 3;\n\
             4k2r/8/8/8/11P3/8/8/4K2R b Kk -\n\
             4k2r/8/8/8/4P3/8/8/4K2R b k -\n\
             4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1\n\
             4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1\n",
        )
        .unwrap();
        let fens: Vec<String> = (0..book.len()).map(|pair| fen_of(&book.get(pair, false))).collect();
        assert_eq!(book.bad().map(|bad| bad.count), Some(1));
        assert_eq!(fens.len(), 4, "{fens:?}");
    }

    #[test]
    fn the_seed_alone_decides_the_order() {
        let order = |seed| {
            let book = Openings::load(BookOptions { seed, ..BookOptions::default() }).unwrap();
            (0..20).map(|i| book.get(i, false).clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn the_built_in_book_is_balanced_in_material_and_playable() {
        let book =
            Openings::load(BookOptions { order: Order::Sequential, ..BookOptions::default() }).unwrap();
        assert!(book.len() >= 500);
        for i in 0..book.len() {
            assert!(!book.get(i, false).is_check());
        }
    }

    #[test]
    fn a_second_round_through_the_book_begins_from_other_positions() {
        let book = Openings::load(BookOptions { seed: 5, ..BookOptions::default() }).unwrap();
        let mut seen = HashSet::new();
        for pair in 0..3 * book.len() {
            let position = book.get(pair, true);
            assert!(!position.legal_moves().is_empty());
            seen.insert(position.clone());
            assert_eq!(position, book.get(pair, true), "always the same for a pair");
        }
        assert!(seen.len() * 100 > 3 * book.len() * 98, "{} of {}", seen.len(), 3 * book.len());
        assert_eq!(book.get(book.len() + 3, false), book.get(3, false));
    }

    #[test]
    fn a_book_as_it_is_keeps_repeats_and_begins_again_unchanged() {
        let line = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
        let text = format!("{line}{line}4k3/8/8/8/8/8/4P3/4K3 w - -\n");
        let options = BookOptions { as_is: true, start: 5, ..BookOptions::default() };
        let book = Openings::parse(text.into_bytes(), Path::new("book"), options).unwrap();
        assert_eq!(book.len(), 3);
        assert_eq!(book.get(0, true), book.get(3, true));
        assert_eq!(book.get(2, true), book.get(3, true), "the first two are the same");
        let start = Openings::start_position();
        assert_eq!((start.len(), start.get(7, true)), (1, Chess::default()));
    }

    #[test]
    fn a_game_can_be_left_after_so_many_plies() {
        let text = "[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n".to_string().into_bytes();
        let after = |plies| {
            let options = BookOptions { plies: Some(plies), ..BookOptions::default() };
            fen_of(&Openings::parse(text.clone(), Path::new("book"), options).unwrap().get(0, false))
        };
        assert_eq!(after(1), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        assert_eq!(after(3), after(40), "a shorter game ends in the opening");
    }

    #[test]
    fn the_first_pair_begins_where_it_is_told() {
        let from =
            |start| Openings::load(BookOptions { start, order: Order::Sequential, ..BookOptions::default() });
        assert_eq!(from(4).unwrap().get(0, false), from(1).unwrap().get(3, false));
        let last = from(1).unwrap().len();
        assert_eq!(from(last).unwrap().get(1, false), from(1).unwrap().get(0, false));
        assert!(from(last + 1).is_err());
    }

    #[test]
    fn one_opening_of_chess960_makes_a_book_of_it() {
        let standard = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
        let book = parse(standard).unwrap();
        assert!(book.get(0, false).castles().mode().is_standard());
        let frc = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq -\n";
        let book = parse(&format!("{standard}{frc}")).unwrap();
        assert!((0..2).all(|i| book.get(i, false).castles().mode().is_chess960()));
    }
}
