//! A player that plays the moves of a Polyglot book while it has some.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use super::openings::Polyglot;
use crate::{MoveReply, Player, PlayerError, Remarks, SearchInfo, Turn};
use patzer_chess::Line;
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::Result;

/// A player's book.
#[derive(Debug, Clone, Serialize)]
pub struct OwnBook {
    #[serde(skip)]
    book: Arc<Polyglot>,
    /// Full moves of the game up to which it is used.
    moves: u32,
    /// SHA-256 of the file.
    digest: String,
    /// Seeds the draws.
    seed: u64,
}

/// Full moves of a book as a player uses it, by default, as with cutechess-cli.
const MOVES: u32 = 1000;

impl OwnBook {
    pub fn load(path: &Path, moves: Option<u32>, seed: u64) -> Result<OwnBook> {
        let (book, digest) = Polyglot::load(path)?;
        Ok(OwnBook { book: Arc::new(book), moves: moves.unwrap_or(MOVES), digest, seed })
    }

    /// Draws a move by the weights, the same for an opening's number and a position; `None` where the book ends, or
    /// repeats a position, as with cutechess-cli.
    fn draw(&self, opening: usize, line: &Line) -> Option<Move> {
        let position = line.position();
        if position.fullmoves().get() > self.moves {
            return None;
        }
        let moves = self.book.moves(position);
        let sum: usize = moves.iter().map(|(_, weight)| usize::from(*weight)).sum();
        let seed = mix(mix(self.seed, opening as u64), Polyglot::key(position));
        let mut place = if sum > 0 { Rng::new(seed).below(sum) } else { return None };
        let chosen = moves.iter().find(|(_, weight)| {
            let here = place < usize::from(*weight);
            place = place.saturating_sub(usize::from(*weight));
            here
        });
        let (m, _) = chosen?;
        let mut after = line.clone();
        after.play(*m);
        (after.repetitions() == 0).then_some(*m)
    }
}

/// A player with a book: moves of the book take no time.
pub struct BookPlayer {
    player: Box<dyn Player>,
    own: OwnBook,
    opening: usize,
}

impl BookPlayer {
    pub fn new(player: Box<dyn Player>, own: OwnBook) -> BookPlayer {
        BookPlayer { player, own, opening: 0 }
    }
}

impl Player for BookPlayer {
    fn new_game(&mut self, start: &Chess, stop: &AtomicBool) -> std::result::Result<(), PlayerError> {
        self.player.new_game(start, stop)
    }

    fn choose(&mut self, turn: &Turn) -> std::result::Result<MoveReply, PlayerError> {
        let Some(m) = self.own.draw(self.opening, turn.line) else { return self.player.choose(turn) };
        let info = SearchInfo { book: true, ..SearchInfo::default() };
        Ok(MoveReply { best: Ok(m), info, time: Duration::ZERO, remarks: Remarks::default() })
    }

    fn set_options(&mut self, options: &[(String, String)]) -> std::result::Result<(), PlayerError> {
        self.player.set_options(options)
    }

    fn abandon(&mut self) {
        self.player.abandon();
    }

    fn rest(&mut self) {
        self.player.rest();
    }

    fn set_opening(&mut self, number: usize) {
        self.opening = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Hashing, TIME};
    use crate::{Adjudication, Game, Rules, play};

    const RULES: Rules = Rules {
        adjudication: Adjudication { max_moves: Some(12), ..Adjudication::NONE },
        recover: false,
        syzygy: None,
    };

    fn game(opening: usize, moves: Option<u32>, both: bool) -> Game {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/polyglot.bin");
        let player = |seed| {
            let own = OwnBook::load(&path, moves, 1).unwrap();
            let mut player = BookPlayer::new(Box::new(Hashing(seed)), own);
            player.set_opening(opening);
            player
        };
        let (mut white, mut black, mut other) = (player(1), player(2), Hashing(3));
        let black: &mut dyn Player = if both { &mut black } else { &mut other };
        play(&Chess::default(), 0, [&mut white, black], [&TIME; 2], &RULES, &AtomicBool::new(false)).unwrap()
    }

    fn from_book(game: &Game) -> usize {
        game.moves.iter().filter(|played| played.info.book).count()
    }

    #[test]
    fn two_players_with_one_book_play_its_lines_and_an_opening_always_the_same() {
        let games: Vec<Game> = (0..20).map(|opening| game(opening, None, true)).collect();
        assert_eq!(games[7], game(7, None, true));
        assert!(games.iter().all(|game| game.moves[0].info.book && game.moves[0].time.is_zero()));
        assert!(games.iter().map(from_book).sum::<usize>() > 80);
        let line = |game: &Game| game.moves[..4].iter().map(|played| played.m).collect::<Vec<Move>>();
        let lines: std::collections::HashSet<_> = games.iter().map(line).collect();
        assert!(lines.len() > 5, "{}", lines.len());
    }

    #[test]
    fn a_book_ends_where_its_depth_does_or_the_opponent_leaves_it() {
        let counts =
            |moves, both| (0..20).map(|opening| from_book(&game(opening, moves, both))).collect::<Vec<_>>();
        let two = counts(Some(2), true);
        assert!(two.contains(&4) && two.iter().all(|count| *count <= 4), "{two:?}");
        assert!(counts(Some(2), false).iter().all(|count| *count <= 2));
        assert!(counts(None, false).iter().sum::<usize>() < counts(None, true).iter().sum());
    }
}
