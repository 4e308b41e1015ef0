//! Opening books: EPD, FEN or PGN, plain, compressed or in a ZIP archive, or a Polyglot book.
//!
//! The seed alone decides a random order, so pair `i` of a test always starts from the same opening. After the last
//! opening the first comes again; for deterministic players, with two random moves added. Openings of a Polyglot book
//! come the sooner the likelier its weights make them.
//!
//! A large book of lines is indexed, and a line is parsed when it is drawn.

mod archive;
mod book_file;
mod entries;
mod games;
mod lines;
mod mersenne;
mod opening;
mod polyglot;
mod vary;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use shakmaty::{Chess, Position};

use book_file::{begins_as_games, read, text_of};
pub use entries::entries;
use lines::Lines;
use opening::OpeningError;
pub use opening::{Entry, Opening};
use patzer_chess::rng::{Rng, mix, unit};
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::named;
pub use polyglot::Polyglot;

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
    /// Repeated openings are kept, for the order of fastchess.
    repeats: bool,
}

#[derive(Debug)]
enum Book {
    Positions(Vec<Opening>),
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

named! {
    /// Order of a book
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Order {
        Random: "random", "Shuffled by the seed";
        Fastchess: "fastchess", "Shuffled by the seed as fastchess shuffles it, repeated openings too";
        Sequential: "sequential", "As in the file";
    }
}

patzer_io::serde_as_text!(Order);

#[derive(Debug, Clone, Copy)]
pub struct BookOptions<'a> {
    pub path: Option<&'a Path>,
    pub order: Order,
    /// Seeds the order, and the moves added after the last opening.
    pub seed: u64,
    pub start: usize,
    /// Position of a game or of a Polyglot book's line after this many plies; `None` for its last one.
    pub plies: Option<u32>,
    /// Apply Chess960 castling rules to standard positions too.
    pub chess960: bool,
    /// Keep repeated openings, and begin again after the last without random moves, as fastchess does.
    pub as_is: bool,
    /// Keep the moves of games and of Polyglot lines; see [`Openings::moves_to`].
    pub moves: bool,
    /// Use only the first `most` openings.
    pub most: Option<usize>,
}

impl Default for BookOptions<'_> {
    fn default() -> Self {
        let (path, order, plies) = (None, Order::Random, None);
        let (chess960, as_is, moves, most) = (false, false, false, None);
        BookOptions { path, order, seed: 0, start: 1, plies, chess960, as_is, moves, most }
    }
}

impl Openings {
    pub fn load(options: BookOptions<'_>) -> Result<Openings> {
        match options.path {
            Some(path) => Openings::parse(read(path)?, path, options),
            None => Openings::parse(EMBEDDED.to_vec(), Path::new(EMBEDDED_NAME), options),
        }
    }

