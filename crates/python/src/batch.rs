//! Some positions of a dataset.

use patzer_data::Record;
use patzer_formats::fen;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow;
use crate::columns::{self, SQUARES};
use crate::error::python;
use crate::features::{self, Bag};
use crate::slice::Slice;

/// Neighbouring positions of a file, a mapping from names of columns to NumPy arrays.
///
/// `len` is the number of positions. A column is made when it is asked for; `batch["score"]` twice makes it twice.
/// docs/schema.md has the columns. Those with empty cells (`score`, `depth`, `leaf` and others that have "none is null"
/// there) are masked arrays. `squares` is in no file and in every batch: pieces by square, a1 = 0 to h8 = 63, 1 for a
/// pawn to 6 for a king, negative for Black, 0 for none.
#[pyclass(frozen, module = "patzer")]
pub struct Batch {
    pub records: Slice,
    pub names: Vec<&'static str>,
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.records.len()
    }

    fn __repr__(&self) -> String {
        format!("<patzer.Batch of {} positions>", patzer_io::number::grouped(self.records.len() as u64))
    }

    /// Return the names of the columns.
    fn keys(&self) -> Vec<&'static str> {
        self.names.clone()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name != SQUARES && !self.names.contains(&name) {
            let near = patzer_io::did_you_mean(name, self.names.iter().copied());
            let known = self.names.join(", ");
            return Err(PyKeyError::new_err(format!("no column `{name}`; there are {known}{near}")));
        }
        columns::array(py, name, &self.records)
    }

    /// Return all columns as a dict of NumPy arrays.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for name in &self.names {
            all.set_item(name, columns::array(py, name, &self.records)?)?;
        }
        Ok(all)
    }

    /// Return the batch as a pyarrow.RecordBatch, with the types of docs/schema.md; needs pyarrow.
    ///
    /// Numbers and boards are not copied on their way to Arrow; a column is made at each call, as a NumPy array is.
    /// `squares` is a list of 64 int8.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::record_batch(py, &self.names, &self.records)
    }

    /// Pass the batch on to a library that reads Arrow's C data interface, such as polars or DuckDB; needs pyarrow.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.arrow(py)?.call_method1("__arrow_c_array__", (requested_schema,))
    }

    /// Return the indices of the active features, as ((indices, offsets), (indices, offsets)), arrays of int32.
    ///
    /// The first pair is the side to move's, the second its opponent's, each with the board as that side sees it.
    /// offsets has for each position where its indices begin, as `torch.nn.EmbeddingBag` takes them;
    /// `torch.from_numpy` makes tensors of the arrays without a copy. The indices of a position are in no special
    /// order. blocks: feature blocks with + between them, such as "all+pp"; `patzer net features` lists them. No king
    /// buckets or mirroring are applied.
    #[pyo3(signature = (blocks="all"))]
    fn features<'py>(&self, py: Python<'py>, blocks: &str) -> PyResult<(Bag<'py>, Bag<'py>)> {
        features::bags(py, &self.records, blocks).map_err(python)
    }

    /// Return position i as a FEN; a negative i counts from the end.
    fn fen(&self, i: isize) -> PyResult<String> {
        Ok(text(self.record(i)?, fen::six))
    }

    /// Return the move played in position i in UCI notation, or None.
    fn uci(&self, i: isize) -> PyResult<Option<String>> {
        let played = text(self.record(i)?, fen::uci);
        Ok((!played.is_empty()).then_some(played))
    }
}

impl Batch {
    fn record(&self, i: isize) -> PyResult<&Record> {
        let count = self.records.len();
        let index = if i < 0 { count.checked_add_signed(i) } else { usize::try_from(i).ok() };
        let out = || PyIndexError::new_err(format!("position {i} of a batch of {count}"));
        index.and_then(|index| self.records.get(index)).ok_or_else(out)
    }
}

fn text(record: &Record, write: fn(&mut Vec<u8>, &Record)) -> String {
    let mut text = Vec::new();
    write(&mut text, record);
    String::from_utf8_lossy(&text).into_owned()
}
