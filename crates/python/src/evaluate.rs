//! Static evaluations of positions.

use std::path::{Path, PathBuf};

use numpy::PyArray1;
use patzer_chess::fen;
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use patzer_io::error::{Error, Result};
use patzer_match::participant::load_evaluation;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use shakmaty::Chess;

use crate::batch::Batch;
use crate::error::{python, warn};

/// Evaluate positions and return centipawns from the side to move, an array of int32.
///
/// net: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce.
/// fens: FENs, or a batch of `patzer.open`. The evaluation is static, as `patzer eval` has it: no search.
#[pyfunction]
pub fn evaluate<'py>(
    py: Python<'py>,
    net: PathBuf,
    fens: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<i32>>> {
    let evaluation = load(py, &net)?;
    let scores = match positions(fens)? {
        Positions::Batch(batch) => {
            let illegal = || Error::input("the position is not legal");
            let records = &batch.get().records;
            py.detach(|| scores(&evaluation, records, |record| record.position().ok_or_else(illegal)))
        }
        Positions::Fens(texts) => {
            let parse = |text: &String| fen::position(text, true).map_err(|e| Error::usage(e.to_string()));
            py.detach(|| scores(&evaluation, &texts, parse))
        }
    };
    Ok(PyArray1::from_vec(py, scores.map_err(python)?))
}

/// Loads an evaluation, with a warning if terms are missing.
pub fn load(py: Python<'_>, net: &Path) -> PyResult<Evaluation> {
    let evaluation = py.detach(|| load_evaluation(net)).map_err(python)?;
    if !evaluation.missing().is_empty() {
        let line =
            format!("{}: {} is missing and counts as 0", net.display(), evaluation.missing().join(", "));
        warn(py, &patzer_io::printable(&line))?;
    }
    Ok(evaluation)
}

/// Positions as an argument gives them.
pub enum Positions<'a, 'py> {
    Batch(&'a Bound<'py, Batch>),
    Fens(Vec<String>),
}

pub fn positions<'a, 'py>(fens: &'a Bound<'py, PyAny>) -> PyResult<Positions<'a, 'py>> {
    if let Ok(batch) = fens.cast::<Batch>() {
        return Ok(Positions::Batch(batch));
    }
    if fens.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("fens: give a list of FENs, such as [fen]"));
    }
    Ok(Positions::Fens(fens.try_iter()?.map(|text| text?.extract()).collect::<PyResult<_>>()?))
}

/// Evaluates each position; an error has its place, from 0.
fn scores<T>(evaluation: &Evaluation, all: &[T], position: impl Fn(&T) -> Result<Chess>) -> Result<Vec<i32>> {
    let mut evaluate: Box<dyn FnMut(&Chess) -> i32> = with_evaluator!(evaluation, mut evaluator => {
        Box::new(move |position: &Chess| evaluator.evaluate(position, 0))
    });
    let mut score = |(nth, item): (usize, &T)| match position(item) {
        Ok(position) => Ok(evaluate(&position)),
        Err(error) => Err(Error::input(format!("position {nth}: {error}"))),
    };
    all.iter().enumerate().map(&mut score).collect()
}
