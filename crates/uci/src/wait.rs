//! Deadlines of a conversation with a program, and how it ends.

use std::fs::File;
use std::io::Write;
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

/// Last output on standard error, all of which goes to a file, too, if one is given.
#[derive(Debug, Default)]
pub struct StderrTail {
    kept: Vec<u8>,
    file: Option<File>,
}

impl StderrTail {
    const SIZE: usize = 2048;

    pub fn new(file: Option<File>) -> StderrTail {
        StderrTail { kept: Vec::new(), file }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(file) = &mut self.file {
            // A full disk does not end the game.
            let _ = file.write_all(bytes);
        }
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > 2 * StderrTail::SIZE {
            self.kept.drain(..self.kept.len() - StderrTail::SIZE);
        }
    }

    pub fn text(&self) -> String {
        let kept = &self.kept[self.kept.len().saturating_sub(StderrTail::SIZE)..];
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
        assert!(tail.kept.len() <= 2 * StderrTail::SIZE + 16);
    }
}
