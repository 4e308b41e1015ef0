//! Openings: the positions from which pairs of games begin.
//!
//! In: a book of EPD or FEN lines, or of PGN games, plain or compressed; or the book that is built in. Out:
//! positions in a random order that depends on the seed alone, so that pair `i` of a test always begins from the
//! same one. From a PGN the last position of each game counts. When all have been used they come again, for
//! deterministic players with two random moves added, so that no game is played and counted twice.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use sha2::{Digest, Sha256};
use shakmaty::{Bitboard, Chess, Move, Position, Role};

use crate::chess::{Line, fen};
use crate::error::{Error, Result};
use crate::io;
use crate::rng::{Rng, mix};

use super::game::ending;

/// The book that is built in; its header says how it was made.
const EMBEDDED: &[u8] = include_bytes!("book.epd");

/// The path that stands for the built-in book in messages.
const EMBEDDED_NAME: &str = "built-in book";

/// Positions to begin from, in the order in which pairs use them.
#[derive(Debug, Clone)]
pub struct Openings {
    positions: Vec<Chess>,
    digest: String,
    seed: u64,
}

/// The order in which a book is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Shuffled by the seed.
    Random,
    /// As in the file.
    Sequential,
}

impl Openings {
    /// Reads a book, or the built-in one for `None`, and puts it into order. Equal positions count once.
    ///
    /// # Errors
    /// If the file cannot be read, holds no opening, or a line or game of it is not one; the line or game is named.
    pub fn load(path: Option<&Path>, order: Order, seed: u64) -> Result<Openings> {
        let mut openings = match path {
            Some(path) => Openings::parse(&io::read(path)?, path)?,
            None => Openings::parse(EMBEDDED, Path::new(EMBEDDED_NAME))?,
        };
        openings.seed = seed;
        if order == Order::Random {
            Rng::new(seed).shuffle(&mut openings.positions);
        }
        Ok(openings)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Openings> {
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::at(path, format!("byte {}", e.valid_up_to()), "is not UTF-8 text"))?;
        let text = text.trim_start_matches('\u{feff}');
        let first =
            text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['#', '%']));
        let mut positions = match first {
            None => return Err(Error::data(path, "holds no opening")),
            Some(line) if line.starts_with('[') || line.starts_with("1.") => from_pgn(text, path)?,
            Some(_) => from_epd(text, path)?,
        };
        let mut seen = HashSet::with_capacity(positions.len());
        positions.retain(|position| seen.insert(position.clone()));
        Ok(Openings { positions, digest: format!("{:x}", Sha256::digest(bytes)), seed: 0 })
    }

    /// How many different openings there are; at least one.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Always false: a book without openings is an error.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The opening of a pair, counted from 0. After the last one the first comes again; with `vary`, a move of
    /// each side is then added, at random but always the same for the same pair.
    pub fn get(&self, pair: usize, vary: bool) -> Chess {
        let opening = self.positions[pair % self.positions.len()].clone();
        if !vary || pair < self.positions.len() {
            return opening;
        }
        // One seed a pair, apart from the one that shuffles.
        let mut rng = Rng::new(mix(self.seed, pair as u64));
        random_moves(&opening, &mut rng).unwrap_or(opening)
    }

    /// SHA-256 of the book, as hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

fn from_epd(text: &str, path: &Path) -> Result<Vec<Chess>> {
    let mut positions = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let position = epd_position(line)
            .and_then(playable)
            .map_err(|reason| Error::at(path, format!("line {}", index + 1), reason))?;
        positions.push(position);
    }
    Ok(positions)
}

/// Reads four fields with operations, of which `hmvc` and `fmvn` are used, or the six fields of a FEN.
fn epd_position(line: &str) -> std::result::Result<Chess, String> {
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
    fen::position(&format!("{board} {turn} {castling} {ep} {halfmoves} {fullmoves}"), false)
}

fn operand(line: &str, operation: &str) -> Option<u32> {
    let mut words = line.split([';', ' ']).filter(|word| !word.is_empty());
    words.find(|&word| word == operation)?;
    words.next()?.parse().ok()
}

/// A position two plies on, in which there is a game to play. `None` where chance finds none.
fn random_moves(opening: &Chess, rng: &mut Rng) -> Option<Chess> {
    (0..32).find_map(|_| {
        let mut position = opening.clone();
        for _ in 0..2 {
            let moves = position.legal_moves();
            let m = *moves.get(rng.below(moves.len().max(1)))?;
            if !harmless(&position, m) {
                return None;
            }
            position.play_unchecked(m);
        }
        playable(position).ok()
    })
}

