//! Static evaluations that a UCI engine says.

use std::time::Duration;

use clap::Args;

use crate::{Error, Result, interrupt, program};
use patzer_match::Spec;
use patzer_match::participant::{Defaults, Participant};
use patzer_uci_client::eval_check::{EvalCheck, EvalCheckError};
use patzer_uci_client::{Analyst, Control, LinePattern, PlayerError};

/// How an engine says its static evaluation.
#[derive(Debug, Args)]
pub(super) struct StaticEvalArgs {
    /// Command that makes the engine say its static evaluation
    #[arg(long, value_name = "COMMAND", default_value = "eval")]
    eval_command: String,

    /// Regular expression whose first group is the value: pawns with a decimal point, else centipawns, for the side to
    /// move or, with whitepov=on, for White [default: patterns of known engines]
    #[arg(long, value_name = "REGEX")]
    pattern: Option<LinePattern>,
}

/// A running engine.
pub(super) struct Evaluating {
    spec: Spec,
    pub(super) engine: Analyst,
    name: String,
}

impl StaticEvalArgs {
    pub(super) fn start(&self, option: &'static str, engine: &str) -> Result<Evaluating> {
        self.pattern.iter().try_for_each(program::check_pattern)?;
        let spec = program::spec(option, engine)?;
        let mut defaults = Defaults::for_positions(Control::default(), Duration::from_secs(10));
        defaults.timeouts.ready = Duration::from_secs(10);
        let participant = Participant::load(&spec, &defaults)?;
        let engine = match participant.analyst(interrupt::flag()) {
            Some(started) => started.map_err(|error| failed(&spec, &error))?,
            None => return Err(Error::data(&spec.cmd, "is an evaluation, not a UCI engine")),
        };
        let name = engine.name().unwrap_or(&participant.name).to_string();
        Ok(Evaluating { spec, engine, name })
    }

    pub(super) fn check(
        &self,
        evaluating: &Evaluating,
        positions: usize,
        tolerance: i32,
        seed: u64,
    ) -> EvalCheck<'_> {
        let white_pov = evaluating.spec.white_pov;
        let pattern = self.pattern.clone();
        EvalCheck { command: &self.eval_command, pattern, white_pov, positions, tolerance, seed }
    }

    /// The error of an engine that does not say its evaluation.
    pub(super) fn error(&self, evaluating: &Evaluating, error: EvalCheckError) -> Error {
        let spec = &evaluating.spec;
        match error {
            EvalCheckError::Player(error) => failed(spec, &error),
            EvalCheckError::Unmatched { fen, last } => {
                Error::data(&spec.cmd, unmatched(&self.eval_command, &fen, last))
            }
        }
    }
}

impl Evaluating {
    /// The name that the engine gives itself, or that of its program.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

fn failed(spec: &Spec, error: &PlayerError) -> Error {
    match interrupt::check() {
        Err(interrupted) => interrupted,
        Ok(()) => Error::data(&spec.cmd, error.to_string()),
    }
}

fn unmatched(command: &str, fen: &str, last: Option<String>) -> String {
    match last {
        Some(line) => {
            let line: String = line.chars().take(100).collect();
            format!(
                "at {fen} no pattern matches its answer to `{command}`, which ends with `{line}`; give --pattern"
            )
        }
        None => format!("at {fen} it answers nothing to `{command}`; give another --eval-command"),
    }
}
