//! Loading the evaluation that an argument names.

use std::fmt::Display;
use std::path::Path;

use patzer_eval::Evaluation;
use patzer_match::participant;

use crate::{Result, Ui};

/// Loads a weights file or network, or the embedded network, and names what a weights file lacks.
pub fn load(path: Option<&Path>, ui: &Ui) -> Result<Evaluation> {
    let Some(path) = path else { return Ok(Evaluation::default()) };
    Ok(load_with_digest(path, ui)?.0)
}

/// [`load`] with the SHA-256 of the file, or the name of a built-in evaluation.
pub fn load_with_digest(path: &Path, ui: &Ui) -> Result<(Evaluation, String)> {
    let (evaluation, digest) = participant::load_with_digest(path)?;
    warn_missing(path.display(), evaluation.missing(), ui);
    Ok((evaluation, digest))
}

/// Warns of terms that a weights file lacks.
pub fn warn_missing(name: impl Display, missing: &[String], ui: &Ui) {
    if !missing.is_empty() {
        ui.warn(format!("{name}: {} is missing and counts as 0", missing.join(", ")));
    }
}
