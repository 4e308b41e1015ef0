//! Standings of a screen: the results of a cross table, and the planner that they steer.

use super::report::{self, ScreenReport};
use super::{Planner, Standing};
use crate::failed_games::FailedGames;
use patzer_io::number::counted;
use patzer_match::record::PairEntry;
use patzer_match::{CrossTable, RunSummary, Standings, Tally};

pub struct ScreenState {
    table: CrossTable,
    planner: Planner,
    failed: FailedGames,
}

impl ScreenState {
    /// Standings of the players by name.
    pub fn new(planner: Planner, names: &[String]) -> ScreenState {
        ScreenState { table: CrossTable::new(names), planner, failed: FailedGames::default() }
    }

    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// Sum of all pairings.
    pub fn all(&self) -> Tally {
        self.table.all()
    }

    /// Every game of late ended by a failure of an engine.
    pub fn broken(&self) -> bool {
        self.failed.hopeless()
    }

    /// Report of all pairs, an unfinished batch included.
    pub fn report(&self, ended: &RunSummary) -> ScreenReport {
        let mut planner = self.planner.clone();
        planner.finish();
        ScreenReport::new(&planner, &self.all(), ended)
    }
}

impl Standings for ScreenState {
    fn add(&mut self, entry: &PairEntry) {
        self.table.add(entry);
        self.failed.note(entry);
        self.planner.add(entry.half_points.map(|points| usize::from(points.min(2))).into_iter().sum());
    }

    fn between(&self, players: [usize; 2]) -> Tally {
        self.table.between(players)
    }

    fn player_tally(&self, player: usize) -> Tally {
        self.table.player_tally(player)
    }

    fn decided(&self) -> bool {
        self.planner.is_decided() || self.broken()
    }

    fn summary_line(&self) -> String {
        format!("{}, {}", counted(self.games(), "game"), self.tuning().unwrap_or_default())
    }

    /// Numbers of open, kept and dropped factors, and the largest effects.
    fn tuning(&self) -> Option<String> {
        let count =
            |of: Standing| self.planner.standings().iter().filter(|standing| **standing == of).count();
        let counts =
            [Standing::Open, Standing::Kept, Standing::Dropped].map(|of| format!("{} {of}", count(of)));
        let mut rows = report::effects(&self.planner);
        rows.sort_by(|a, b| b.elo.abs().total_cmp(&a.elo.abs()));
        let largest =
            rows.iter().take(4).map(|row| format!("{} {:+.1} ± {:.1}", row.name, row.elo, row.error));
        Some(counts.into_iter().chain(largest).collect::<Vec<_>>().join(", "))
    }

    fn live_lines(&self) -> String {
        let rows = report::table(&report::effects(&self.planner));
        format!("{}\n{rows}", counted(self.games(), "game"))
    }

    fn games(&self) -> u64 {
        self.table.games()
    }
}
