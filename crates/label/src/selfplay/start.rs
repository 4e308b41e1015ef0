//! Start positions of self-play: random but balanced, without moves that lose material by exchanges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Move, Position};

use patzer_chess::rng::Rng;
use patzer_chess::score::Score;
use patzer_chess::see::see_ge;
use patzer_chess::{Line, chess960, played};
use patzer_match::ending;
use patzer_match::openings::Openings;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    GameOver,
    Unbalanced,
}

#[derive(Debug, Clone, Copy)]
pub struct Starts<'a> {
    /// `None` for the start position.
    pub openings: Option<&'a Openings>,
    /// Random plies; if not 0, half of the games get one more, so that each side starts equally often.
    pub plies: usize,
    /// Largest absolute score, centipawns; `None` accepts all.
    pub balance: Option<Score>,
    pub chess960: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub position: Chess,
    /// Rejected before this one, by reason.
    pub rejected: BTreeMap<Rejection, u64>,
}

pub const ATTEMPTS: usize = 1_000;

/// Smallest gain of a capture, centipawns, that makes a random move unsound.
const GIFT: Score = 100;

impl Starts<'_> {
    /// Finds the start of a game; `None` if none is balanced. `evaluate` scores a position from the side to move.
    pub fn find<F>(
        &self,
        game: usize,
        rng: &mut Rng,
        evaluate: &mut dyn FnMut(&Chess) -> Result<Score, F>,
    ) -> Result<Option<Start>, F> {
        let mut rejected = BTreeMap::new();
        for attempt in 0..ATTEMPTS {
            let plies = if self.plies == 0 { 0 } else { self.plies + rng.below(2) };
            let opening = random_moves(self.opening(game, attempt, rng), plies, rng);
            let reason = match opening {
                None => Rejection::GameOver,
                Some(position) => match self.balance {
                    Some(most) if evaluate(&position)?.abs() > most => Rejection::Unbalanced,
                    _ => return Ok(Some(Start { position, rejected })),
                },
            };
            *rejected.entry(reason).or_default() += 1;
        }
        Ok(None)
    }

    /// Each game has its own opening; after a rejection, any opening with two random moves.
    fn opening(&self, game: usize, attempt: usize, rng: &mut Rng) -> Chess {
        match self.openings {
            Some(book) if attempt == 0 => book.get(game, true),
            Some(book) => book.get(book.len() + rng.below(1 << 30), true),
            None if self.chess960 => chess960(rng.below(960) as u32),
            None => Chess::default(),
        }
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

/// Whether a move loses nothing by exchanges, neither the piece moved nor one left behind.
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
    use std::convert::Infallible;

    const PLAIN: Starts<'_> = Starts { openings: None, plies: 8, balance: Some(100), chess960: false };

    fn found(starts: &Starts, game: usize, evaluate: &mut dyn FnMut(&Chess) -> Score) -> Option<Start> {
        let mut rng = Rng::new(patzer_chess::rng::mix(1, game as u64));
        starts.find::<Infallible>(game, &mut rng, &mut |position| Ok(evaluate(position))).unwrap()
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
        let any = Starts { balance: None, ..PLAIN };
        assert!(found(&any, 0, &mut |_| 9_999).unwrap().rejected.is_empty());
    }

    #[test]
    fn without_random_moves_the_book_is_played_in_its_order() {
        let book = Openings::load(Default::default()).unwrap();
        let starts = Starts { openings: Some(&book), plies: 0, ..PLAIN };
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
        let starts = Starts { chess960: true, plies: 0, ..PLAIN };
        let backs: std::collections::HashSet<Chess> =
            (0..20).map(|game| found(&starts, game, &mut |_| 0).unwrap().position).collect();
        assert!(backs.len() > 15 && backs.iter().all(|p| p.castles().mode().is_chess960()));
    }
}
