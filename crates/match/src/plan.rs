//! Pairings that follow from results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::pairings::{Pairing, SWAPPED, Schedule};

/// Pairings as far as they are allotted, of a race or of a tournament in rounds.
#[derive(Debug, Default)]
pub struct Plan {
    pairings: Mutex<Vec<[usize; 2]>>,
    more: Condvar,
}

impl Plan {
    /// Allots more pairs.
    pub fn extend(&self, pairings: &[[usize; 2]]) {
        self.pairings.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(pairings);
        self.more.notify_all();
    }

    /// The players of a pair, if it is allotted.
    pub fn get(&self, pair: usize) -> Option<[usize; 2]> {
        self.pairings.lock().unwrap_or_else(PoisonError::into_inner).get(pair).copied()
    }
}

impl Schedule for Plan {
    /// Waits until the pair is allotted. That depends on earlier pairs alone, which other threads play.
    fn pairing(&self, pair: usize, halt: &AtomicBool) -> Option<Pairing> {
        let mut pairings = self.pairings.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(&players) = pairings.get(pair) {
                return Some(Pairing { players, colours: SWAPPED, openings: [pair; 2] });
            }
            if halt.load(Ordering::Relaxed) {
                return None;
            }
            let wait = self.more.wait_timeout(pairings, Duration::from_millis(50));
            pairings = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
