//! Settings of a race: players, policy, batches, confidence.

use std::fmt;

use serde::Serialize;

use super::PolicyKind;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaceSettings {
    pub candidates: usize,
    /// The player after the candidates is the opponent of all; else candidates meet each other.
    pub anchor: bool,
    pub policy: PolicyKind,
    /// Pairs at most.
    pub budget: u64,
    /// Confidence of the intervals, and of the winner where the race ends by it.
    pub confidence: f64,
    /// The race ends when the best candidate is known with `confidence`.
    pub until_known: bool,
    /// Elo by which the winner may be weaker than the best.
    pub within: f64,
    /// Pairs allotted at once.
    pub batch: usize,
    /// Share of pairs that the policy `epsilon` gives to candidates at random.
    pub epsilon: f64,
    pub seed: u64,
}

impl RaceSettings {
    pub fn check(&self) -> Result<()> {
        let RaceSettings { candidates, confidence, within, epsilon, budget, batch, .. } = *self;
        if candidates < 2 {
            return Err(Error::usage(format!("a race needs two candidates or more, not {candidates}")));
        }
        if batch == 0 {
            return Err(Error::usage("a race allots one pair or more at once"));
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::setting("confidence", confidence, "write a probability between 0 and 1"));
        }
        if !(0.0..=1.0).contains(&epsilon) {
            return Err(Error::setting("epsilon", epsilon, "write a share from 0 to 1"));
        }
        if !(within >= 0.0 && within.is_finite()) {
            return Err(Error::setting("within", within, "write Elo, 0 or more"));
        }
        if budget < candidates as u64 {
            let games = 2 * candidates;
            let reason = format!("{candidates} candidates need {games} games or more");
            return Err(Error::setting("games", 2 * budget, reason));
        }
        Ok(())
    }

    /// Players, the anchor included.
    pub fn players(&self) -> usize {
        self.candidates + usize::from(self.anchor)
    }

    /// Index of the anchor.
    pub fn anchor(&self) -> Option<usize> {
        self.anchor.then_some(self.candidates)
    }

    /// Error probability of each bound of a pairing, so that all of them hold together with `confidence`.
    pub(super) fn alpha(&self) -> f64 {
        let pairings =
            if self.anchor { self.candidates } else { self.candidates * (self.candidates - 1) / 2 };
        (1.0 - self.confidence) / (2 * pairings) as f64
    }
}

/// Settings that allotments depend on, as a journal keeps them.
#[derive(Debug, Serialize)]
pub struct RaceConditions {
    anchor: bool,
    policy: PolicyKind,
    /// Pairs at most, where the policy counts on them.
    budget: Option<u64>,
    confidence: f64,
    batch: usize,
    epsilon: Option<f64>,
    seed: u64,
}

impl RaceSettings {
    /// Leaves out when the race ends, which may change while it runs.
    pub fn conditions(&self) -> RaceConditions {
        let RaceSettings {
            candidates: _,
            anchor,
            policy,
            budget,
            confidence,
            until_known: _,
            within: _,
            batch,
            epsilon,
            seed,
        } = *self;
        let budget = (policy == PolicyKind::Halving).then_some(budget);
        let epsilon = (policy == PolicyKind::Epsilon).then_some(epsilon);
        RaceConditions { anchor, policy, budget, confidence, batch, epsilon, seed }
    }
}

/// The settings that allotments depend on, in words.
impl fmt::Display for RaceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RaceSettings { policy, confidence, batch, seed, .. } = self;
        write!(f, "{}, confidence {confidence}, batches of {batch}, seed {seed}", policy)?;
        match policy {
            PolicyKind::Halving => write!(f, ", {} games", 2 * self.budget)?,
            PolicyKind::Epsilon => write!(f, ", epsilon {}", self.epsilon)?,
            _ => {}
        }
        f.write_str(if self.anchor { ", the last player is the anchor" } else { "" })
    }
}
