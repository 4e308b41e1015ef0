//! Evidence of a race's results: strengths, and bounds of all differences that hold at any time.

use super::strengths::{Strengths, argmax};
use super::{Meetings, RaceSettings};
use patzer_stats::Pentanomial;
use patzer_stats::betting;
use patzer_stats::elo::{elo_of, expected_score};

/// Draws for the probabilities of being best: standard error 0.5 % at most.
const DRAWS: u64 = 10_000;

#[derive(Debug, Clone)]
pub struct Evidence {
    settings: RaceSettings,
    strengths: Strengths,
    /// Pairs and bounds of each pairing that has met, with the counts that they are from.
    direct: Vec<(Pentanomial, [f64; 2])>,
    /// Upper bound of Elo of i over j: row i, column j.
    upper: Vec<f64>,
    /// Mean scores: against the anchor, or expected against a player of the mean strength.
    means: Vec<f64>,
}

impl Evidence {
    pub fn new(settings: RaceSettings) -> Evidence {
        let players = settings.players();
        Evidence {
            settings,
            strengths: Strengths::new(players),
            direct: vec![(Pentanomial::default(), [f64::NEG_INFINITY, f64::INFINITY]); players * players],
            upper: vec![f64::INFINITY; players * players],
            means: vec![0.5; settings.candidates],
        }
    }

    /// Evidence of the results of a whole race.
    pub fn from_meetings(settings: RaceSettings, meetings: &Meetings) -> Evidence {
        let mut evidence = Evidence::new(settings);
        evidence.update(meetings);
        evidence.bound(meetings);
        evidence
    }

    /// Takes in new results; the bounds stay as they were.
    pub fn update(&mut self, meetings: &Meetings) {
        self.strengths.fit(meetings);
        let candidates = self.settings.candidates;
        let mean = (0..candidates).map(|i| self.strengths.elo(i)).sum::<f64>() / candidates as f64;
        self.means = match self.settings.anchor {
            true => (0..candidates).map(|i| meetings.share(i)).collect(),
            false => (0..candidates).map(|i| expected_score(self.strengths.elo(i) - mean)).collect(),
        };
    }

    /// Computes the bounds of all differences.
    pub fn bound(&mut self, meetings: &Meetings) {
        let players = self.settings.players();
        for ([a, b], counts) in meetings.met() {
            let (known, bounds) = &mut self.direct[a * players + b];
            if *known != counts {
                *bounds = betting::bounds(counts, self.settings.alpha()).map(elo_of);
                *known = counts;
            }
        }
        self.chain();
    }

    /// Bounds add along a chain of pairings; the narrowest is a shortest path (Floyd and Warshall).
    fn chain(&mut self) {
        let players = self.settings.players();
        for i in 0..players {
            for j in 0..players {
                self.upper[i * players + j] = match i.cmp(&j) {
                    std::cmp::Ordering::Less => self.direct[i * players + j].1[1],
                    std::cmp::Ordering::Greater => -self.direct[j * players + i].1[0],
                    std::cmp::Ordering::Equal => 0.0,
                };
            }
        }
        for k in 0..players {
            for i in 0..players {
                let first = self.upper[i * players + k];
                if first == f64::INFINITY {
                    continue;
                }
                for j in 0..players {
                    let sum = first + self.upper[k * players + j];
                    let bound = &mut self.upper[i * players + j];
                    *bound = bound.min(sum);
                }
            }
        }
    }

    pub fn settings(&self) -> &RaceSettings {
        &self.settings
    }

    /// Candidate with the highest mean.
    pub fn leader(&self) -> usize {
        argmax(self.means.iter().copied())
    }

    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Estimated Elo of one player over another, from all pairs.
    pub fn elo(&self, [a, b]: [usize; 2]) -> f64 {
        self.strengths.elo(a) - self.strengths.elo(b)
    }

    /// Estimated score of one player against another.
    pub fn expected(&self, players: [usize; 2]) -> f64 {
        self.strengths.expected(players)
    }

    /// Score that the best candidate would have had beyond that of these players of a pair, by the estimates.
    pub fn regret(&self, [a, b]: [usize; 2]) -> f64 {
        let best = self.leader();
        match self.settings.anchor() {
            Some(anchor) => self.expected([best, anchor]) - self.expected([a.min(b), anchor]),
            // Both play below the best, which scores one half against its like.
            None => 0.5 * (self.expected([best, a]) + self.expected([best, b])) - 0.5,
        }
    }

    /// Mean regret of a game where all candidates play equally often.
    pub fn uniform_regret(&self) -> f64 {
        let candidates = self.settings.candidates;
        let of = |candidate: usize| match self.settings.anchor() {
            Some(anchor) => self.regret([candidate, anchor]),
            None => self.regret([candidate, candidate]),
        };
        (0..candidates).map(of).sum::<f64>() / candidates as f64
    }

    /// Upper bound of Elo of one player over another; all bounds hold together at all times.
    pub fn upper(&self, [a, b]: [usize; 2]) -> f64 {
        self.upper[a * self.settings.players() + b]
    }

    /// Interval of Elo of one player over another.
    pub fn interval(&self, [a, b]: [usize; 2]) -> [f64; 2] {
        [-self.upper([b, a]), self.upper([a, b])]
    }

    /// Tests whether no candidate can be stronger than the leader by more than [`RaceSettings::within`].
    pub fn is_known(&self) -> bool {
        let leader = self.leader();
        let others = (0..self.settings.candidates).filter(|other| *other != leader);
        others.into_iter().all(|other| self.upper([other, leader]) <= self.settings.within)
    }

    /// Elo of all players, the candidates drawn towards their mean by as much as chance spreads them.
    pub fn shrunk(&self) -> Vec<f64> {
        self.strengths.shrunk(self.settings.candidates, 1_000, self.settings.seed)
    }

    /// Candidates by their place, the strongest first: by Elo over the anchor, else over the leader.
    pub fn places(&self) -> Vec<usize> {
        let leader = self.leader();
        let reference = self.settings.anchor().unwrap_or(leader);
        let elo = |candidate: usize| self.elo([candidate, reference]);
        let mut order: Vec<usize> = (0..self.settings.candidates).collect();
        // The leader first, whatever rounding does.
        order.sort_by(|&a, &b| (b == leader).cmp(&(a == leader)).then(elo(b).total_cmp(&elo(a))));
        order
    }

    /// Probability of each candidate to be the best, under a flat prior.
    pub fn best(&self) -> Vec<f64> {
        self.strengths.best(self.settings.candidates, DRAWS, self.settings.seed)
    }
}
