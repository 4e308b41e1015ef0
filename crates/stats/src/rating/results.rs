//! Games by player pair, counted by result.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;

use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encounter {
    pub white: usize,
    pub black: usize,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// Pairs of one of these games and one with colours exchanged, by both results.
    pub pairs: [[u64; 3]; 3],
}

impl Encounter {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    pub fn pairs(&self) -> u64 {
        self.pairs.as_flattened().iter().sum()
    }
}

/// Games of one White against one Black by result: wins of White, draws and wins of Black.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncounterCounts {
    pub games: [u64; 3],
    /// Pairs of one of these games and one with colours exchanged, by both results; either game is counted where its
    /// White and Black are.
    pub pairs: [[u64; 3]; 3],
}

impl From<[u64; 3]> for EncounterCounts {
    fn from(games: [u64; 3]) -> EncounterCounts {
        EncounterCounts { games, ..EncounterCounts::default() }
    }
}

impl From<&Encounter> for EncounterCounts {
    fn from(e: &Encounter) -> EncounterCounts {
        EncounterCounts { games: [e.wins, e.draws, e.losses], pairs: e.pairs }
    }
}

impl AddAssign for EncounterCounts {
    fn add_assign(&mut self, other: EncounterCounts) {
        let sums = self.games.iter_mut().chain(self.pairs.as_flattened_mut());
        let others = other.games.iter().chain(other.pairs.as_flattened());
        sums.zip(others).for_each(|(sum, other)| *sum += other);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Results {
    pub players: Vec<String>,
    pub encounters: Vec<Encounter>,
}

impl Results {
    /// Finds a player by name.
    pub fn player(&self, name: &str) -> Result<usize> {
        let found = self.players.binary_search_by(|player| player.as_str().cmp(name));
        found.map_err(|_| {
            let lower = name.to_lowercase();
            let near = self.players.iter().find(|player| player.to_lowercase().contains(&lower));
            let hint = near.map_or(String::new(), |near| format!("; there is \"{near}\""));
            Error::usage(format!("no rated game of \"{name}\"{hint}"))
        })
    }

    /// Finds the players whose ratings are fixed.
    pub fn anchors(&self, fixed: &[(String, f64)]) -> Result<Vec<(usize, f64)>> {
        let mut anchors = Vec::new();
        for (name, elo) in fixed {
            let player = self.player(name)?;
            if anchors.iter().any(|(known, _)| *known == player) {
                return Err(Error::setting("anchor", "", format!("\"{name}\" is fixed twice")));
            }
            anchors.push((player, *elo));
        }
        Ok(anchors)
    }

    /// From counts of games by the names of White and Black.
    pub fn new<C: Into<EncounterCounts>>(counts: BTreeMap<(String, String), C>) -> Results {
        let mut players: Vec<String> = counts.keys().flat_map(|(w, b)| [w.clone(), b.clone()]).collect();
        players.sort();
        players.dedup();
        let index = |name: &String| players.binary_search(name).unwrap_or(0);
        let encounter = |((white, black), counts): ((String, String), C)| {
            let EncounterCounts { games: [wins, draws, losses], pairs } = counts.into();
            Encounter { white: index(&white), black: index(&black), wins, draws, losses, pairs }
        };
        let encounters = counts.into_iter().map(encounter).filter(|e| e.games() > 0).collect();
        Results { encounters, players }
    }

    pub fn games(&self) -> u64 {
        self.encounters.iter().map(Encounter::games).sum()
    }

    /// Number of pairs of games with colours exchanged.
    pub fn pairs(&self) -> u64 {
        self.encounters.iter().map(Encounter::pairs).sum()
    }

    /// Place of the encounter with colours exchanged.
    pub(super) fn swapped(&self, of: &Encounter) -> Option<usize> {
        self.encounters.binary_search_by_key(&(of.black, of.white), |e| (e.white, e.black)).ok()
    }

    pub fn scores(&self) -> Vec<[u64; 3]> {
        let mut scores = vec![[0; 3]; self.players.len()];
        for e in &self.encounters {
            let white = &mut scores[e.white];
            *white = [white[0] + e.wins, white[1] + e.draws, white[2] + e.losses];
            let black = &mut scores[e.black];
            *black = [black[0] + e.losses, black[1] + e.draws, black[2] + e.wins];
        }
        scores
    }

    /// Drops games with a player for whom `keep` is false; the players stay.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Results {
        let encounters = self.encounters.iter().filter(|e| keep(e.white) && keep(e.black)).copied().collect();
        Results { players: self.players.clone(), encounters }
    }

    /// Drops players with fewer games, and their games, until all have enough; `counts` has the games as left out.
    pub fn with_min_games(&self, least: u64, counts: &mut GameCounts) -> Results {
        let mut kept = self.clone();
        loop {
            let games: Vec<u64> = kept.scores().iter().map(|s| s.iter().sum()).collect();
            let enough = |player: usize| games[player] >= least;
            if (0..kept.players.len()).all(|player| enough(player) || games[player] == 0) {
                break;
            }
            kept = kept.only(enough);
        }
        counts.leave_out("left_out", self.games() - kept.games());
        let results = kept.encounters.iter().map(|e| {
            let name = |player: usize| kept.players[player].clone();
            ((name(e.white), name(e.black)), e)
        });
        Results::new::<&Encounter>(results.collect())
    }

    /// Puts players' games under one name; a game between two names of one player is none.
    pub fn renamed(&self, aliases: &BTreeMap<String, String>, counts: &mut GameCounts) -> Result<Results> {
        let name = |player: usize| {
            let name = &self.players[player];
            aliases.get(name).unwrap_or(name).clone()
        };
        self.regrouped(name, |white, black| white != black, "same_player", counts)
    }

    /// Leaves out games with a player for whom `keep` is false, and the players without a game.
    pub fn of_players(&self, keep: impl Fn(&str) -> bool, counts: &mut GameCounts) -> Result<Results> {
        let name = |player: usize| self.players[player].clone();
        self.regrouped(name, |white, black| keep(white) && keep(black), "left_out", counts)
    }

    fn regrouped(
        &self,
        name: impl Fn(usize) -> String,
        keep: impl Fn(&str, &str) -> bool,
        reason: &'static str,
        counts: &mut GameCounts,
    ) -> Result<Results> {
        let mut counted: BTreeMap<(String, String), EncounterCounts> = BTreeMap::new();
        let mut dropped = 0;
        for e in &self.encounters {
            let (white, black) = (name(e.white), name(e.black));
            if keep(&white, &black) {
                *counted.entry((white, black)).or_default() += e.into();
            } else {
                dropped += e.games();
            }
        }
        if counted.is_empty() {
            return Err(Error::input("no game of the players to rate is left"));
        }
        counts.leave_out(reason, dropped);
        Ok(Results::new(counted))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GameCounts {
    pub games: u64,
    pub games_rated: u64,
    pub games_skipped: BTreeMap<&'static str, u64>,
}

impl GameCounts {
    /// Counts games as skipped that were rated until now.
    fn leave_out(&mut self, reason: &'static str, games: u64) {
        if games > 0 {
            self.games_rated -= games;
            *self.games_skipped.entry(reason).or_default() += games;
        }
    }
}

#[cfg(test)]
impl Results {
    pub(super) fn of(games: &[(&str, &str, [u64; 3])]) -> Results {
        Results::new(games.iter().map(|(w, b, counts)| ((w.to_string(), b.to_string()), *counts)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_and_left_out_games_are_accounted_for() {
        let results = Results::of(&[("A", "B", [3, 2, 1]), ("B", "A2", [1, 0, 0]), ("A", "A2", [4, 0, 0])]);
        let mut counts = GameCounts { games: 11, games_rated: 11, ..GameCounts::default() };
        let aliases = [("A2".to_string(), "A".to_string())].into();
        let renamed = results.renamed(&aliases, &mut counts).unwrap();
        assert_eq!(renamed, Results::of(&[("A", "B", [3, 2, 1]), ("B", "A", [1, 0, 0])]));
        assert_eq!((counts.games_rated, counts.games_skipped["same_player"]), (7, 4));
        let mut counts = GameCounts { games: 11, games_rated: 11, ..GameCounts::default() };
        let without = results.of_players(|name| name != "A", &mut counts).unwrap();
        assert_eq!((counts.games_rated, counts.games_skipped["left_out"]), (1, 10));
        assert_eq!(without.players, ["A2", "B"]);
        assert!(renamed.of_players(|name| name == "A", &mut counts).is_err());
    }
}
