//! Verdict of a check of an engine.

use serde::Serialize;

use crate::PlayerError;

/// Grade of an engine in a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Good,
    /// The engine lacks the subject of the check.
    Absent,
    /// Games and searches work, with a disadvantage.
    Warning,
    /// Games are lost or results wrong.
    Fault,
}

/// Verdict of a check, and the engine's answer that it rests on.
pub struct CheckOutcome {
    pub verdict: Verdict,
    pub value: String,
}

impl CheckOutcome {
    pub fn new(verdict: Verdict, value: impl Into<String>) -> CheckOutcome {
        CheckOutcome { verdict, value: value.into() }
    }

    pub fn good(value: impl Into<String>) -> CheckOutcome {
        CheckOutcome::new(Verdict::Good, value)
    }

    pub fn warning(value: impl Into<String>) -> CheckOutcome {
        CheckOutcome::new(Verdict::Warning, value)
    }

    pub fn fault(value: impl Into<String>) -> CheckOutcome {
        CheckOutcome::new(Verdict::Fault, value)
    }

    pub fn absent(option: &str) -> CheckOutcome {
        CheckOutcome::new(Verdict::Absent, format!("has no option {option}"))
    }
}

/// Outcome of a check, or the reason why the engine did not answer.
pub type Checked = Result<CheckOutcome, PlayerError>;
