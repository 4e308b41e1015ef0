//! Tournaments in rounds whose pairings follow from results: knockout and Swiss system.
//!
//! A round's encounters have some pairs of games each, colours swapped, each pair from the next opening. Pairings
//! depend on the results in order alone, so that a tournament is the same on any number of threads and after a
//! resumption.

mod knockout;
mod report;
mod round;
mod swiss;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::Plan;
pub use report::{PlayerRank, RoundsReport, RoundsState};
pub use round::{Encounter, Round};

/// Pairs added to a tied encounter of a knockout, one by one; then the player that comes first goes on.
pub const EXTRA_PAIRS: u64 = 32;

/// Pairing system of a tournament in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// Losers leave.
    Knockout,
    /// A given number of rounds; players meet others of like score.
    Swiss {
        /// 1 or more.
        rounds: usize,
    },
}

/// Settings of a tournament in rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RoundSettings {
    pub system: System,
    pub players: usize,
    /// Pairs of games of an encounter, without those that break a tie.
    pub pairs: u64,
}

impl fmt::Display for RoundSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.system {
            System::Knockout => write!(f, "knockout, {} pairs an encounter", self.pairs),
            System::Swiss { rounds } => {
                write!(f, "swiss, {rounds} rounds, {} pairs an encounter", self.pairs)
            }
        }
    }
}

impl RoundSettings {
    /// Pairs of games that the tournament has at most.
    pub fn most_pairs(&self) -> u64 {
        match self.system {
            System::Knockout => (self.players as u64).saturating_sub(1) * (self.pairs + EXTRA_PAIRS),
            System::Swiss { rounds } => rounds as u64 * (self.players as u64 / 2) * self.pairs,
        }
    }
}

/// The rounds so far, and the pairs that the match runner plays next.
pub struct Rounds {
    settings: RoundSettings,
    rounds: Vec<Round>,
    plan: Arc<Plan>,
    /// Pairs allotted and not yet counted.
    missing: usize,
    over: bool,
}

impl Rounds {
    pub fn new(settings: RoundSettings) -> Rounds {
        let plan = Arc::default();
        let mut rounds = Rounds { settings, rounds: Vec::new(), plan, missing: 0, over: false };
        rounds.begin_round();
        rounds
    }

    pub fn plan(&self) -> Arc<Plan> {
        self.plan.clone()
    }

    pub fn settings(&self) -> RoundSettings {
        self.settings
    }

    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Counts a pair by the half points of each player; after the last of a round, allots more.
    pub fn add(&mut self, players: [usize; 2], half_points: [u64; 2]) {
        let round = self.rounds.last_mut();
        let found = round.and_then(|round| round.encounters.iter_mut().find(|e| e.players == players));
        let Some(encounter) = found else { return };
        encounter.pairs += 1;
        encounter.half_points[0] += half_points[0];
        encounter.half_points[1] += half_points[1];
        self.missing = self.missing.saturating_sub(1);
        if self.missing > 0 {
            return;
        }
        let tied = self.tied();
        if tied.is_empty() { self.begin_round() } else { self.allot(&tied) }
    }

    /// Encounters of a knockout that need one pair more.
    fn tied(&self) -> Vec<[usize; 2]> {
        let most = self.settings.pairs + EXTRA_PAIRS;
        let encounters = self.rounds.last().into_iter().flat_map(|round| &round.encounters);
        let knockout = self.settings.system == System::Knockout;
        encounters.filter(|e| knockout && e.tied() && e.pairs < most).map(|e| e.players).collect()
    }

    fn begin_round(&mut self) {
        let next = match self.settings.system {
            System::Knockout => knockout::next(self.settings.players, &self.rounds),
            System::Swiss { rounds } if self.rounds.len() < rounds => {
                Some(swiss::next(self.settings.players, self.settings.pairs, &self.rounds))
            }
            System::Swiss { .. } => None,
        };
        let Some(round) = next else {
            self.over = true;
            return;
        };
        let once: Vec<[usize; 2]> = round.encounters.iter().map(|e| e.players).collect();
        self.rounds.push(round);
        // Encounters take turns, so that none waits for another.
        let all: Vec<[usize; 2]> = (0..self.settings.pairs).flat_map(|_| once.iter().copied()).collect();
        self.allot(&all);
    }

