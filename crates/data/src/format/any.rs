//! Positions in any format: one reader and one writer.
//!
//! In: a path, and a format where its name and content do not tell. Out: records in batches, or a file with the
//! account of what was written, what was left out, and which facts the format could not carry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::columns::Projection;
use super::epd::Dialect;
use super::facts::{FACTS, Facts};
use super::metadata::{Metadata, Source};
use super::parquet::{self, Dataset};
use super::registry::{self, Format, Read};
use super::stream::Input;
use crate::Record;
use patzer_io::error::{Error, Result};

/// About how many records a batch holds; whole games may make it longer.
pub const BATCH: usize = 1 << 14;

/// What reads a format.
pub trait PositionReader: Send {
    /// Appends some records; false, with nothing appended, at the end of the file.
    ///
    /// # Errors
    /// If the file is damaged, with the place.
    fn next_batch(&mut self, records: &mut Vec<Record>) -> Result<bool>;

    /// How the positions were resolved, if the file says so.
    fn resolved(&self) -> Option<String> {
        None
    }
}

/// What writes a format.
pub trait PositionWriter: Send {
    /// Writes records; gives how many were left out because their move is not legal.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn write(&mut self, records: &[Record]) -> Result<u64>;

    /// How often a game was interrupted by missing positions.
    fn gaps(&self) -> u64 {
        0
    }

    /// What the file will say of itself, if it can.
    fn metadata(&mut self) -> Option<&mut Metadata> {
        None
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// If the last bytes cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Positions of a file in any format, from its start to its end.
pub struct AnyReader {
    path: PathBuf,
    format: &'static Format,
    metadata: Metadata,
    rows: Option<u64>,
    reading: Reading,
}

impl AnyReader {
    /// Opens a file, or standard input for `-`. Without a format, its content says which it is, or else its name.
    ///
    /// # Errors
    /// If it cannot be opened, is empty, or is of no format that is known.
    pub fn open(path: &Path, format: Option<&'static Format>) -> Result<AnyReader> {
        if is_dataset(path, format)? {
            return AnyReader::dataset(path);
        }
        let input = Input::open(path)?;
        if input.head().is_empty() {
            return Err(Error::data(path, "is empty"));
        }
        let known = format.or_else(|| registry::of_content(input.head())).or_else(|| registry::of_path(path));
        let format = known.ok_or_else(|| {
            Error::data(
                path,
                "is not a Parquet file, and neither its content nor its name says another format; make a dataset with \
                 `patzer extract`, or say what it is with `patzer data convert --input-format`",
            )
        })?;
        let Read::Stream(open) = format.read else {
            return Err(Error::data(
                path,
                "is not a Parquet file that can be read from its start to its end",
            ));
        };
        let batches = open(input)?;
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
        let metadata = Metadata {
            resolved: batches.resolved(),
            ..Metadata::new(vec![Source { name, sha256: String::new(), games: None }], Vec::new(), 0)
        };
        let reading = Reading::PositionReader(batches);
        Ok(AnyReader { path: path.to_path_buf(), format, metadata, rows: None, reading })
    }

    fn dataset(path: &Path) -> Result<AnyReader> {
        let dataset = Dataset::open(path)?;
        Ok(AnyReader {
            path: path.to_path_buf(),
            format: registry::native(),
            metadata: dataset.metadata().clone(),
            rows: Some(dataset.rows()),
            reading: Reading::Groups(Box::new(dataset), 0, Projection::ALL),
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// What it says of itself; a file of another format than the native one says little.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How many positions it holds, if that is known before it is read.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Puts the next records into `records`, in place of what is there; false at the end of the file.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn next_batch(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        match &mut self.reading {
            Reading::Groups(dataset, next, wanted) if *next < dataset.groups() => {
                *next += 1;
                dataset.read_into(*next - 1, *wanted, records)?;
                Ok(true)
            }
            Reading::Groups(..) => {
                records.clear();
                Ok(false)
            }
            Reading::PositionReader(batches) => {
                records.clear();
                batches.next_batch(records)
            }
        }
    }

    /// Reads no more of a dataset than these columns; other formats are read whole.
    pub fn want(&mut self, columns: Projection) {
        if let Reading::Groups(.., wanted) = &mut self.reading {
            *wanted = columns;
        }
    }

    /// Everything that is left.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read_all(mut self) -> Result<Vec<Record>> {
        let (mut records, mut batch) = (Vec::new(), Vec::new());
        while self.next_batch(&mut batch)? {
            records.append(&mut batch);
        }
        Ok(records)
    }
}

/// Whether a file is to be read as the native format, which needs to be at any place of it.
fn is_dataset(path: &Path, format: Option<&'static Format>) -> Result<bool> {
    if let Some(format) = format {
        return Ok(matches!(format.read, Read::Dataset));
    }
    // Bytes of a pipe that are looked at are gone.
    if path == Path::new("-")
        || std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
    {
        return Ok(false);
    }
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(patzer_io::raw(path)?, 4), &mut head)
        .map_err(|e| Error::io(path, e))?;
    Ok(head == b"PAR1")
}

/// Where records come from.
enum Reading {
    /// The row groups of a dataset, one after another: the next one, and the columns that are read.
    Groups(Box<Dataset>, usize, Projection),
    PositionReader(Box<dyn PositionReader>),
}

impl PositionWriter for parquet::Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        parquet::Writer::write(self, records).map(|()| 0)
    }

    fn metadata(&mut self) -> Option<&mut Metadata> {
        Some(parquet::Writer::metadata(self))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        parquet::Writer::finish(*self).map(|_| ())
    }
}

