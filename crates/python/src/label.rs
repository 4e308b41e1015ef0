//! Quiet leaves of positions.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use patzer_chess::packed::{NO_EP, ep_code};
use patzer_chess::{PackedBoard, fen};
use patzer_data::Record;
use patzer_eval::Evaluation;
use patzer_formats::{EMPTY, fen as fens_of};
use patzer_io::error::{Error, Result};
use patzer_prepare::leaf::{self, Method, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shakmaty::{Chess, Position};

use crate::columns;
use crate::error::python;
use crate::evaluate::{Positions, load, positions};
use crate::interruptible::interruptible;

/// FENs of the leaves, None at a stalemate, and their scores, a masked array.
type Leaves<'py> = (Vec<Option<String>>, Bound<'py, PyAny>);

/// Resolve positions to the quiet leaf of a search, and return the leaves' FENs and scores.
///
/// fens: FENs, or a batch of `patzer.open`. net: an evaluation, as of `evaluate`. depth, nodes: resolve the end of a
/// search to this depth or of this many nodes; by default the position itself. The FENs have no en passant square and
/// no clocks. The scores, int16, are centipawns from the side to move of the leaf, or mate scores; a leaf that is
/// stalemate has neither: its FEN is None and its score masked. As `patzer label` does.
#[pyfunction]
#[pyo3(signature = (fens, net=PathBuf::from("default-hce"), *, depth=None, nodes=None), text_signature = "(fens, net='default-hce', *, depth=None, nodes=None)")]
pub fn label<'py>(
    py: Python<'py>,
    fens: &Bound<'py, PyAny>,
    net: PathBuf,
    depth: Option<i32>,
    nodes: Option<u64>,
) -> PyResult<Leaves<'py>> {
    let method = match (depth, nodes) {
        (None, None) => Method::Quiescence,
        (Some(depth @ 1..=64), None) => Method::Depth(depth),
        (None, Some(nodes @ 1..)) => Method::Nodes(nodes),
        _ => return Err(PyValueError::new_err("give depth, 1 to 64, or nodes, 1 or more, or neither")),
    };
    let evaluation = load(py, &net)?;
    let mut records = match positions(fens)? {
        Positions::Batch(batch) => batch.get().records.to_vec(),
        Positions::Fens(texts) => records(&texts).map_err(python)?,
    };
    interruptible(py, |stop| resolve(&mut records, method, evaluation, stop))?;
    Ok((records.iter().map(leaf_fen).collect(), columns::array(py, "leaf_score", &records)?))
}

fn resolve(records: &mut [Record], method: Method, evaluation: Evaluation, stop: &AtomicBool) -> Result<()> {
    let settings = Settings { method, rescore: false, evaluation, name: String::new() };
    leaf::label(records, &settings, stop, &|_| ()).map(drop)
}

fn records(texts: &[String]) -> Result<Vec<Record>> {
    let record = |(nth, text): (usize, &String)| match fen::position(text, true) {
        Ok(position) => Ok(record(&position)),
        Err(error) => Err(Error::usage(format!("position {nth}: {error}"))),
    };
    texts.iter().enumerate().map(record).collect()
}

fn record(position: &Chess) -> Record {
    Record {
        board: PackedBoard::pack(position),
        turn: position.turn(),
        ep: ep_code(position),
        halfmove: position.halfmoves().min(255) as u8,
        fullmove: position.fullmoves().get().min(u32::from(u16::MAX)) as u16,
        ..EMPTY
    }
}

fn leaf_fen(record: &Record) -> Option<String> {
    let leaf = record.leaf?;
    let mut text = Vec::new();
    fens_of::four(&mut text, &leaf.board, leaf.turn, NO_EP);
    text.extend_from_slice(b" 0 1");
    Some(String::from_utf8_lossy(&text).into_owned())
}
