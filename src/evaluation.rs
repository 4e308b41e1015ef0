//! Loading the evaluation that an argument names.

use std::path::Path;

use patzer_eval::Evaluation;
use patzer_match::participant::load_evaluation;

use crate::{Result, Ui};

/// Loads a weights file or network, or the embedded network, and names what a weights file lacks.
pub fn load(path: Option<&Path>, ui: &Ui) -> Result<Evaluation> {
    let Some(path) = path else { return Ok(Evaluation::default()) };
    let evaluation = load_evaluation(path)?;
    if !evaluation.missing().is_empty() {
        let missing = evaluation.missing().join(", ");
        ui.warn(format!("{}: {missing} is missing and counts as 0", path.display()));
    }
    Ok(evaluation)
}