/// What to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target {
    /// The format; `None` goes by the name of the file, and is the native one if that says nothing.
    pub format: Option<&'static Format>,
    /// How a line of text says the result; `None` is the format's own way.
    pub dialect: Option<Dialect>,
    /// The score, in centipawns from the side to move, of positions that have none; `None` leaves them out of formats that need one.
    pub no_score: Option<i16>,
}

impl Target {
    /// The format of a file of this name.
    ///
    /// # Errors
    /// If it has no dialects although one is asked for.
    pub fn format(&self, path: &Path) -> Result<&'static Format> {
        let format = self.format.or_else(|| registry::of_path(path)).unwrap_or_else(registry::native);
        match self.dialect {
            None => Ok(format),
            Some(_) if format.dialect.is_none() => {
                Err(Error::usage(format!("--dialect: {} has no dialects; epd, fen and text do", format.name)))
            }
            Some(dialect) => Ok(registry::of_dialect(dialect).unwrap_or(format)),
        }
    }
}

/// Writes positions in any format.
pub struct AnyWriter {
    path: PathBuf,
    format: &'static Format,
    no_score: Option<i16>,
    sink: Box<dyn PositionWriter>,
    written: Written,
    kept: Vec<Record>,
}

/// What was written, and what was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Positions in the file.
    pub positions: u64,
    /// Positions that the format cannot hold, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Positions in the file that lost a fact that the format does not carry, by fact.
    pub lost: BTreeMap<&'static str, u64>,
    /// How often a game was interrupted by missing positions, in formats of whole games.
    pub gaps: u64,
}

impl AnyWriter {
    /// Starts a file; it appears under its name when [`AnyWriter::finish`] succeeds.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path, target: &Target, metadata: &Metadata) -> Result<AnyWriter> {
        let format = target.format(path)?;
        let sink = (format.write)(path, target, metadata)?;
        let written = Written { positions: 0, dropped: BTreeMap::new(), lost: BTreeMap::new(), gaps: 0 };
        let path = path.to_path_buf();
        Ok(AnyWriter { path, format, no_score: target.no_score, sink, written, kept: Vec::new() })
    }

    /// Writes a dataset of the native format that has been started.
    pub fn native(path: &Path, writer: parquet::Writer) -> AnyWriter {
        let written = Written { positions: 0, dropped: BTreeMap::new(), lost: BTreeMap::new(), gaps: 0 };
        let (path, sink) = (path.to_path_buf(), Box::new(writer));
        AnyWriter { path, format: registry::native(), no_score: None, sink, written, kept: Vec::new() }
    }

    /// What the file will say of itself, if its format can.
    pub fn metadata(&mut self) -> Option<&mut Metadata> {
        self.sink.metadata()
    }

    /// Adds records, in order.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, records: &[Record]) -> Result<()> {
        if self.format.carries == Facts::ALL && self.format.needs == Facts::NONE {
            self.written.positions += records.len() as u64;
            return self.sink.write(records).map(drop);
        }
        self.kept.clear();
        let mut lost = [0u64; 16];
        for record in records {
            let mut record = *record;
            let needs_score = self.format.needs.contains(Facts::SCORE);
            record.score = record.score.or(self.no_score.filter(|_| needs_score));
            let holds = Facts::of(&record);
            if let Some(reason) = self.refusal(&record, holds) {
                *self.written.dropped.entry(reason).or_default() += 1;
                continue;
            }
            let missing = holds.without(self.format.carries);
            missing.bits().for_each(|bit| lost[bit] += 1);
            self.kept.push(record);
        }
        let illegal = self.sink.write(&self.kept)?;
        if illegal > 0 {
            *self.written.dropped.entry("illegal_move").or_default() += illegal;
        }
        self.written.positions += self.kept.len() as u64 - illegal;
        for row in FACTS {
            let count: u64 = row.fact.bits().map(|bit| lost[bit]).sum();
            if count > 0 {
                *self.written.lost.entry(row.name).or_default() += count;
            }
        }
        Ok(())
    }

    /// Why the format cannot hold a position.
    fn refusal(&self, record: &Record, holds: Facts) -> Option<&'static str> {
        let lacks = |fact| self.format.needs.contains(fact) && !holds.contains(fact);
        if record.board.count() > 32 {
            Some("more_than_32_pieces")
        } else if lacks(Facts::SCORE) {
            Some("no_score")
        } else if lacks(Facts::MOVE) {
            Some("no_move")
        } else if self.format.refuses.contains(Facts::CHESS960) && holds.contains(Facts::CHESS960) {
            Some("chess960_castling")
        } else {
            None
        }
    }

    /// Ends the file, gives it its name, and gives the account.
    ///
    /// # Errors
    /// If the last bytes cannot be written.
    pub fn finish(mut self) -> Result<Written> {
        self.written.gaps = self.sink.gaps();
        self.sink.finish()?;
        Ok(self.written)
    }

    /// The format that is written.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Where it will lie.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Written {
    /// What the user should know of it, in one line; `None` if nothing was lost.
    pub fn warning(&self, path: &Path, format: &Format) -> Option<String> {
        let mut parts = Vec::new();
        let list = |counts: &BTreeMap<&'static str, u64>| {
            counts
                .iter()
                .map(|(name, count)| format!("{name} ({count} positions)"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !self.dropped.is_empty() {
            parts.push(format!("left out: {}", list(&self.dropped)));
        }
        if !self.lost.is_empty() {
            parts.push(format!("{} does not carry: {}", format.name, list(&self.lost)));
        }
        if self.gaps > 0 {
            parts.push(format!("{} gaps split games, since {} stores games", self.gaps, format.name));
        }
        (!parts.is_empty()).then(|| format!("{}: {}", path.display(), parts.join("; ")))
    }
}
