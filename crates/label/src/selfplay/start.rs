//! Start positions of self-play: random but balanced, without moves that lose material by exchanges, or those that an
//! engine makes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize, Serializer};
use shakmaty::{Chess, Move, Position};

use patzer_chess::rng::Rng;
use patzer_chess::score::Score;
use patzer_chess::see::see_ge;
use patzer_chess::{Line, chess960, double_chess960, ending, played};
use patzer_match::PlayerError;
use patzer_match::openings::Openings;

use super::genfens::GenfensCache;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    GameOver,
    Unbalanced,
    /// The engine that scores the start crashed or hung.
    EngineFailed,
    /// The engine that scores the start said no score.
    NoScore,
    /// The engine's own opening is no legal position.
    Illegal,
}

/// Starts of games, before random moves.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source<'a> {
    StartPosition,
    Chess960,
    /// Each side has a start position of its own.
    DoubleChess960,
    Book(#[serde(serialize_with = "as_digest")] &'a Openings),
    Genfens(&'a GenfensCache<'a>),
}

fn as_digest<S: Serializer>(book: &&Openings, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(book.digest())
}

#[derive(Clone, Serialize)]
pub struct Starts<'a> {
    pub source: Source<'a>,
    /// Random plies; if not 0, half of the games get one more, so that each side starts equally often.
    pub plies: usize,
    /// Scores that starts may have, centipawns from White's side; `None` accepts all.
    pub window: Option<RangeInclusive<Score>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub position: Chess,
    /// Rejected before this one, by reason.
    pub rejected: BTreeMap<Rejection, u64>,
}

pub const ATTEMPTS: usize = 1_000;

/// Score of a start, or why there is none; an error ends the game.
pub type StartScore = Result<Result<Score, Rejection>, PlayerError>;

/// Smallest gain of a capture, centipawns, that makes a random move unsound.
const GIFT: Score = 100;

impl Starts<'_> {
    /// Finds the start of a game; `None` if none is balanced. `evaluate` scores a position from the side to move.
    pub fn find(
        &self,
        game: usize,
        rng: &mut Rng,
        evaluate: &mut dyn FnMut(&Chess) -> StartScore,
        stop: &AtomicBool,
    ) -> Result<Option<Start>, PlayerError> {
        let mut rejected = BTreeMap::new();
        for attempt in 0..ATTEMPTS {
            let plies = if self.plies == 0 { 0 } else { self.plies + rng.below(2) };
            let opening = self.opening(game, attempt, rng, stop)?;
            let reason = match opening.map(|opening| random_moves(opening, plies, rng)) {
                None => Rejection::Illegal,
                Some(None) => Rejection::GameOver,
                Some(Some(position)) => {
                    match self.window.as_ref().map(|window| (window, evaluate(&position))) {
                        Some((_, Err(error))) => return Err(error),
                        Some((_, Ok(Err(reason)))) => reason,
                        Some((window, Ok(Ok(score))))
                            if !window.contains(&position.turn().fold_wb(score, -score)) =>
                        {
                            Rejection::Unbalanced
                        }
                        _ => return Ok(Some(Start { position, rejected })),
                    }
                }
            };
            *rejected.entry(reason).or_default() += 1;
        }
        Ok(None)
    }

    /// Each game has its own opening; after a rejection, any opening with two random moves, or another of the engine.
    /// `None` if the engine's is illegal.
    fn opening(
        &self,
        game: usize,
        attempt: usize,
        rng: &mut Rng,
        stop: &AtomicBool,
    ) -> Result<Option<Chess>, PlayerError> {
        Ok(Some(match self.source {
            Source::Book(book) if attempt == 0 => book.get(game, true),
            Source::Book(book) => book.get(book.len() + rng.below(1 << 30), true),
            Source::Chess960 => chess960(rng.below(960) as u32),
            Source::DoubleChess960 => double_chess960([(); 2].map(|()| rng.below(960) as u32)),
            Source::StartPosition => Chess::default(),
            Source::Genfens(cache) => return cache.get(game, attempt, stop),
        }))
    }
}

fn random_moves(mut position: Chess, plies: usize, rng: &mut Rng) -> Option<Chess> {
    for _ in 0..plies {
        let mut moves = position.legal_moves();
        let sound: Vec<bool> = moves.iter().map(|&m| is_sound(&position, m)).collect();
        if sound.contains(&true) {
            let mut sound = sound.into_iter();
            moves.retain(|_| sound.next().unwrap_or(false));
        }
        position.play_unchecked(*moves.get(rng.below(moves.len().max(1)))?);
    }
    ending(&Line::new(position.clone())).is_none().then_some(position)
}

