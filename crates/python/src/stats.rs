//! Statistics of matches.

use patzer_io::error::Error;
use patzer_stats::{MOST_GAMES, Model, Pentanomial, Sprt, Statistics, Trinomial};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::python;

/// Compute Elo, normalised Elo, LOS, LLR and verdict from counts; the dict is that of `patzer elo --json`.
///
/// ptnml: pairs of games by the first player's score: both lost, loss and draw, even, win and draw, both won.
/// wdl: single games: won, drawn and lost by the first player. Give one of the two.
/// elo0, elo1: the hypotheses, in Elo of the model. alpha, beta: the error rates, 0 to 1.
/// model: "normalized", "logistic" or, for single games, "bayesian".
#[pyfunction]
#[pyo3(signature = (*, ptnml=None, wdl=None, elo0=0.0, elo1=5.0, alpha=0.05, beta=0.05, model="normalized"))]
#[allow(clippy::too_many_arguments)]
pub fn elo<'py>(
    py: Python<'py>,
    ptnml: Option<[u64; 5]>,
    wdl: Option<[u64; 3]>,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let statistics = statistics(ptnml, wdl, [elo0, elo1, alpha, beta], model)?;
    parsed(py, &statistics)
}

/// Returns what a command's `--json` prints as Python reads it.
pub fn parsed<'py>(py: Python<'py>, result: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(result).map_err(|e| python(Error::internal(e.to_string())))?;
    py.import("json")?.call_method1("loads", (json,))
}

/// Compute the log-likelihood ratio of a sequential test, from the arguments of `elo`.
#[pyfunction]
#[pyo3(signature = (*, ptnml=None, wdl=None, elo0=0.0, elo1=5.0, alpha=0.05, beta=0.05, model="normalized"))]
#[allow(clippy::too_many_arguments)]
pub fn llr(
    ptnml: Option<[u64; 5]>,
    wdl: Option<[u64; 3]>,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: &str,
) -> PyResult<f64> {
    Ok(statistics(ptnml, wdl, [elo0, elo1, alpha, beta], model)?.llr())
}

fn statistics(
    ptnml: Option<[u64; 5]>,
    wdl: Option<[u64; 3]>,
    [elo0, elo1, alpha, beta]: [f64; 4],
    model: &str,
) -> PyResult<Statistics> {
    if ptnml.is_some() == wdl.is_some() {
        return Err(PyValueError::new_err("give one of ptnml and wdl"));
    }
    if ptnml.iter().flatten().chain(wdl.iter().flatten()).any(|&count| count > MOST_GAMES) {
        return Err(PyValueError::new_err(format!("a count is beyond {MOST_GAMES}")));
    }
    let model: Model = serde_json::from_value(model.into())
        .map_err(|_| PyValueError::new_err(format!("model {model:?}: normalized, logistic or bayesian")))?;
    let test = Sprt::new(model, elo0, elo1, alpha, beta).map_err(python)?;
    let games = wdl.map(|[wins, draws, losses]| Trinomial { wins, draws, losses });
    Statistics::new(&test, games, ptnml.map(Pentanomial)).map_err(python)
}
