//! Speed of an engine by its own benchmark: the command line `ENGINE bench`, whose last lines say nodes and nodes a
//! second. Source: AndyGrant, OpenBench wiki, "Requirements for public engines".

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use regex::bytes::Regex;

use super::patterns::{number_in, pattern};
use super::program::Program;
use super::wait::{ProcessError, Wait};
use crate::PlayerError;

/// Numbers at the end of a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Benched {
    pub nodes: u64,
    /// Nodes a second.
    pub nps: u64,
}

/// Forms of the two numbers, the surest first: OpenBench's `N nodes M nps`, Stockfish's `Nodes searched : N`.
static NODES: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [r"(?i)\b(\d+) +nodes\b", r"(?i)\b(?:nodes|nodes searched|total nodes|bench)[ \t:=]+(\d+)\b"].map(pattern)
});
static NPS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [r"(?i)\b(\d+) +nps\b", r"(?i)\b(?:nps|nodes */ *second|nodes per second)[ \t:=]+(\d+)\b"].map(pattern)
});

/// Numbers of the last lines that have them.
#[derive(Default)]
pub(crate) struct Said {
    nodes: Option<u64>,
    nps: Option<u64>,
}

impl Said {
    pub(crate) fn hear(&mut self, line: &[u8]) {
        // Searches report nodes, too.
        if !line.trim_ascii_start().starts_with(b"info ") {
            self.nodes = number_in(&*NODES, line).or(self.nodes);
            self.nps = number_in(&*NPS, line).or(self.nps);
        }
    }

    pub(crate) fn benched(&self) -> Option<Benched> {
        Some(Benched { nodes: self.nodes?, nps: self.nps? })
    }
}

impl Program {
    /// Runs the program with its arguments, by default `bench`, until it ends.
    pub fn bench(&self, timeout: Duration, stop: &AtomicBool) -> Result<Benched, PlayerError> {
        let mut command = self.command();
        if self.args.is_empty() {
            command.arg("bench");
        }
        let mut process = self.spawn(&mut command)?;
        process.close_input();
        let mut said = Said::default();
        let wait = Wait { deadline: Some(Instant::now() + timeout), stop };
        let ended = process.read(&wait, |line| {
            said.hear(line);
            None::<()>
        });
        match ended {
            Ok(()) | Err(ProcessError::Closed) => {}
            Err(error) => return Err(process.unanswered(error, "`bench`", timeout)),
        }
        // Some engines write the end on standard error.
        let end = process.post_mortem();
        process.stderr().lines().for_each(|line| said.hear(line.as_bytes()));
        said.benched().ok_or_else(|| {
            PlayerError::Unable(format!("`bench` says no nodes or no nodes a second; it ended with {end}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_numbers_count_in_every_known_form() {
        for (text, nodes, nps) in [
            ("info depth 3 nodes 77 nps 88\n1188698 nodes 2500000 nps\n", 1_188_698, 2_500_000),
            (
                "===========================\nTotal time (ms) : 2084\nNodes searched  : 4484605\nNodes/second    : 2151921\n",
                4_484_605,
                2_151_921,
            ),
            ("1: 10 nodes 20 nps\n2: 30 nodes 40 nps\nBench: 5371 nodes 999 nps", 5371, 999),
            ("Time  : 3000 ms\nNodes : 123\nNPS   : 456\n", 123, 456),
            ("Bench: 5371\nNPS: 100\n", 5371, 100),
        ] {
            let mut said = Said::default();
            text.lines().for_each(|line| said.hear(line.as_bytes()));
            assert_eq!(said.benched(), Some(Benched { nodes, nps }), "{text}");
        }
        let mut said = Said::default();
        said.hear(b"bestmove e2e4");
        said.hear(b"7 nodes");
        assert_eq!(said.benched(), None);
    }
}
