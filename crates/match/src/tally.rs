//! Tallies of a pairing, or of one player against all opponents.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

use super::game::Reason;
use super::record::PairEntry;
use patzer_stats::{Estimate, Pentanomial, Trinomial};

/// Results from the first player's side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    pub games: Trinomial,
    pub pairs: Pentanomial,
    pub colours: [Trinomial; 2],
    pub reasons: BTreeMap<Reason, u64>,
    pub mirrored: u64,
    /// Pairs in which each player won a game; the rest of the middle pentanomial count are two draws.
    pub traded: u64,
    /// Games that each player lost on time.
    pub time_losses: [u64; 2],
}

impl Tally {
    pub fn add(&mut self, entry: &PairEntry) {
        for (colour, half_points) in entry.colours.into_iter().zip(entry.half_points) {
            for counts in [&mut self.games, &mut self.colours[colour]] {
                match half_points {
                    0 => counts.losses += 1,
                    1 => counts.draws += 1,
                    _ => counts.wins += 1,
                }
            }
        }
        self.pairs.add(entry.half_points);
        for reason in entry.reasons {
            *self.reasons.entry(reason).or_default() += 1;
        }
        self.mirrored += u64::from(entry.mirrored);
        self.traded += u64::from(matches!(entry.half_points, [0, 2] | [2, 0]));
        for (reason, half_points) in entry.reasons.into_iter().zip(entry.half_points) {
            if let (Reason::TimeForfeit, 0 | 2) = (reason, half_points) {
                self.time_losses[usize::from(half_points == 2)] += 1;
            }
        }
    }

    pub fn reversed(&self) -> Tally {
        let [first, second] = self.colours;
        let [ours, theirs] = self.time_losses;
        Tally {
            games: reverse(self.games),
            pairs: self.pairs.reversed(),
            // The second player had the other colour.
            colours: [reverse(second), reverse(first)],
            reasons: self.reasons.clone(),
            mirrored: self.mirrored,
            traded: self.traded,
            time_losses: [theirs, ours],
        }
    }

    pub fn share(&self) -> f64 {
        self.games.share()
    }

    /// Tests whether all pairs are two identical games: the players play alike.
    pub fn identical(&self) -> bool {
        self.pairs.pairs() > 0 && self.mirrored == self.pairs.pairs()
    }
}

pub fn plus_minus(games: Trinomial) -> String {
    format!("+{} ={} -{}", games.wins, games.draws, games.losses)
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchScore {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    pub pentanomial: Pentanomial,
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl From<&Tally> for MatchScore {
    fn from(tally: &Tally) -> MatchScore {
        let Trinomial { wins, draws, losses } = tally.games;
        MatchScore { wins, draws, losses, pentanomial: tally.pairs, estimate: Estimate::new(tally.pairs) }
    }
}

fn reverse(games: Trinomial) -> Trinomial {
    Trinomial { wins: games.losses, draws: games.draws, losses: games.wins }
}

fn sum(a: Trinomial, b: Trinomial) -> Trinomial {
    Trinomial { wins: a.wins + b.wins, draws: a.draws + b.draws, losses: a.losses + b.losses }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.games = sum(self.games, other.games);
        for (pairs, more) in self.pairs.0.iter_mut().zip(other.pairs.0) {
            *pairs += more;
        }
        for (games, more) in self.colours.iter_mut().zip(other.colours) {
            *games = sum(*games, more);
        }
        for (&reason, count) in &other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.mirrored += other.mirrored;
        self.traded += other.traded;
        for (losses, more) in self.time_losses.iter_mut().zip(other.time_losses) {
            *losses += more;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::pairings::SWAPPED;

    pub fn entry(pair: usize, players: [usize; 2], half_points: [u8; 2]) -> PairEntry {
        let reasons = [Reason::Checkmate, Reason::Repetition];
        PairEntry {
            pair,
            players,
            opening: pair - 1,
            half_points,
            reasons,
            mirrored: false,
            colours: SWAPPED,
        }
    }

    #[test]
    fn colours_and_losses_on_time_are_counted_by_player() {
        let mut tally = Tally::default();
        let reasons = [Reason::TimeForfeit, Reason::TimeForfeit];
        tally.add(&PairEntry { reasons, colours: [0, 0], ..entry(1, [0, 1], [2, 0]) });
        tally.add(&PairEntry {
            reasons: [Reason::TimeForfeit, Reason::Checkmate],
            ..entry(2, [0, 1], [0, 0])
        });
        assert_eq!((tally.colours[0].games(), tally.colours[1].games()), (3, 1));
        assert_eq!((tally.time_losses, tally.reversed().time_losses), ([2, 1], [1, 2]));
    }

    #[test]
    fn both_sides_of_a_match_see_the_same_games() {
        let mut tally = Tally::default();
        tally.add(&entry(1, [0, 1], [2, 1]));
        tally.add(&entry(2, [0, 1], [2, 2]));
        tally.add(&entry(3, [0, 1], [0, 1]));
        assert_eq!(tally.games, Trinomial { wins: 3, draws: 2, losses: 1 });
        assert_eq!(tally.pairs, Pentanomial([0, 1, 0, 1, 1]));
        assert_eq!(tally.colours[0], Trinomial { wins: 2, draws: 0, losses: 1 });
        assert_eq!(tally.colours[1], Trinomial { wins: 1, draws: 2, losses: 0 });
        let other = tally.reversed();
        assert_eq!(other.pairs, Pentanomial([1, 1, 0, 1, 0]));
        assert_eq!(other.colours[0], Trinomial { wins: 0, draws: 2, losses: 1 });
        assert_eq!(other.colours[1], Trinomial { wins: 1, draws: 0, losses: 2 });
        assert_eq!(other.share() + tally.share(), 1.0);
        assert_eq!(other.reversed(), tally);
    }
}
