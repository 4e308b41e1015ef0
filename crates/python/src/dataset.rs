//! Files of positions in any format, read batch by batch.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_data::filter::{DUPLICATES, Pipeline};
use patzer_data::{AnyReader, Record};
use patzer_formats::ReadOptions;
use patzer_formats::native::projection::Projection;
use patzer_formats::notices::Notices;
use patzer_formats::registry;
use patzer_io::error::{Error, Result};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::batch::Batch;
use crate::columns::SQUARES;
use crate::error::{python, warn};
use crate::slice::Slice;

/// Columns that FENs, moves and evaluations need; they are read whatever else is.
const POSITION: Projection = Projection::of(&["board", "stm", "ep", "halfmove", "fullmove", "move", "flags"]);

/// Positions that a thread filters at once, at least.
const PART: usize = 1 << 10;

/// Iterator over the batches of a file; `patzer.open` makes it.
#[pyclass(frozen, module = "patzer")]
pub struct Reader {
    state: Mutex<State>,
    notices: Notices,
    names: Vec<&'static str>,
    #[pyo3(get)]
    format: &'static str,
    #[pyo3(get)]
    rows: Option<u64>,
}

struct State {
    reader: Option<AnyReader>,
    filters: Option<Pipeline>,
    /// The first positions of a batch whose others are in the next block of the file.
    head: Vec<Record>,
    /// Read and kept, but in no batch yet.
    rest: Slice,
    /// The block before the last, whose memory is used again.
    spare: Slice,
    /// Positions of a batch, 0 for a block of the file.
    size: usize,
    /// An error after records that were read before it.
    error: Option<Error>,
    read: u64,
    dropped: BTreeMap<&'static str, u64>,
}

enum Step {
    Batch(Slice),
    /// A block was read or cut: ask again.
    More,
    End,
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
/// batch_size: positions of each batch, the last of the file excepted; by default as the file's blocks come.
#[pyfunction]
#[pyo3(signature = (path, filter=None, columns=None, format=None, *, filter_set=None, batch_size=None))]
#[allow(clippy::too_many_arguments)]
pub fn open(
    py: Python<'_>,
    path: PathBuf,
    filter: Option<Names>,
    columns: Option<Names>,
    format: Option<&str>,
    filter_set: Option<Names>,
    batch_size: Option<NonZeroUsize>,
) -> PyResult<Reader> {
    let [filters, columns, overrides] = [filter, columns, filter_set].map(|names| names.map(Names::list));
    let size = batch_size.map_or(0, NonZeroUsize::get);
    let reader =
        make(&path, filters, columns, format, overrides.unwrap_or_default(), size).map_err(python)?;
    if let Some(text) = reader.state().blind() {
        warn_of(py, &path, &text)?;
    }
    warn_of_notices(py, &reader)?;
    Ok(reader)
}

/// Passes on what a reader has to say about its file.
fn warn_of_notices(py: Python<'_>, reader: &Reader) -> PyResult<()> {
    reader.notices.take().iter().try_for_each(|(path, text)| warn_of(py, path, text))
}

fn warn_of(py: Python<'_>, path: &Path, text: &str) -> PyResult<()> {
    warn(py, &patzer_io::printable(&format!("{}: {text}", path.display())))
}

fn make(
    path: &Path,
    filters: Option<Vec<String>>,
    columns: Option<Vec<String>>,
    format: Option<&str>,
    overrides: Vec<String>,
    size: usize,
) -> Result<Reader> {
    let filters = filters.unwrap_or_default();
    let filters = match filters.is_empty() && overrides.is_empty() {
        true => None,
        false => Some(Pipeline::new(&filters, &overrides)?),
    };
    let options = ReadOptions::from(format.map(registry::named).transpose()?);
    let mut reader = AnyReader::open(path, &options)?;
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
    let state = State {
        reader: Some(reader),
        filters,
        head: Vec::new(),
        rest: Slice::default(),
        spare: Slice::default(),
        size,
        error: None,
        read: 0,
        dropped: BTreeMap::new(),
    };
    let state = Mutex::new(state);
    Ok(Reader { state, notices: options.notices, names, format, rows })
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
            let step = py.detach(|| self.state().step()).map_err(python)?;
            warn_of_notices(py, self)?;
            match step {
                Step::Batch(records) => return Ok(Some(Batch { records, names: self.names.clone() })),
                Step::More => {}
                Step::End => return Ok(None),
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
    /// See [`Pipeline::blind`].
    fn blind(&self) -> Option<String> {
        self.filters.as_ref()?.blind(self.reader.as_ref()?.metadata())
    }

    /// Reads a block of the file, or cuts a batch of what was read.
    fn step(&mut self) -> Result<Step> {
        if let Some(batch) = self.cut() {
            return Ok(Step::Batch(batch));
        }
        if self.reader.is_some() {
            self.read_block();
            return Ok(Step::More);
        }
        if !self.head.is_empty() {
            return Ok(Step::Batch(std::mem::take(&mut self.head).into()));
        }
        self.error.take().map_or(Ok(Step::End), Err)
    }

    /// Returns the next whole batch, if the block has one; else what it has goes to `head`.
    fn cut(&mut self) -> Option<Slice> {
        if self.rest.is_empty() {
            return None;
        }
        let size = if self.size == 0 { self.rest.len() } else { self.size };
        let part = self.rest.take(size - self.head.len());
        if part.len() == size {
            return Some(part);
        }
        self.head.extend_from_slice(&part);
        (self.head.len() == size).then(|| std::mem::take(&mut self.head).into())
    }

    /// Replaces `rest`, which is empty, by the next block after filters. Without a reader the file has ended.
    fn read_block(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        let mut records = std::mem::take(&mut self.spare).into_records();
        match reader.next_batch(&mut records) {
            Ok(true) => {}
            Ok(false) => {
                self.reader = None;
                return;
            }
            Err(error) => {
                // A stream's records before the fault count; of a row group none do.
                if reader.format().name == registry::native().name {
                    records.clear();
                }
                self.error = Some(error);
                self.reader = None;
            }
        }
        self.read += records.len() as u64;
        self.filter(&mut records);
        self.spare = std::mem::replace(&mut self.rest, records.into());
    }

    fn filter(&mut self, records: &mut Vec<Record>) {
        let Some(filters) = &mut self.filters else { return };
        let (judge, mut seen) = filters.halves();
        let verdicts: Vec<_> =
            records.par_iter().with_min_len(PART).map(|record| judge.keep(record)).collect();
        let mut verdicts = verdicts.into_iter();
        records.retain(|record| {
            // The first of equal positions stays, so order matters.
            let mut new = || seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
            let verdict = verdicts.next().unwrap_or(Ok(()));
            let verdict = if verdict.is_ok() && !new() { Err(DUPLICATES) } else { verdict };
            if let Err(name) = verdict {
                *self.dropped.entry(name).or_default() += 1;
            }
            verdict.is_ok()
        });
    }
}
