//! The labelled twin of a dataset: made where a fit needs resolved positions, and taken again while it is current.
//!
//! In: a dataset's path. Out: the dataset, or its twin beside it.

use std::path::{Path, PathBuf};

use super::modified;
use crate::Ui;
use crate::label::label_file;
use patzer_data::AnyReader;
use patzer_eval::Evaluation;
use patzer_io::error::Result;
use patzer_label::leaf::{Method, Settings};

/// The bundled engine's own quiescence search.
pub(super) fn qsearch() -> Settings {
    let (evaluation, name) = (Evaluation::default_hce(), "default-hce".to_string());
    Settings { method: Method::Quiescence, rescore: false, evaluation, name }
}

/// The dataset itself if it is resolved or need not be, else its labelled twin, made now if it is not there.
pub(super) fn resolved(path: &Path, as_it_is: bool, ui: &Ui) -> Result<AnyReader> {
    let data = AnyReader::open(path, None)?;
    if as_it_is || data.metadata().resolved.is_some() {
        return Ok(data);
    }
    let twin = twin(path);
    if let Some(labelled) = current_twin(&data, &twin) {
        let how = labelled.metadata().resolved.as_deref().unwrap_or_default();
        let (path, twin) = (path.display(), twin.display());
        ui.note(format!("{path} is not resolved; taking {twin}, made from it ({how})"));
        return Ok(labelled);
    }
    let output = twin.display();
    ui.note(format!("{} is not resolved; labelling it by qsearch → {output}", path.display()));
    label_file(data, &twin, &qsearch(), ui)?;
    AnyReader::open(&twin, None)
}

/// Where the labelled form of a dataset lies.
fn twin(path: &Path) -> PathBuf {
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("positions") | None => path.with_file_name("labelled.parquet"),
        Some(stem) => path.with_file_name(format!("{stem}.labelled.parquet")),
    }
}

/// The twin, if it was made from this very dataset: newer, and saying the same of itself.
fn current_twin(data: &AnyReader, twin: &Path) -> Option<AnyReader> {
    if modified(twin)? < modified(data.path())? {
        return None;
    }
    let labelled = AnyReader::open(twin, None).ok()?;
    let (mut ours, theirs) = (data.metadata().clone(), labelled.metadata());
    ours.resolved.clone_from(&theirs.resolved);
    (&ours == theirs
        && (data.rows().is_none() || data.rows() == labelled.rows())
        && theirs.resolved.is_some())
    .then_some(labelled)
}