/// Tests whether a move loses nothing by exchanges, neither the piece moved nor one left behind.
fn is_sound(position: &Chess, m: Move) -> bool {
    if !see_ge(position, m, 0) {
        return false;
    }
    let after = played(position, m);
    !after.capture_moves().iter().any(|&reply| see_ge(&after, reply, GIFT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use shakmaty::san::San;

    const PLAIN: Starts<'_> = Starts { source: Source::StartPosition, plies: 8, window: Some(-100..=100) };

    fn found(starts: &Starts, game: usize, evaluate: &mut dyn FnMut(&Chess) -> Score) -> Option<Start> {
        let mut rng = Rng::new(patzer_chess::rng::mix(1, game as u64));
        let never = AtomicBool::new(false);
        starts.find(game, &mut rng, &mut |position| Ok(Ok(evaluate(position))), &never).unwrap()
    }

    #[test]
    fn a_sound_move_gives_nothing_away() {
        let position = fen::position("4k3/8/8/8/2p5/1Q6/3P4/4K3 w - - 0 1", false).unwrap();
        for (san, sound) in [("Kf1", false), ("Qxc4", true), ("d3", false), ("Qa4+", true)] {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            assert_eq!(is_sound(&position, m), sound, "{san}");
        }
    }

    #[test]
    fn random_starts_hang_nothing_and_each_side_begins() {
        let (mut loose, mut black) = (0, 0);
        for game in 0..60 {
            let start = found(&PLAIN, game, &mut |_| 0).unwrap();
            let position = start.position;
            loose += u32::from(position.capture_moves().iter().any(|&m| see_ge(&position, m, GIFT)));
            black += u32::from(position.turn().is_black());
        }
        assert!(loose <= 6, "only where nothing else could be played: {loose}");
        assert!((15..=45).contains(&black), "{black}");
    }

    #[test]
    fn unbalanced_starts_are_given_up_and_counted() {
        let mut asked = 0;
        let start = found(&PLAIN, 0, &mut |_| {
            asked += 1;
            if asked < 4 { -101 } else { 100 }
        });
        assert_eq!(start.unwrap().rejected, [(Rejection::Unbalanced, 3)].into());
        assert!(found(&PLAIN, 0, &mut |_| 101).is_none());
        let any = Starts { window: None, ..PLAIN };
        assert!(found(&any, 0, &mut |_| 9_999).unwrap().rejected.is_empty());
    }

    #[test]
    fn without_random_moves_the_book_is_played_in_its_order() {
        let book = Openings::load(Default::default()).unwrap();
        let starts = Starts { source: Source::Book(&book), plies: 0, ..PLAIN };
        for game in [0, 7] {
            assert_eq!(found(&starts, game, &mut |_| 0).unwrap().position, book.get(game, false));
        }
        let (mut asked, mut first) = (0, None);
        let other = found(&starts, 7, &mut |position| {
            asked += 1;
            first.get_or_insert(position.clone());
            if asked == 1 { 500 } else { 0 }
        });
        assert_ne!(other.unwrap().position, first.unwrap(), "not the one that was given up");
    }

    #[test]
    fn chess960_begins_from_its_own_positions() {
        let starts = Starts { source: Source::Chess960, plies: 0, ..PLAIN };
        let backs: std::collections::HashSet<Chess> =
            (0..20).map(|game| found(&starts, game, &mut |_| 0).unwrap().position).collect();
        assert!(backs.len() > 15 && backs.iter().all(|p| p.castles().mode().is_chess960()));
        let mirrored = |p: &Chess| {
            let board = p.board();
            (board.white() & board.kings()).flip_vertical() == board.black() & board.kings()
        };
        assert!(backs.iter().all(mirrored));
        let double = Starts { source: Source::DoubleChess960, ..starts };
        let double: Vec<Chess> =
            (0..20).map(|game| found(&double, game, &mut |_| 0).unwrap().position).collect();
        assert!(!double.iter().all(mirrored));
        for position in double {
            assert_eq!(position.castles().castling_rights().count(), 4);
            assert_eq!(position.board().occupied().count(), 32);
        }
    }
}
