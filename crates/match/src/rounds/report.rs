//! Standings and report of a tournament in rounds.

use std::fmt;

use serde::Serialize;

use super::{Round, RoundSettings, Rounds, System, swiss};
use crate::openings::Openings;
use crate::record::PairEntry;
use crate::tournament::TournamentReport;
use crate::{CrossTable, RunSummary, Standings, Tally};
use patzer_io::printable;

/// Standings: the results of a cross table, and the rounds that they steer.
pub struct RoundsState {
    names: Vec<String>,
    table: CrossTable,
    rounds: Rounds,
}

/// A player's place. Ties are broken in the order of the fields, then by the order on the command line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerRank {
    pub name: String,
    /// Round in which a knockout ended for the player, from 1; its number of rounds and 1 for the winner. 0 in a Swiss.
    pub left: usize,
    /// Points of games, byes counted as won.
    pub points: f64,
    /// Sum of the opponents' points.
    pub buchholz: f64,
    /// Sum over the encounters of the opponent's points times the share scored against it.
    pub sonneborn_berger: f64,
    pub byes: usize,
}

/// An encounter as the report shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EncounterRow {
    pub round: usize,
    pub players: [String; 2],
    pub points: [f64; 2],
    /// Pairs of games beyond the settings', which broke a tie.
    pub extra_pairs: u64,
    /// The player that went on in a knockout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundsReport {
    #[serde(flatten)]
    pub table: TournamentReport,
    pub system: String,
    pub ranks: Vec<PlayerRank>,
    pub encounters: Vec<EncounterRow>,
}

impl RoundsState {
    pub fn new(rounds: Rounds, names: &[String]) -> RoundsState {
        RoundsState { names: names.to_vec(), table: CrossTable::new(names), rounds }
    }

    /// Sum of all pairings.
    pub fn all(&self) -> Tally {
        self.table.all()
    }

    pub fn report(&self, ended: &RunSummary, book: Option<&Openings>) -> RoundsReport {
        let settings = self.rounds.settings();
        let ended = RunSummary { complete: self.rounds.is_over(), ..*ended };
        RoundsReport {
            table: self.table.report(&ended, book),
            system: settings.to_string(),
            ranks: self.ranks(),
            encounters: encounters(&self.rounds, settings, &self.names),
        }
    }

    /// Players, the best first.
    pub fn ranks(&self) -> Vec<PlayerRank> {
        let mut ranks: Vec<PlayerRank> = (0..self.names.len()).map(|player| self.rank(player)).collect();
        ranks.sort_by(|a, b| {
            let key = |rank: &PlayerRank| [rank.points, rank.buchholz, rank.sonneborn_berger];
            b.left.cmp(&a.left).then_with(|| {
                let pairs = key(b).into_iter().zip(key(a));
                pairs
                    .map(|(b, a)| b.total_cmp(&a))
                    .find(|order| order.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            })
        });
        ranks
    }

    fn rank(&self, player: usize) -> PlayerRank {
        let (settings, rounds) = (self.rounds.settings(), self.rounds.rounds());
        let points = |player| swiss::half_points(player, settings.pairs, rounds) as f64 / 2.0;
        let (mut buchholz, mut sonneborn_berger) = (0.0, 0.0);
        for encounter in rounds.iter().flat_map(|round| &round.encounters) {
            let Some(side) = encounter.players.iter().position(|other| *other == player) else { continue };
            let opponent = points(encounter.players[1 - side]);
            let share = encounter.half_points[side] as f64 / (4 * encounter.pairs.max(1)) as f64;
            buchholz += opponent;
            sonneborn_berger += opponent * share;
        }
        PlayerRank {
            name: self.names[player].clone(),
            left: if settings.system == System::Knockout { self.left(player) } else { 0 },
            points: points(player),
            buchholz,
            sonneborn_berger,
            byes: rounds.iter().filter(|round| round.byes.contains(&player)).count(),
        }
    }

    /// The last round of a knockout in which the player is; one more for its winner.
    fn left(&self, player: usize) -> usize {
        let rounds = self.rounds.rounds();
        let is_in = |round: &Round| {
            round.byes.contains(&player) || round.encounters.iter().any(|e| e.players.contains(&player))
        };
        let last = rounds.iter().filter(|round| is_in(round)).count();
        let won = rounds.last().is_some_and(|round| round.encounters.iter().any(|e| e.winner() == player));
        last + usize::from(self.rounds.is_over() && won)
    }
}

fn encounters(rounds: &Rounds, settings: RoundSettings, names: &[String]) -> Vec<EncounterRow> {
    let knockout = settings.system == System::Knockout;
    let all = rounds.rounds().iter().enumerate();
    let rows = all.flat_map(|(round, of)| of.encounters.iter().map(move |encounter| (round + 1, encounter)));
    let row = |(round, encounter): (usize, &super::Encounter)| EncounterRow {
        round,
        players: encounter.players.map(|player| names[player].clone()),
        points: encounter.half_points.map(|half| half as f64 / 2.0),
        extra_pairs: encounter.pairs.saturating_sub(settings.pairs),
        winner: (knockout
            && encounter.pairs >= settings.pairs
            && (rounds.is_over() || round < rounds.rounds().len()))
        .then(|| names[encounter.winner()].clone()),
    };
    rows.map(row).collect()
}

impl Standings for RoundsState {
    fn add(&mut self, entry: &PairEntry) {
        self.table.add(entry);
        let first: u64 = entry.half_points.iter().map(|half| u64::from(*half)).sum();
        self.rounds.add(entry.players, [first, 4_u64.saturating_sub(first)]);
    }

    fn between(&self, players: [usize; 2]) -> Tally {
        self.table.between(players)
    }

    fn player_tally(&self, player: usize) -> Tally {
        self.table.player_tally(player)
    }

    fn decided(&self) -> bool {
        self.rounds.is_over()
    }

    fn summary_line(&self) -> String {
        format!("round {}, {}", self.rounds.rounds().len(), self.table.summary_line())
    }

    fn games(&self) -> u64 {
        self.table.games()
    }
}

impl fmt::Display for RoundsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.encounters {
            let [a, b] = row.players.each_ref().map(|name| printable(name));
            let [ours, theirs] = row.points;
            write!(f, "round {}  {a} – {b}  {ours} : {theirs}", row.round)?;
            if row.extra_pairs > 0 {
                write!(f, ", {} pairs to break the tie", row.extra_pairs)?;
            }
            match &row.winner {
                Some(winner) if ours == theirs => writeln!(f, ", {} goes on by seed", printable(winner))?,
                _ => writeln!(f)?,
            }
        }
        writeln!(f)?;
        for (place, rank) in (1..).zip(&self.ranks) {
            write!(f, "{place:>3}. {}  {} points", printable(&rank.name), rank.points)?;
            write!(f, ", Buchholz {}, Sonneborn-Berger {:.2}", rank.buchholz, rank.sonneborn_berger)?;
            writeln!(f, "{}", if rank.byes > 0 { format!(", byes {}", rank.byes) } else { String::new() })?;
        }
        writeln!(f)?;
        self.table.fmt(f)
    }
}
