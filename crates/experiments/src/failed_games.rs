//! Games in a row that a failure of an engine ended.

use patzer_match::Reason;
use patzer_match::record::PairEntry;

/// Games in a row that end in a crash, a stall or an illegal move, after which an engine counts as broken.
const HOPELESS: u64 = 32;

#[derive(Debug, Default)]
pub struct FailedGames(u64);

impl FailedGames {
    pub fn note(&mut self, entry: &PairEntry) {
        let failed = |reason: &Reason| reason.is_failure() && *reason != Reason::TimeForfeit;
        self.0 = if entry.reasons.iter().all(failed) { self.0 + 2 } else { 0 };
    }

    /// Every game of late ended because an engine crashed, did not answer or played an illegal move.
    pub fn hopeless(&self) -> bool {
        self.0 >= HOPELESS
    }
}
