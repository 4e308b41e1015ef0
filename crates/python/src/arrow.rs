//! Batches of Arrow, over the memory of NumPy's arrays. pyarrow is asked only here, so that the package does without.

use patzer_data::Record;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{self, SQUARES};

/// Returns a pyarrow.RecordBatch.
pub fn record_batch<'py>(
    py: Python<'py>,
    names: &[&'static str],
    records: &[Record],
) -> PyResult<Bound<'py, PyAny>> {
    let pyarrow = py.import("pyarrow")?;
    let arrays = names.iter().map(|name| array(&pyarrow, name, columns::array(py, name, records)?));
    let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
    pyarrow.getattr("RecordBatch")?.call_method1("from_arrays", (arrays, names.to_vec()))
}

fn array<'py>(
    pyarrow: &Bound<'py, PyModule>,
    name: &str,
    column: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = pyarrow.py();
    let numpy = py.import("numpy")?;
    let masked = column.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)?;
    let (values, mask) = match masked {
        true => (column.getattr("data")?, Some(column.getattr("mask")?)),
        false => (column, None),
    };
    match name {
        "board" | "leaf" => boards(pyarrow, &values, mask),
        SQUARES => {
            let flat = pyarrow.call_method1("array", (values.call_method1("reshape", (-1,))?,))?;
            pyarrow.getattr("FixedSizeListArray")?.call_method1("from_arrays", (flat, 64))
        }
        _ => {
            let named = PyDict::new(py);
            named.set_item("mask", mask)?;
            pyarrow.call_method("array", (values,), Some(&named))
        }
    }
}

/// Boards of 24 bytes over the memory of an array; a row's mask is that of its first byte.
fn boards<'py>(
    pyarrow: &Bound<'py, PyModule>,
    values: &Bound<'py, PyAny>,
    mask: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let valid = match mask {
        None => None,
        Some(mask) => {
            let rows: Vec<bool> = mask.call_method1("any", (1,))?.call_method0("tolist")?.extract()?;
            let set: Vec<bool> = rows.into_iter().map(|empty| !empty).collect();
            // The bitmap of an array of truth values is a bitmap of valid rows.
            Some(pyarrow.call_method1("array", (set,))?.call_method0("buffers")?.get_item(1)?)
        }
    };
    let kind = pyarrow.call_method1("binary", (24,))?;
    let memory = pyarrow.call_method1("py_buffer", (values,))?;
    pyarrow.getattr("Array")?.call_method1("from_buffers", (kind, values.len()?, (valid, memory)))
}
