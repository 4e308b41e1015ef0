//! Cross table of a match of two, a gauntlet or a round robin.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::by_opening::{OpeningResult, OpeningTallies, write_table};
use super::openings::Openings;
use super::record::PairEntry;
use super::tally::{MatchScore, plus_minus};
use crate::{Reason, RunSummary, Standings, StopReason, Tally};
use patzer_io::number::counted;
use patzer_io::printable;
use patzer_stats::{Estimate, Pentanomial, Precision, Trinomial, with_error};

/// Tallies of all pairings of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossTable {
    names: Vec<String>,
    pairings: BTreeMap<[usize; 2], Tally>,
    openings: OpeningTallies,
    /// Precision at which the tournament ends, and the number of pairings that must reach it.
    until: Option<(Precision, usize)>,
}

impl CrossTable {
    pub fn new(names: &[String]) -> CrossTable {
        let (pairings, openings) = (BTreeMap::new(), OpeningTallies::default());
        CrossTable { names: names.to_vec(), pairings, openings, until: None }
    }

    /// Ends when the error of each of `pairings` pairings, from its own pairs of games, is as small as asked for.
    pub fn until(self, precision: Precision, pairings: usize) -> CrossTable {
        CrossTable { until: Some((precision, pairings)), ..self }
    }

    /// Sum of all pairings, from the side of each first player.
    pub fn all(&self) -> Tally {
        let mut sum = Tally::default();
        self.pairings.values().for_each(|tally| sum += tally);
        sum
    }

    pub fn report(&self, ended: &RunSummary, book: Option<&Openings>) -> TournamentReport {
        let all = self.all();
        let name = |player: usize| self.names[player].clone();
        let row = |(player, tally): &(usize, Tally)| PlayerRow { name: name(*player), counts: tally.into() };
        let pairing = |(&[a, b], tally): (&[usize; 2], &Tally)| {
            let (players, identical) = ([name(a), name(b)], tally.identical());
            PairingResult { players, counts: tally.into(), identical }
        };
        TournamentReport {
            score: (self.names.len() == 2).then(|| MatchScore::from(&all)),
            games: all.games.games(),
            players: self.ranking(self.names.len()).iter().map(row).collect(),
            pairings: self.pairings.iter().map(pairing).collect(),
            openings: book.map(|book| self.openings.rows(book)),
            games_per_second: ended.speed(),
            mirrored_pairs: all.mirrored,
            reasons: all.reasons,
            end: match ended.complete {
                _ if self.decided() => StopReason::Precision,
                true => StopReason::Games,
                false => StopReason::Interrupted,
            },
        }
    }
}

impl Standings for CrossTable {
    fn add(&mut self, entry: &PairEntry) {
        self.pairings.entry(entry.players).or_default().add(entry);
        self.openings.add(entry);
    }

    fn between(&self, players: [usize; 2]) -> Tally {
        self.pairings.get(&players).cloned().unwrap_or_default()
    }

    fn player_tally(&self, player: usize) -> Tally {
        let mut sum = Tally::default();
        for (&[a, b], tally) in &self.pairings {
            if a == player {
                sum += tally;
            } else if b == player {
                sum += &tally.reversed();
            }
        }
        sum
    }

    fn decided(&self) -> bool {
        self.until.is_some_and(|(precision, pairings)| {
            self.pairings.len() >= pairings
                && self.pairings.values().all(|tally| precision.is_reached(tally.pairs))
        })
    }

    fn expected_games(&self) -> Option<f64> {
        let (precision, pairings) = self.until?;
        let needed = self.pairings.values().map(|tally| precision.pairs_needed(tally.pairs));
        let most = needed.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        (most > 0.0).then_some(2.0 * most * pairings as f64)
    }

