//! Files of positions in any format, read batch by batch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_data::filter::Pipeline;
use patzer_data::format::columns::Projection;
use patzer_data::format::registry;
use patzer_data::{AnyReader, Record, notices};
use patzer_io::error::{Error, Result};
use pyo3::prelude::*;

use crate::batch::Batch;
use crate::columns::SQUARES;
use crate::error::{python, warn};

/// Columns that FENs, moves and evaluations need; they are read whatever else is.
const POSITION: Projection = Projection::of(&["board", "stm", "ep", "halfmove", "fullmove", "move", "flags"]);

/// Iterator over the batches of a file; `patzer.open` makes it.
#[pyclass(frozen, module = "patzer")]
pub struct Reader {
    state: Mutex<State>,
    names: Vec<&'static str>,
    #[pyo3(get)]
    format: &'static str,
    #[pyo3(get)]
    rows: Option<u64>,
}

struct State {
    reader: Option<AnyReader>,
    filters: Option<Pipeline>,
    /// An error behind records that were read before it.
    error: Option<Error>,
    read: u64,
    dropped: BTreeMap<&'static str, u64>,
}

/// One filter, or several.
#[derive(FromPyObject)]
pub enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    fn list(self) -> Vec<String> {
        match self {
            Names::One(name) => vec![name],
            Names::Several(names) => names,
        }
    }
}

/// Open a file of positions and return an iterator over its batches.
///
/// path: a file of any format that `patzer data convert --help` lists, also packed with gzip, Zstandard or bzip2.
/// filter: a preset, a filter or a TOML file, or several; `patzer filters` lists them.
/// columns: the columns of the batches; of a Parquet file no others are read. By default all that the file has.
/// format: the format; by default the content says which, or else the name.
/// filter_set: other values for filters' parameters, such as "before_capture.plies=3".
#[pyfunction]
#[pyo3(signature = (path, filter=None, columns=None, format=None, *, filter_set=None))]
pub fn open(
    py: Python<'_>,
    path: PathBuf,
    filter: Option<Names>,
    columns: Option<Names>,
    format: Option<&str>,
    filter_set: Option<Names>,
) -> PyResult<Reader> {
    let [filters, columns, overrides] = [filter, columns, filter_set].map(|names| names.map(Names::list));
    let reader = make(path, filters, columns, format, overrides.unwrap_or_default()).map_err(python)?;
    warn_of_notices(py)?;
    Ok(reader)
}

/// Passes on what readers have to say about files.
fn warn_of_notices(py: Python<'_>) -> PyResult<()> {
    notices::take()
        .iter()
        .try_for_each(|(path, text)| warn(py, &patzer_io::printable(&format!("{}: {text}", path.display()))))
}

fn make(
    path: PathBuf,
    filters: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    format: Option<&str>,
    overrides: Vec<String>,
) -> Result<Reader> {
    let filters = filters.unwrap_or_default();
    let filters = match filters.is_empty() && overrides.is_empty() {
        true => None,
        false => Some(Pipeline::new(&filters, &overrides)?),
    };
    let mut reader = AnyReader::open(&path, format.map(registry::named).transpose()?)?;
    let mut names: Vec<&'static str> = reader.metadata().layout().columns().map(|c| c.name).collect();
    if let Some(wanted) = columns {
        names.push(SQUARES);
        names = wanted.iter().map(|name| known(name, &names)).collect::<Result<_>>()?;
        if filters.is_none() {
            let stored: Vec<&str> = names.iter().copied().filter(|name| *name != SQUARES).collect();
            reader.project(whole_parts(&stored).and(POSITION));
        }
    }
    let (format, rows) = (reader.format().name, reader.rows());
    let (error, read, dropped) = (None, 0, BTreeMap::new());
    let state = Mutex::new(State { reader: Some(reader), filters, error, read, dropped });
    Ok(Reader { state, names, format, rows })
}

fn known(name: &str, names: &[&'static str]) -> Result<&'static str> {
    let unknown = || {
        let near = patzer_io::did_you_mean(name, names.iter().copied());
        Error::usage(format!("no column `{name}`; there are {}{near}", names.join(", ")))
    };
    names.iter().find(|known| **known == name).copied().ok_or_else(unknown)
}

/// Selects columns, with the one that begins each leaf, mean or share of them.
fn whole_parts(names: &[&str]) -> Projection {
    let first = names.iter().map(|name| match *name {
        "leaf_stm" | "leaf_score" => "leaf",
        "mean_sum" => "mean_count",
        "wdl_draw" => "wdl_win",
        other => other,
    });
    Projection::of(&first.chain(names.iter().copied()).collect::<Vec<_>>())
}

#[pymethods]
impl Reader {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        loop {
            py.check_signals()?;
            let records = py.detach(|| self.state().next_records()).map_err(python)?;
            warn_of_notices(py)?;
            match records {
                None => return Ok(None),
                Some(records) if records.is_empty() => {}
                Some(records) => return Ok(Some(Batch { records, names: self.names.clone() })),
            }
        }
    }

    /// Names of the columns of each batch.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.names.clone()
    }

    /// Number of positions read so far, dropped ones included.
    #[getter]
    fn read(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.state().read)
    }

    /// Number of positions dropped so far, by filter.
    #[getter]
    fn dropped(&self, py: Python<'_>) -> BTreeMap<&'static str, u64> {
        py.detach(|| self.state().dropped.clone())
    }

    fn __repr__(&self) -> String {
        format!("<patzer.Reader of {}>", self.format)
    }
}

impl Reader {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reads and filters records, perhaps none; `None` at the end, and after an error.
    fn next_records(&mut self) -> Result<Option<Vec<Record>>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut records = Vec::new();
        match reader.next_batch(&mut records) {
            Ok(true) => {}
            Ok(false) => self.reader = None,
            Err(error) => {
                let stream = reader.format().name != registry::native().name;
                self.reader = None;
                // A stream's records before the fault count; of a row group none do.
                if !stream || records.is_empty() {
                    return Err(error);
                }
                self.error = Some(error);
            }
        }
        if self.reader.is_none() && self.error.is_none() {
            return Ok(None);
        }
        self.read += records.len() as u64;
        if let Some(filters) = &mut self.filters {
            records.retain(|record| match filters.keep(record) {
                Ok(()) => true,
                Err(name) => {
                    *self.dropped.entry(name).or_default() += 1;
                    false
                }
            });
        }
        Ok(Some(records))
    }
}
