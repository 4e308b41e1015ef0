//! Standings of a race: the results of a cross table, and the planner that they steer.

use super::{CandidateRow, Evidence, Planner, RaceReport, RaceSettings, places};
use patzer_io::number::counted;
use patzer_match::record::PairEntry;
use patzer_match::{CrossTable, RunSummary, Standings, Tally};
use patzer_stats::plan::Conditions;

pub struct RaceState {
    settings: RaceSettings,
    names: Vec<String>,
    table: CrossTable,
    planner: Planner,
}

impl RaceState {
    /// Standings of the players by name, the anchor last.
    pub fn new(settings: RaceSettings, planner: Planner, names: &[String]) -> RaceState {
        RaceState { settings, names: names.to_vec(), table: CrossTable::new(names), planner }
    }

    /// Sum of all pairings.
    pub fn all(&self) -> Tally {
        self.table.all()
    }

    pub fn report(&self, ended: &RunSummary) -> RaceReport {
        let evidence = Evidence::from_meetings(self.settings, self.planner.meetings());
        let mut rows = self.rows(&evidence);
        let all = self.all();
        if let Some(conditions) = Conditions::measured(all.games, all.pairs) {
            let errors =
                places::errors(&self.settings, &evidence, self.planner.meetings().pairs(), conditions);
            let unbiased = rows.iter_mut().zip(errors.into_iter().flatten());
            unbiased.for_each(|(row, error)| row.unbiased = Some(row.elo - error));
        }
        RaceReport::new(&self.settings, &self.names, rows, &self.all(), self.decided(), ended)
    }

    /// The winner, and the anchor or the second.
    pub fn finalists(&self) -> [usize; 2] {
        let evidence = Evidence::from_meetings(self.settings, self.planner.meetings());
        let leader = evidence.leader();
        let others = (0..self.settings.candidates).filter(|other| *other != leader);
        let second = others.max_by(|a, b| evidence.elo([*a, *b]).total_cmp(&0.0));
        [leader, self.settings.anchor().or(second).unwrap_or(leader)]
    }

    /// Candidates, the strongest first.
    fn rows(&self, evidence: &Evidence) -> Vec<CandidateRow> {
        let (leader, best) = (evidence.leader(), evidence.best());
        let reference = self.settings.anchor().unwrap_or(leader);
        let row = |candidate: usize| {
            let [low, high] = evidence.interval([candidate, reference]);
            CandidateRow {
                player: candidate,
                name: self.names[candidate].clone(),
                games: self.player_tally(candidate).games.games(),
                score: self.planner.meetings().share(candidate),
                elo: evidence.elo([candidate, reference]),
                low,
                high,
                unbiased: None,
                loss: None,
                best: best[candidate],
            }
        };
        evidence.places().into_iter().map(row).collect()
    }
}

impl Standings for RaceState {
    fn add(&mut self, entry: &PairEntry) {
        self.table.add(entry);
        let half_points = entry.half_points.map(|points| usize::from(points.min(2)));
        self.planner.add(entry.players, half_points[0] + half_points[1]);
    }

    fn between(&self, players: [usize; 2]) -> Tally {
        self.table.between(players)
    }

    fn player_tally(&self, player: usize) -> Tally {
        self.table.player_tally(player)
    }

    fn decided(&self) -> bool {
        self.planner.is_decided()
    }

    fn summary_line(&self) -> String {
        let evidence = Evidence::from_meetings(self.settings, self.planner.meetings());
        let best = self.rows(&evidence);
        let best: Vec<String> =
            best.iter().take(3).map(|row| format!("{} {:.1} %", row.name, 100.0 * row.best)).collect();
        format!("{}; best with probability: {}", counted(self.games(), "game"), best.join(", "))
    }

    fn live_lines(&self) -> String {
        let evidence = Evidence::from_meetings(self.settings, self.planner.meetings());
        let mut text = format!("{}, {}", counted(self.games(), "game"), self.settings);
        for line in super::report::table(&self.rows(&evidence)).lines() {
            text += &format!("\n  {line}");
        }
        text
    }

    fn games(&self) -> u64 {
        self.table.games()
    }
}
