//! Asks the policy for pairings, batch by batch, and hands them to the match runner.

use std::sync::Arc;

use super::policy::{self, Policy, View};
use super::{Evidence, Meetings, RaceSettings};
use patzer_match::Plan;

/// Batches allotted ahead: threads play the next one while the present one ends.
const AHEAD: usize = 2;

pub struct Planner {
    settings: RaceSettings,
    policy: Box<dyn Policy>,
    meetings: Meetings,
    evidence: Evidence,
    allotted: Vec<u64>,
    pulls: Vec<u64>,
    step: u64,
    plan: Arc<Plan>,
    known: bool,
}

impl Planner {
    pub fn new(settings: RaceSettings) -> Planner {
        let players = settings.players();
        let mut planner = Planner {
            settings,
            policy: policy::start(&settings),
            meetings: Meetings::new(players),
            evidence: Evidence::new(settings),
            allotted: vec![0; players * players],
            pulls: vec![0; players],
            step: 0,
            plan: Arc::default(),
            known: false,
        };
        (0..AHEAD).for_each(|_| planner.allot());
        planner
    }

    pub fn plan(&self) -> Arc<Plan> {
        self.plan.clone()
    }

    pub fn meetings(&self) -> &Meetings {
        &self.meetings
    }

    /// Evidence of the batches that have ended.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Counts a pair, in the order of the plan; at the end of a batch, judges and allots another one.
    pub fn add(&mut self, players: [usize; 2], half_points: usize) {
        self.meetings.add(players, half_points);
        if self.meetings.pairs().is_multiple_of(self.settings.batch as u64) {
            self.evidence.update(&self.meetings);
            if self.settings.until_known || policy::needs_bounds(self.settings.policy) {
                self.evidence.bound(&self.meetings);
            }
            self.known = self.evidence.is_known();
            self.allot();
        }
    }

    /// Tests whether the race ends because the winner is known.
    pub fn is_decided(&self) -> bool {
        self.settings.until_known && self.known
    }

    fn allot(&mut self) {
        let players = self.settings.players();
        let all: Vec<usize> = (0..self.settings.candidates).collect();
        let mut batch = Vec::with_capacity(self.settings.batch);
        for _ in 0..self.settings.batch {
            let view = View {
                evidence: &self.evidence,
                allotted: &self.allotted,
                pulls: &self.pulls,
                step: self.step,
            };
            let pairing = match self.settings.anchor() {
                Some(anchor) => [self.policy.choose(&view, &all), anchor],
                None => self.policy.duel(&view),
            };
            let [a, b] = pairing;
            self.allotted[a * players + b] += 1;
            self.allotted[b * players + a] += 1;
            self.pulls[a] += 1;
            self.pulls[b] += 1;
            self.step += 1;
            batch.push(pairing);
        }
        self.plan.extend(&batch);
    }
}
