//! Columns of records as NumPy arrays.
//!
//! Each array is filled once in Rust and handed to NumPy without a copy. A column with empty cells is a masked array.

use numpy::{Element, PyArray1, PyArrayMethods};
use patzer_chess::PackedMove;
use patzer_data::Record;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shakmaty::Role;

type Array<'py> = PyResult<Bound<'py, PyAny>>;

/// The column that no file has: pieces by square.
pub const SQUARES: &str = "squares";

/// Returns a column of docs/schema.md, or `squares`.
#[rustfmt::skip]
pub fn array<'py>(py: Python<'py>, name: &str, records: &[Record]) -> Array<'py> {
    match name {
        "board" => bytes(py, records.iter().flat_map(|r| r.board.0).collect(), 24),
        "stm" => plain(py, records, |r| r.turn.is_black()),
        "ep" => plain(py, records, |r| r.ep),
        "halfmove" => plain(py, records, |r| r.halfmove),
        "fullmove" => plain(py, records, |r| r.fullmove),
        "ply" => plain(py, records, |r| r.ply),
        "game" => plain(py, records, |r| r.game),
        "result" => plain(py, records, |r| r.result),
        "score" => optional(py, records, |r| r.score),
        "depth" => optional(py, records, |r| r.depth),
        "move" => plain(py, records, |r| r.played.0),
        "flags" => plain(py, records, |r| r.flags),
        "to_capture" => plain(py, records, |r| r.to_capture),
        "to_check" => plain(py, records, |r| r.to_check),
        "to_end" => plain(py, records, |r| r.to_end),
        "leaf" => leaf_boards(py, records),
        "leaf_stm" => optional(py, records, |r| Some(r.leaf?.turn.is_black())),
        "leaf_score" => optional(py, records, |r| Some(r.leaf?.score)),
        "mean_count" => optional(py, records, |r| Some(r.mean?.count)),
        "mean_sum" => optional(py, records, |r| Some(r.mean?.sum)),
        "best" => optional(py, records, |r| (r.best != PackedMove::NONE).then_some(r.best.0)),
        "wdl_win" => optional(py, records, |r| Some(r.wdl?.win)),
        "wdl_draw" => optional(py, records, |r| Some(r.wdl?.draw)),
        SQUARES => squares(py, records),
        _ => Err(PyKeyError::new_err(name.to_string())),
    }
}

fn plain<'py, T: Element>(py: Python<'py>, records: &[Record], of: impl Fn(&Record) -> T) -> Array<'py> {
    Ok(PyArray1::from_vec(py, records.iter().map(of).collect()).into_any())
}

fn optional<'py, T: Element + Default>(
    py: Python<'py>,
    records: &[Record],
    of: impl Fn(&Record) -> Option<T>,
) -> Array<'py> {
    let (mut values, mut empty) = (Vec::with_capacity(records.len()), Vec::with_capacity(records.len()));
    for value in records.iter().map(of) {
        empty.push(value.is_none());
        values.push(value.unwrap_or_default());
    }
    masked(PyArray1::from_vec(py, values).into_any(), PyArray1::from_vec(py, empty).into_any())
}

fn leaf_boards<'py>(py: Python<'py>, records: &[Record]) -> Array<'py> {
    let boards = records.iter().flat_map(|r| r.leaf.map_or([0; 24], |leaf| leaf.board.0)).collect();
    let empty = records.iter().flat_map(|r| [r.leaf.is_none(); 24]).collect();
    masked(bytes(py, boards, 24)?, bytes(py, empty, 24)?)
}

/// Pieces by square: 1 pawn to 6 king, negative for Black, 0 for none.
fn squares<'py>(py: Python<'py>, records: &[Record]) -> Array<'py> {
    let mut values = vec![0i8; 64 * records.len()];
    for (record, squares) in records.iter().zip(values.chunks_exact_mut(64)) {
        for (square, piece) in record.board.pieces() {
            squares[square as usize] = piece.color.fold_wb(1, -1) * code(piece.role);
        }
    }
    bytes(py, values, 64)
}

fn code(role: Role) -> i8 {
    role as i8
}

/// A table with rows of a fixed width.
fn bytes<'py, T: Element>(py: Python<'py>, values: Vec<T>, width: usize) -> Array<'py> {
    let rows = values.len() / width;
    Ok(PyArray1::from_vec(py, values).reshape([rows, width])?.into_any())
}

fn masked<'py>(values: Bound<'py, PyAny>, empty: Bound<'py, PyAny>) -> Array<'py> {
    let py = values.py();
    let named = PyDict::new(py);
    named.set_item("mask", empty)?;
    named.set_item("copy", false)?;
    // NumPy's own, 999999, does not fit these types.
    named.set_item("fill_value", 0)?;
    py.import("numpy")?.getattr("ma")?.call_method("array", (values,), Some(&named))
}
