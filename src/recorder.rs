//! Results and players of a command, for the book of runs.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;

use patzer_match::Lineup;
use patzer_match::participant::Participant;
use patzer_report::lab::PlayerRecord;

/// Receives the results and players of a run, if it is noted.
#[derive(Debug, Clone, Default)]
pub struct Recorder(Option<Arc<Mutex<Recorded>>>);

#[derive(Debug, Default)]
pub struct Recorded {
    pub results: Vec<Value>,
    pub players: Vec<PlayerRecord>,
}

impl Recorder {
    pub fn recording() -> Recorder {
        Recorder(Some(Arc::default()))
    }

    fn with<T: Default>(&self, note: impl FnOnce(&mut Recorded) -> T) -> T {
        let recorded = self.0.as_ref();
        recorded.map_or_else(T::default, |all| note(&mut all.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// A value that cannot be written as JSON fails where it is printed.
    pub fn result(&self, result: &impl Serialize) {
        self.with(|recorded| recorded.results.extend(serde_json::to_value(result)));
    }

    pub fn players(&self, lineup: &Lineup) {
        let player = |Participant { name, digest, .. }: &Participant| PlayerRecord {
            name: name.clone(),
            digest: digest.clone(),
        };
        self.with(|recorded| recorded.players = lineup.participants.iter().map(player).collect());
    }

    pub fn take(&self) -> Recorded {
        self.with(std::mem::take)
    }
}
