//! Inference of networks as source code.

use std::path::PathBuf;

use patzer_emit::{Language, WeightSource};
use patzer_eval::Evaluation;
use patzer_io::error::Error;
use pyo3::prelude::*;

use crate::error::python;
use crate::evaluate::load;

/// Write the inference of a network as source code, and return its text.
///
/// net: a .nnue file, or the built-in network, default. language: c, cpp or rust.
/// weights: embed, as numbers in the code, or load, from the bytes of any file of this architecture.
#[pyfunction]
#[pyo3(signature = (net, language = "c", weights = "embed"))]
pub fn emit(py: Python<'_>, net: PathBuf, language: &str, weights: &str) -> PyResult<String> {
    let language: Language = language.parse().map_err(python)?;
    let weights: WeightSource = weights.parse().map_err(python)?;
    let Evaluation::Nnue(network) = load(py, &net)? else {
        return Err(python(Error::data(&net, "is no network")));
    };
    let emitted = py.detach(|| patzer_emit::emit(&network, language, weights));
    emitted.map(|emitted| emitted.code).map_err(|error| python(Error::data(&net, error.to_string())))
}
