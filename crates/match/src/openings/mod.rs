//! Opening books: EPD, FEN or PGN, plain, compressed or in a ZIP archive.
//!
//! The seed alone decides a random order, so pair `i` of a test always starts from the same opening. After
//! the last opening the first comes again; for deterministic players, with two random moves added.

mod archive;
mod epd;
mod games;
mod mersenne;
mod vary;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use shakmaty::{Chess, Position};

use super::game::ending;
use crate::message_error::message_error;
use patzer_chess::Line;
use patzer_chess::rng::{Rng, mix};
use patzer_io as io;
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Built-in book; its header says how it was made.
const EMBEDDED: &[u8] = include_bytes!("book.epd");

const EMBEDDED_NAME: &str = "built-in book";

#[derive(Debug, Clone)]
pub struct Openings {
    positions: Vec<Chess>,
    digest: String,
    seed: u64,
    first: usize,
    as_is: bool,
    bad: Option<BadOpenings>,
}

/// Openings of a book that cannot be read and are left out.
#[derive(Debug, Clone)]
pub struct BadOpenings {
    pub count: usize,
    /// Place and reason.
    pub first: String,
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
        let mut openings = match options.path {
            Some(path) => Openings::parse(io::read_as(path, limit_of)?, path, options)?,
            None => Openings::parse(EMBEDDED.to_vec(), Path::new(EMBEDDED_NAME), options)?,
        };
        if options.start > openings.len() && !options.as_is {
            let (start, most) = (options.start, openings.len());
            return Err(Error::usage(format!("opening {start} does not exist: the book has {most}")));
        }
        match options.order {
            Order::Random => Rng::new(options.seed).shuffle(&mut openings.positions),
            Order::Fastchess => mersenne::shuffle(&mut openings.positions, options.seed),
            Order::Sequential => {}
        }
        if let Some(most) = options.most {
            let first = std::mem::take(&mut openings.first) % openings.len();
            openings.positions.rotate_left(first);
            openings.positions.truncate(most.max(1));
        }
        Ok(openings)
    }

    fn parse(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<Openings> {
        let digest = format!("{:x}", Sha256::digest(&bytes));
        let bytes = if archive::is_zip(&bytes) { archive::only_file(&bytes, path)? } else { bytes };
        let read = positions(bytes, path, options)?;
        let (mut positions, mut bad) = (Vec::with_capacity(read.len()), Vec::new());
        for position in read {
            match position {
                Ok(position) => positions.push(position),
                Err(error) => bad.push(error),
            }
        }
        let count = bad.len();
        let first = bad.into_iter().next();
        if positions.is_empty() {
            return Err(first.unwrap_or_else(|| Error::data(path, "holds no opening")));
        }
        let BookOptions { seed, start, as_is, .. } = options;
        if !as_is {
            let mut seen = HashSet::with_capacity(positions.len());
            positions.retain(|position| seen.insert(position.clone()));
        }
        let bad = first.map(|first| BadOpenings { count, first: first.to_string() });
        Ok(Openings { positions, digest, seed, first: start.saturating_sub(1), as_is, bad })
    }

    /// A book of the start position alone, for every game.
    pub fn start_position() -> Openings {
        let (positions, digest) = (vec![Chess::default()], "start position".to_string());
        Openings { positions, digest, seed: 0, first: 0, as_is: true, bad: None }
    }

    /// Openings that were left out because they cannot be read.
    pub fn bad(&self) -> Option<&BadOpenings> {
        self.bad.as_ref()
    }

    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Opening of a pair; after the last, the first again, with two random moves if `vary`.
    pub fn get(&self, pair: usize, vary: bool) -> Chess {
        let opening = self.positions[(self.first + pair) % self.positions.len()].clone();
        if !vary || self.as_is || pair < self.positions.len() {
            return opening;
        }
        let mut rng = Rng::new(mix(self.seed, pair as u64));
        vary::random_moves(&opening, &mut rng).unwrap_or(opening)
    }

    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// Books are text or archives, which do not begin with NUL.
fn limit_of(head: &[u8]) -> Option<Limit> {
    (head.first() != Some(&0)).then_some(Limit::BOOK)
}

/// Reads a book; one opening that needs Chess960 castling rules applies them to all.
fn positions(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<Vec<Result<Chess>>> {
    let bytes = match bytes.strip_prefix("\u{feff}".as_bytes()) {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%");
    let first = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(is_text);
    Ok(match first {
        None => Vec::new(),
        Some(line) if line.starts_with(b"[") || line.starts_with(b"1.") => {
            games::positions(bytes, path, options.plies)
        }
        Some(_) => {
            let text = std::str::from_utf8(&bytes)
                .map_err(|e| Error::at(path, format!("byte {}", e.valid_up_to()), "is not UTF-8 text"))?;
            let positions = epd::positions(text, path, options.chess960);
            let needed = positions.iter().flatten().any(|position| position.castles().mode().is_chess960());
            if needed && !options.chess960 { epd::positions(text, path, true) } else { positions }
        }
    })
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
    use shakmaty::{EnPassantMode, fen::Fen};

    fn parse(text: &str) -> Result<Openings> {
        Openings::parse(text.as_bytes().to_vec(), Path::new("book"), BookOptions::default())
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
        assert!(parse(good).unwrap().bad().is_none());
        for (text, says) in [("", "no opening"), ("# nothing\n", "no opening"), ("\njunk\nmore\n", "line 2")]
        {
            let error = parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 1);
            assert!(error.to_string().contains(says), "{error}");
        }
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
