//! Crashes and hangs of a program outside of games, after which it is started again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use shakmaty::Chess;

use crate::PlayerError;
use patzer_chess::fen;
use patzer_io::number::counted;
use patzer_io::printable;

/// Crashes and hangs of all processes of a program, counted.
#[derive(Debug, Default)]
pub struct Restarts(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    count: u64,
    /// Reason and position.
    first: String,
}

impl Restarts {
    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a crash or hang in a position; any other error is none.
    pub fn note(&self, error: &PlayerError, position: &Chess) {
        let (PlayerError::Crash(reason) | PlayerError::Stall(reason)) = error else { return };
        let mut counted = self.lock();
        counted.count += 1;
        if counted.count == 1 {
            counted.first = format!("{reason}, in {}", fen::text(position));
        }
    }

    pub fn count(&self) -> u64 {
        self.lock().count
    }

    /// Warning for the end of a run; `None` without crashes and hangs.
    pub fn warning(&self, name: &str) -> Option<String> {
        let Counted { count, first } = &*self.lock();
        let (name, times, first) = (printable(name), counted(*count, "time"), printable(first));
        (*count > 0)
            .then(|| format!("{name} crashed or stalled {times} and was started again; first: {first}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_and_hangs_are_counted_and_the_first_is_named() {
        let restarts = Restarts::default();
        for error in [
            PlayerError::Stopped,
            PlayerError::Unable("has no option".into()),
            PlayerError::Crash("exit status: 3".into()),
            PlayerError::Stall("no answer to `go` within 1 s".into()),
        ] {
            restarts.note(&error, &Chess::default());
        }
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let says =
            format!("E crashed or stalled 2 times and was started again; first: exit status: 3, in {start}");
        assert_eq!((restarts.count(), restarts.warning("E")), (2, Some(says)));
        assert_eq!(Restarts::default().warning("E"), None);
    }
}
