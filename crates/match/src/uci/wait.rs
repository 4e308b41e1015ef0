//! Deadlines of a conversation with a program, and how it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const STOP_TICK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessError {
    TimedOut,
    Stopped,
    Closed,
}

pub struct Wait<'a> {
    pub deadline: Option<Instant>,
    pub stop: &'a AtomicBool,
}

impl Wait<'_> {
    /// Time until the deadline or the next check of the stop flag.
    pub fn tick(&self) -> Duration {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.unwrap_or(STOP_TICK).min(STOP_TICK)
    }

    pub fn check(&self) -> Result<(), ProcessError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ProcessError::Stopped);
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { Err(ProcessError::TimedOut) } else { Ok(()) }
    }
}

#[derive(Debug, Default)]
pub struct StderrTail(Vec<u8>);

impl StderrTail {
    const SIZE: usize = 2048;

    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        if self.0.len() > 2 * StderrTail::SIZE {
            self.0.drain(..self.0.len() - StderrTail::SIZE);
        }
    }

    pub fn text(&self) -> String {
        let kept = &self.0[self.0.len().saturating_sub(StderrTail::SIZE)..];
        String::from_utf8_lossy(kept).trim().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_stream_is_kept() {
        let mut tail = StderrTail::default();
        for i in 0..10_000 {
            tail.push(format!("{i}\n").as_bytes());
        }
        assert!(tail.text().ends_with("9998\n9999"));
        assert!(tail.0.len() <= 2 * StderrTail::SIZE + 16);
    }
}