    fn allot(&mut self, pairings: &[[usize; 2]]) {
        self.missing += pairings.len();
        self.plan.extend(pairings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a tournament in which the pair score of the first player follows from the players and the pair.
    fn played(settings: RoundSettings, score: impl Fn([usize; 2], usize) -> u64) -> (Rounds, usize) {
        let mut rounds = Rounds::new(settings);
        let mut pair = 0;
        while !rounds.is_over() {
            let players = rounds.plan().get(pair).unwrap();
            let half_points = score(players, pair);
            rounds.add(players, [half_points, 4 - half_points]);
            pair += 1;
        }
        assert!(rounds.plan().get(pair).is_none());
        assert!(pair as u64 <= settings.most_pairs());
        (rounds, pair)
    }

    #[test]
    fn the_best_seeds_of_a_knockout_meet_last_and_the_strongest_wins() {
        let settings = RoundSettings { system: System::Knockout, players: 6, pairs: 2 };
        let (rounds, pairs) = played(settings, |_, _| 3);
        let met: Vec<Vec<[usize; 2]>> = rounds
            .rounds()
            .iter()
            .map(|round| round.encounters.iter().map(|e| e.players).collect())
            .collect();
        assert_eq!(met, [vec![[3, 4], [2, 5]], vec![[0, 3], [1, 2]], vec![[0, 1]]]);
        assert_eq!((rounds.rounds()[0].byes.as_slice(), pairs), (&[0, 1][..], 10));
        let (rounds, _) = played(settings, |_, _| 1);
        assert_eq!(rounds.rounds()[2].encounters[0].winner(), 5);
    }

    #[test]
    fn a_tied_encounter_goes_on_pair_by_pair_and_not_for_ever() {
        let settings = RoundSettings { system: System::Knockout, players: 4, pairs: 1 };
        let (rounds, pairs) =
            played(settings, |[a, b], pair| if [a, b] == [0, 3] && pair < 5 { 2 } else { 4 });
        assert_eq!(rounds.rounds()[0].encounters[0].pairs, 5);
        assert_eq!((rounds.rounds()[0].encounters[1].pairs, pairs), (1, 7));
        let (rounds, _) = played(settings, |_, _| 2);
        let last = &rounds.rounds()[1].encounters[0];
        assert_eq!((last.pairs, last.winner(), rounds.rounds().len()), (1 + EXTRA_PAIRS, 0, 2));
    }

    #[test]
    fn nobody_meets_twice_in_a_swiss_tournament_nor_rests_twice() {
        for players in [2_usize, 3, 5, 8, 9, 16] {
            // By Dirac's theorem, players who have half of the others left can be paired.
            for rounds in 1..=players.div_ceil(2) {
                let settings = RoundSettings { system: System::Swiss { rounds }, players, pairs: 1 };
                let (played, _) = played(settings, |[a, b], pair| ((a * 7 + b * 3 + pair) % 5) as u64);
                let mut met: Vec<[usize; 2]> =
                    played.rounds().iter().flat_map(|round| &round.encounters).map(|e| e.players).collect();
                let mut byes: Vec<usize> =
                    played.rounds().iter().flat_map(|round| round.byes.clone()).collect();
                let (count, rested) = (met.len(), byes.len());
                met.sort_unstable();
                met.dedup();
                byes.sort_unstable();
                byes.dedup();
                assert_eq!((met.len(), byes.len()), (count, rested), "{players} players, {rounds} rounds");
                assert_eq!((count, rested), (rounds * (players / 2), rounds * (players % 2)));
            }
        }
    }
}
