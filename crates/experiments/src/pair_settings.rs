//! Options that an experiment sets for each pair of games.

use std::sync::atomic::AtomicBool;

use patzer_io::error::Result;
use patzer_match::participant::Participant;

/// Options of a player, with their values.
pub type Side = Vec<(String, String)>;

/// Sets the options of both players in each pair, who are the same program.
pub trait PairSettings: Sync {
    /// Checks that a player takes all values that may come.
    fn check(&self, participant: &Participant, stop: &AtomicBool) -> Result<()>;

    /// Options of both players in a pair; waits for the results that they depend on. `None` if halted.
    fn options(&self, pair: usize, halt: &AtomicBool) -> Option<[Side; 2]>;
}
