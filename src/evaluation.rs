//! Loading the evaluation that an argument names.

use std::fmt::Display;
use std::path::Path;

use patzer_eval::Evaluation;
use patzer_match::participant::load_evaluation;

use crate::{Result, Ui};

/// Loads a weights file or network, or the embedded network, and names what a weights file lacks.
pub fn load(path: Option<&Path>, ui: &Ui) -> Result<Evaluation> {
    let Some(path) = path else { return Ok(Evaluation::default()) };
    let evaluation = load_evaluation(path)?;
    warn_missing(path.display(), evaluation.missing(), ui);
    Ok(evaluation)
}

/// Warns of terms that a weights file lacks.
pub fn warn_missing(name: impl Display, missing: &[String], ui: &Ui) {
    if !missing.is_empty() {
        ui.warn(format!("{name}: {} is missing and counts as 0", missing.join(", ")));
    }
}