    fn summary_line(&self) -> String {
        let ranking = self.ranking(self.names.len());
        let best: Vec<String> = ranking
            .iter()
            .take(5)
            .map(|(player, tally)| format!("{} {:.1} %", self.names[*player], 100.0 * tally.share()))
            .collect();
        let games = counted(self.games(), "game");
        match (self.names.len(), self.player_tally(0)) {
            (2, Tally { games: results, pairs, .. }) => {
                let Estimate { elo, elo_error, .. } = Estimate::new(pairs);
                let results = plus_minus(results);
                format!("{games}: {results}, Elo {}", with_error(elo, elo_error, 1))
            }
            _ => format!("{games}: {}", best.join(", ")),
        }
    }

    fn games(&self) -> u64 {
        self.pairings.values().map(|tally| tally.games.games()).sum()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultSummary {
    pub games: u64,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    pub score: f64,
    pub pentanomial: Pentanomial,
    pub draw_ratio: Option<f64>,
    /// Pairs won over pairs lost; `None` if none was lost.
    pub pair_ratio: Option<f64>,
    #[serde(flatten)]
    pub estimate: Estimate,
    pub white: Trinomial,
    pub black: Trinomial,
}

impl From<&Tally> for ResultSummary {
    fn from(tally: &Tally) -> ResultSummary {
        let Trinomial { wins, draws, losses } = tally.games;
        ResultSummary {
            games: tally.games.games(),
            wins,
            draws,
            losses,
            score: tally.share(),
            pentanomial: tally.pairs,
            draw_ratio: tally.pairs.even(),
            pair_ratio: tally.pairs.ratio(),
            estimate: Estimate::new(tally.pairs),
            white: tally.colours[0],
            black: tally.colours[1],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerRow {
    pub name: String,
    #[serde(flatten)]
    pub counts: ResultSummary,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairingResult {
    pub players: [String; 2],
    #[serde(flatten)]
    pub counts: ResultSummary,
    pub identical: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TournamentReport {
    #[serde(flatten)]
    pub score: Option<MatchScore>,
    pub games: u64,
    pub players: Vec<PlayerRow>,
    pub pairings: Vec<PairingResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openings: Option<Vec<OpeningResult>>,
    pub games_per_second: f64,
    pub reasons: BTreeMap<Reason, u64>,
    pub mirrored_pairs: u64,
    pub end: StopReason,
}

fn width<'a>(texts: impl Iterator<Item = &'a str>, least: usize) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0).max(least)
}

impl fmt::Display for TournamentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<_> = self.players.iter().map(|row| printable(&row.name)).collect();
        let w = width(shown.iter().map(AsRef::as_ref), 6);
        writeln!(
            f,
            "{:<w$} {:>8} {:>8} {:>7} {:>7} {:>20} {:>18} {:>18}",
            "player", "Elo", "±", "games", "score", "results", "with White", "with Black"
        )?;
        for (name, PlayerRow { counts: c, .. }) in shown.iter().zip(&self.players) {
            let games = Trinomial { wins: c.wins, draws: c.draws, losses: c.losses };
            writeln!(
                f,
                "{name:<w$} {:>8} {:>8} {:>7} {:>5.1} % {:>20} {:>18} {:>18}",
                if c.estimate.elo.is_finite() { format!("{:+.1}", c.estimate.elo) } else { "–".into() },
                if c.estimate.elo_error.is_finite() {
                    format!("{:.1}", c.estimate.elo_error)
                } else {
                    "–".into()
                },
                c.games,
                100.0 * c.score,
                plus_minus(games),
                plus_minus(c.white),
                plus_minus(c.black)
            )?;
        }
        writeln!(f, "\npairings (LL, LD, WL+DD, WD, WW from the first player's side)")?;
        let title =
            |pairing: &PairingResult| pairing.players.each_ref().map(|name| printable(name)).join(" – ");
        let titles: Vec<String> = self.pairings.iter().map(title).collect();
        let w = width(titles.iter().map(String::as_str), 0);
        for (title, PairingResult { counts: c, identical, .. }) in titles.iter().zip(&self.pairings) {
            let pairs = format!("{:?}", c.pentanomial.0);
            write!(f, "{title:<w$}  {:>5.1} %  {pairs:<24}", 100.0 * c.score)?;
            write!(f, "  Elo {}", with_error(c.estimate.elo, c.estimate.elo_error, 1))?;
            write!(f, ", LOS {:.1} %", 100.0 * c.estimate.los)?;
            write!(f, ", even {:.1} %", 100.0 * c.draw_ratio.unwrap_or(0.0))?;
            writeln!(f, "{}", if *identical { ", all pairs identical" } else { "" })?;
        }
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        write!(f, "\nendings     {}", reasons.join(", "))?;
        if self.games_per_second > 0.0 {
            write!(f, "\nspeed       {:.1} games/s", self.games_per_second)?;
        }
        if let StopReason::Interrupted = self.end {
            write!(f, "\ninterrupted after {}", counted(self.games, "game"))?;
        }
        self.openings.as_ref().map_or(Ok(()), |openings| write_table(f, openings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openings::BookOptions;
    use crate::tally::tests::entry;

    const ENDED: RunSummary =
        RunSummary { games: 6, seconds: 2.0, discarded: 0, single_games: 0, complete: true };

    #[test]
    fn a_round_robin_counts_each_player_against_all() {
        let names = ["a", "b", "c"].map(String::from);
        let mut table = CrossTable::new(&names);
        table.add(&entry(1, [0, 1], [2, 1]));
        table.add(&entry(2, [0, 2], [0, 1]));
        table.add(&entry(3, [1, 2], [2, 2]));
        let book = Openings::load(BookOptions { most: Some(2), ..BookOptions::default() }).unwrap();
        let report = table.report(&ENDED, Some(&book));
        assert_eq!(report.score, None);
        let row = |name: &str| report.players.iter().find(|row| row.name == name).unwrap().counts.clone();
        assert_eq!((row("a").wins, row("a").draws, row("a").losses), (1, 2, 1));
        assert_eq!((row("b").wins, row("b").draws, row("b").losses), (2, 1, 1));
        assert_eq!((row("c").wins, row("c").draws, row("c").losses), (1, 1, 2));
        assert_eq!(row("b").pentanomial, Pentanomial([0, 1, 0, 0, 1]));
        let order: Vec<&str> = report.players.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(order, ["b", "a", "c"]);
        assert_eq!(report.openings.unwrap().len(), 2, "a book of two: the third opening is the first again");
        assert_eq!(report.games_per_second, 3.0);
    }

    #[test]
    fn a_round_robin_ends_when_every_pairing_is_known_well_enough() {
        let names = ["a", "b", "c"].map(String::from);
        let mut table = CrossTable::new(&names).until(Precision::new(60.0).unwrap(), 3);
        assert_eq!((table.decided(), table.expected_games()), (false, None));
        let results = [[2, 1], [0, 1], [1, 1], [2, 0]];
        for pair in 0..3 * 80 {
            assert!(!table.decided(), "after {pair} pairs");
            let players = [[0, 1], [0, 2], [1, 2]][pair % 3];
            table.add(&entry(pair + 1, players, results[pair / 3 % 4]));
            if table.decided() {
                break;
            }
        }
        assert_eq!(table.games(), 2 * 3 * 64, "the least number of pairs for each pairing");
        assert_eq!(table.report(&RunSummary { complete: false, ..ENDED }, None).end, StopReason::Precision);
    }

    #[test]
    fn a_match_of_two_has_the_keys_of_a_test_and_its_table() {
        let names = ["a", "b"].map(String::from);
        let mut table = CrossTable::new(&names);
        table.add(&entry(1, [0, 1], [2, 1]));
        let report = table.report(&ENDED, None);
        let v = serde_json::to_value(&report).unwrap();
        assert_eq!((&v["wins"], &v["draws"], &v["losses"]), (&1.into(), &1.into(), &0.into()));
        assert_eq!(v["pentanomial"], serde_json::json!([0, 0, 0, 1, 0]));
        assert_eq!(v["players"][1]["black"]["losses"], 1);
        assert!(v.get("openings").is_none() && v.get("elo").is_some());
        let text = report.to_string();
        assert!(text.contains("a – b") && text.contains(" 75.0 %"), "{text}");
    }
}