    fn parse(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<Openings> {
        let BookOptions { seed, start, as_is, .. } = options;
        let ReadBook { book, order, bad, digest, shares, repeats } = if archive::is_zip(&bytes) {
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
        match (options.order, shares) {
            (Order::Sequential, _) => {}
            (_, Some(shares)) => shuffle_by_share(&mut order, &shares, seed),
            (Order::Random, None) => Rng::new(seed).shuffle(&mut order),
            (Order::Fastchess, None) => mersenne::shuffle(&mut order, seed),
        }
        if !order.is_empty() {
            let first = start.saturating_sub(1) % order.len();
            order.rotate_left(first);
        }
        order.truncate(options.most.unwrap_or(order.len()).max(1));
        let drawn = Mutex::new(Drawn { bad, ..Drawn::default() });
        let openings = Openings { book, order, drawn, digest: format!("{digest:x}"), seed, as_is, repeats };
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
        let (positions, digest) =
            (vec![Opening::from_position(Chess::default())], "start position".to_string());
        let drawn = Mutex::default();
        let (book, order, seed) = (Book::Positions(positions), vec![0], 0);
        Openings { book, order, drawn, digest, seed, as_is: true, repeats: false }
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parses openings in their order until the wanted number is reached or the book ends.
    fn draw(&self, drawn: &mut Drawn, enough: usize) {
        let read = |&index: &u32| match &self.book {
            Book::Positions(openings) => Ok(openings[index as usize].position.clone()),
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

    /// Names the first opening that could not be read, if one could not.
    pub fn warning(&self) -> Option<String> {
        let BadOpenings { first, count, .. } = self.bad()?;
        let more = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        Some(format!("{first}{more}; left out, {} openings remain", self.len()))
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

    /// Tests whether the book repeats openings that its order keeps, as fastchess does.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Tests whether one of the first `count` openings, as far as they are parsed, is of Chess960.
    pub fn need_chess960(&self, count: usize) -> bool {
        let drawn = self.drawn();
        drawn.positions.iter().take(count).any(|position| position.castles().mode().is_chess960())
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

    /// The opening of a pair with the moves that lead to it, if the book has them and they are kept.
    pub fn moves_to(&self, pair: usize) -> Option<&Opening> {
        let Book::Positions(openings) = &self.book else { return None };
        let index = *self.order.get(pair % self.order.len().max(1))?;
        openings.get(index as usize).filter(|opening| self.as_is && !opening.moves.is_empty())
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

/// Puts openings into a random order in which the likely ones come early: weighted sampling without replacement.
///
/// Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006).
fn shuffle_by_share(order: &mut [u32], shares: &[f64], seed: u64) {
    let key = |&index: &u32| -libm::log(1.0 - unit(mix(seed, index.into()))) / shares[index as usize];
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
}

struct ReadBook {
    book: Book,
    /// Openings that repeat none before them, in the order of the file; with `repeats` all.
    order: Vec<u32>,
    repeats: bool,
    bad: Option<BadOpenings>,
    digest: sha2::digest::Output<Sha256>,
    /// Chance of each opening, for a book with weights.
    shares: Option<Vec<f64>>,
}

fn read_book(bytes: Vec<u8>, path: &Path, options: BookOptions<'_>) -> Result<ReadBook> {
    if polyglot::is_name(path) {
        return read_polyglot(&bytes, path, options);
    }
    let start = bytes.len() - io::without_byte_order_mark(&bytes).len();
    if !begins_as_games(&bytes) {
        let text = Arc::new(text_of(bytes, path)?);
        let index = || Lines::index(text.clone(), start, path, options.chess960, options.as_is);
        let (digest, (lines, order)) = rayon::join(|| Sha256::digest(text.as_bytes()), index);
        let (order, repeats) = with_repeats(order, lines.len(), options);
        return Ok(ReadBook { book: Book::Lines(lines), order, repeats, bad: None, digest, shares: None });
    }
    let digest = Sha256::digest(&bytes);
    let (mut positions, mut drawn) = (Vec::new(), Drawn::default());
    let text = bytes[start..].to_vec();
    let openings: Vec<Result<Opening>> = if options.moves {
        let wrong = |place: &String, reason| Error::at(path, place, reason);
        let entries = games::entries(text, options.plies).into_iter();
        entries.map(|entry| entry.opening.map_err(|reason| wrong(&entry.place, reason))).collect()
    } else {
        let positions = games::positions(text, path, options.plies).into_iter();
        positions.map(|position| position.map(Opening::from_position)).collect()
    };
    for opening in openings {
        match opening {
            Ok(opening) => positions.push(opening),
            Err(error) => drawn.add_bad(error.to_string()),
        }
    }
    let mut seen = HashSet::with_capacity(positions.len());
    let kept = (0..positions.len()).filter(|&at| options.as_is || seen.insert(&positions[at].position));
    let (order, repeats) = with_repeats(kept.map(|at| at as u32).collect(), positions.len(), options);
    let book = Book::Positions(positions);
    Ok(ReadBook { book, order, repeats, bad: drawn.bad, digest, shares: None })
}

/// All openings for the order of fastchess, which shuffles repeated ones too; whether there are any.
fn with_repeats(order: Vec<u32>, all: usize, options: BookOptions<'_>) -> (Vec<u32>, bool) {
    let repeats = options.order == Order::Fastchess && order.len() < all;
    (if repeats { (0..all as u32).collect() } else { order }, repeats)
}

fn read_polyglot(bytes: &[u8], path: &Path, options: BookOptions<'_>) -> Result<ReadBook> {
    let (mut positions, mut shares, mut drawn) = (Vec::new(), Vec::new(), Drawn::default());
    for line in Polyglot::parse(bytes, path)?.lines(options.plies) {
        match line.opening {
            Ok(opening) => {
                positions.push(if options.moves {
                    opening
                } else {
                    Opening::from_position(opening.position)
                });
                shares.push(line.share);
            }
            Err(OpeningError(reason)) => {
                let place = format!("entry {}", line.number);
                drawn.add_bad(Error::at(path, place, reason).to_string());
            }
        }
    }
    let (order, digest) = ((0..positions.len() as u32).collect(), Sha256::digest(bytes));
    let book = Book::Positions(positions);
    Ok(ReadBook { book, order, repeats: false, bad: drawn.bad, digest, shares: Some(shares) })
}

pub fn book_name(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| EMBEDDED_NAME.to_string(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests;
