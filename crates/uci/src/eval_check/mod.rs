//! Comparison of an engine's static evaluation with a network's, and the cause of a difference.
//!
//! ```rust
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use patzer_eval::nnue::material;
//! use patzer_eval::nnue::plain::PlainNnue;
//! use patzer_uci_client::eval_check::EvalCheck;
//! use patzer_uci_client::{Analyst, Listen, Program, Timeouts};
//!
//! # if cfg!(windows) { return Ok(()) }
//! // An engine that takes every position for equal.
//! let engine = "while read -r line; do case $line in
//!     uci) echo uciok;; isready) echo readyok;; eval) echo 'eval: 0 cp';; quit) exit;; esac; done";
//! let seconds = Duration::from_secs;
//! let program = Program {
//!     path: "sh".into(),
//!     args: vec!["-c".into(), engine.into()],
//!     dir: None,
//!     stderr: None,
//!     options: Vec::new(),
//!     restart: false,
//!     short_history: false,
//!     ponder: false,
//!     white_pov: false,
//!     timeouts: Timeouts { start: seconds(10), ready: seconds(10), stall: None },
//!     name: "equal".into(),
//!     lenient: false,
//!     listen: Listen::default(),
//!     strays: Arc::default(),
//!     node_limit: Arc::default(),
//! };
//! let stop = AtomicBool::new(false);
//! let mut analyst = Analyst::start(Arc::new(program), &stop).map_err(|error| error.to_string())?;
//!
//! let network = material::network(16).ok_or("16 neurons are enough to count material")?;
//! let check = EvalCheck { command: "eval", pattern: None, white_pov: None, positions: 50, tolerance: 0, seed: 1 };
//! let found = check.run(&mut analyst, &PlainNnue::new(&network), &stop).map_err(|error| error.to_string())?;
//! assert!(found.equal < found.positions && found.first_difference.is_some());
//! # Ok::<(), String>(())
//! ```

mod compared;
mod explain;

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use shakmaty::{Chess, Position};

use self::compared::Compared;
pub use self::explain::Explanation;
use self::explain::explain;
use crate::{Analyst, LinePattern, PlayerError, StaticEval};
use patzer_chess::score::Score;
use patzer_chess::{fen, random_positions};
use patzer_eval::nnue::plain::{PlainNnue, Reading};

/// Settings of a comparison.
#[derive(Debug, Clone)]
pub struct EvalCheck<'a> {
    /// Command that lets the engine say its static evaluation, such as `eval`.
    pub command: &'a str,
    /// Pattern whose first group is the value: pawns with a decimal point, else centipawns; without one, those of known
    /// engines.
    pub pattern: Option<LinePattern>,
    /// Whether values are White's, not the side to move's; without it, as the pattern of a known engine says.
    pub white_pov: Option<bool>,
    /// Positions to compare, from random games.
    pub positions: usize,
    /// Centipawns that values may differ by.
    pub tolerance: Score,
    /// Seed of the random games.
    pub seed: u64,
}

/// A position whose values differ, for the side to move.
#[derive(Debug, Serialize)]
pub struct EvalDifference {
    pub fen: String,
    pub network: Score,
    pub engine: Score,
}

/// Outcome of a comparison.
#[derive(Debug, Serialize)]
pub struct EvalChecked {
    pub positions: usize,
    /// Positions whose values differ by the tolerance at most.
    pub equal: usize,
    pub first_difference: Option<EvalDifference>,
    pub explanation: Option<Explanation>,
}

/// A comparison that came to no end.
#[derive(Debug)]
pub enum EvalCheckError {
    Player(PlayerError),
    /// No pattern matches the engine's answer at this position; its last line that is not empty, if it has one.
    Unmatched {
        fen: String,
        last: Option<String>,
    },
}

impl std::fmt::Display for EvalCheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EvalCheckError::Player(error) => write!(f, "{error}"),
            EvalCheckError::Unmatched { fen, last: Some(line) } => {
                write!(f, "at {fen} no pattern matches the answer, which ends with `{line}`")
            }
            EvalCheckError::Unmatched { fen, last: None } => write!(f, "at {fen} there is no answer"),
        }
    }
}

impl EvalCheck<'_> {
    /// Asks an engine for its static evaluation of positions, in centipawns for the side to move.
    pub fn ask(
        &self,
        engine: &mut Analyst,
        stop: &AtomicBool,
    ) -> Result<Vec<(Chess, Score)>, EvalCheckError> {
        let eval = StaticEval::new(self.command, self.pattern.clone(), self.white_pov);
        let mut values = Vec::new();
        for position in random_positions(self.positions, self.seed) {
            if stop.load(Ordering::Relaxed) {
                return Err(EvalCheckError::Player(PlayerError::Stopped));
            }
            let lines = engine.evaluation_lines(&eval, &position, stop).map_err(EvalCheckError::Player)?;
            let value = eval.value(&lines, position.turn().is_white());
            let value = value.ok_or_else(|| unmatched(&lines, &position))?.round() as Score;
            values.push((position, value));
        }
        Ok(values)
    }

    /// Asks an engine for its static evaluation of positions, and compares it with a network's.
    pub fn run(
        &self,
        engine: &mut Analyst,
        network: &PlainNnue<'_>,
        stop: &AtomicBool,
    ) -> Result<EvalChecked, EvalCheckError> {
        let compare = |(position, engine)| {
            let network = network.evaluate(&position, &Reading::default());
            Compared { position, network, engine }
        };
        let compared: Vec<Compared> = self.ask(engine, stop)?.into_iter().map(compare).collect();
        let differs = |one: &&Compared| (one.network - one.engine).abs() > self.tolerance;
        let first = compared.iter().find(differs);
        Ok(EvalChecked {
            positions: compared.len(),
            equal: compared.len() - compared.iter().filter(differs).count(),
            first_difference: first.map(|one| EvalDifference {
                fen: fen::text(&one.position),
                network: one.network,
                engine: one.engine,
            }),
            explanation: first.and_then(|_| explain(network, &compared, self.tolerance)),
        })
    }
}

fn unmatched(lines: &[String], position: &Chess) -> EvalCheckError {
    let last = lines.iter().map(|line| line.trim()).rfind(|line| !line.is_empty());
    EvalCheckError::Unmatched { fen: fen::text(position), last: last.map(str::to_string) }
}
