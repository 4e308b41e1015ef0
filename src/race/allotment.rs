//! Arguments common to races and their simulation.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::named::named;
use patzer_experiments::race::{PolicyKind, RaceSettings};

/// Default maximum number of games: alone, and with --confidence.
const BUDGET: [u64; 2] = [20_000, 1_000_000];

/// Confidence of the intervals where the race does not end by it.
const CONFIDENCE: f64 = 0.95;

/// Games of a race, and their allotment to the candidates.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Race")]
pub struct AllotmentArgs {
    /// Games at most [default: 20000, with --confidence 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    games: Option<u64>,

    /// End when the best candidate is known with this probability, 0 to 1 [default: play --games]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    confidence: Option<f64>,

    /// Elo by which the winner may be weaker than the best, with --confidence
    #[arg(long, value_name = "ELO", default_value_t = 0.0, allow_negative_numbers = true)]
    within: f64,

    /// Which candidates play next [default: halving, with --confidence lucb]
    #[arg(long, value_name = "POLICY", value_parser = named::<PolicyKind>())]
    policy: Option<PolicyKind>,

    /// Share of pairs that the policy epsilon gives to candidates at random
    #[arg(
        long,
        hide_short_help = true,
        value_name = "SHARE",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    epsilon: f64,

    /// Pairs allotted at once, from the results up to the batch before the last; more boards than this wait
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pairs: u32,
}

impl AllotmentArgs {
    pub fn settings(&self, candidates: usize, anchor: bool, seed: u64) -> Result<RaceSettings> {
        let until_known = self.confidence.is_some();
        let settings = RaceSettings {
            candidates,
            anchor,
            policy: self.policy.unwrap_or(if until_known { PolicyKind::Lucb } else { PolicyKind::Halving }),
            budget: self.games.unwrap_or(BUDGET[usize::from(until_known)]) / 2,
            confidence: self.confidence.unwrap_or(CONFIDENCE),
            until_known,
            within: self.within,
            batch: self.pairs as usize,
            epsilon: self.epsilon,
            seed,
        };
        settings.check().map(|()| settings)
    }
}