/// Neither a capture nor a promotion, nor a step to where the piece can be taken by a pawn or for nothing.
fn harmless(position: &Chess, m: Move) -> bool {
    let (board, us) = (position.board(), position.turn());
    let attackers = board.attacks_to(m.to(), !us, board.occupied());
    let defenders = m.from().map_or(Bitboard::EMPTY, |from| {
        board.attacks_to(m.to(), us, board.occupied().without(from)).without(from)
    });
    let hangs = m.role() != Role::Pawn && (attackers & board.pawns()).any();
    !m.is_capture() && !m.is_promotion() && !hangs && (attackers.is_empty() || defenders.any())
}

/// Refuses positions in which there is no game left to play.
fn playable(position: Chess) -> std::result::Result<Chess, String> {
    match ending(&Line::new(position.clone())) {
        None => Ok(position),
        Some(_) => Err("the game is over in this position".to_string()),
    }
}

fn from_pgn(text: &str, path: &Path) -> Result<Vec<Chess>> {
    let mut reader = Reader::new(std::io::Cursor::new(text.as_bytes()));
    let mut positions = Vec::new();
    let mut game = 0;
    while let Some(read) = reader.read_game(&mut LastPosition).map_err(|e| Error::io(path, e))? {
        game += 1;
        let position =
            read.and_then(playable).map_err(|reason| Error::at(path, format!("game {game}"), reason))?;
        positions.push(position);
    }
    if positions.is_empty() {
        return Err(Error::data(path, "holds no opening"));
    }
    Ok(positions)
}

/// Plays a game's moves through and keeps the last position.
struct LastPosition;

impl Visitor for LastPosition {
    type Tags = std::result::Result<Chess, String>;
    type Movetext = Chess;
    type Output = std::result::Result<Chess, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Ok(Chess::default()))
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            *tags = fen::position(&value.decode_utf8_lossy(), false);
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Chess> {
        match tags {
            Ok(position) => ControlFlow::Continue(position),
            Err(reason) => ControlFlow::Break(Err(reason)),
        }
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(position) {
            Ok(m) => {
                position.play_unchecked(m);
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(Err(format!("move {san}: {error}"))),
        }
    }

    fn end_game(&mut self, position: Chess) -> Self::Output {
        Ok(position)
    }
}

/// The name under which a book is mentioned.
pub fn name(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| EMBEDDED_NAME.to_string(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{EnPassantMode, fen::Fen};

    fn parse(text: &str) -> Result<Openings> {
        Openings::parse(text.as_bytes(), Path::new("book"))
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
    fn a_bad_line_is_named() {
        let good = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
        for (text, place) in [
            (format!("{good}\njunk\n"), "line 3"),
            (format!("{good}4k3/8/8/8/8/8/8/8 w - -\n"), "line 2"),
            (format!("{good}7k/6Q1/6K1/8/8/8/8/8 b - -\n"), "line 2: the game is over"),
            ("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. e5 *\n".to_string(), "game 2"),
            (String::new(), "no opening"),
            ("# nothing\n".to_string(), "no opening"),
        ] {
            let error = parse(&text).unwrap_err();
            assert_eq!(error.exit_code(), 1);
            assert!(error.to_string().contains(place), "{error}");
        }
    }

    #[test]
    fn the_seed_alone_decides_the_order() {
        let order = |seed| {
            let book = Openings::load(None, Order::Random, seed).unwrap();
            (0..20).map(|i| book.get(i, false).clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn the_built_in_book_is_balanced_in_material_and_playable() {
        let book = Openings::load(None, Order::Sequential, 0).unwrap();
        assert!(book.len() >= 500);
        for i in 0..book.len() {
            assert!(!book.get(i, false).is_check());
        }
    }

    #[test]
    fn a_second_round_through_the_book_begins_from_other_positions() {
        let book = Openings::load(None, Order::Random, 5).unwrap();
        let mut seen = HashSet::new();
        for pair in 0..3 * book.len() {
            let position = book.get(pair, true);
            assert!(!position.legal_moves().is_empty());
            seen.insert(position.clone());
            assert_eq!(position, book.get(pair, true), "always the same for a pair");
        }
        // By chance a few of the varied positions coincide.
        assert!(seen.len() * 100 > 3 * book.len() * 98, "{} of {}", seen.len(), 3 * book.len());
        assert_eq!(book.get(book.len() + 3, false), book.get(3, false));
    }
}
