//! Reader of positions in any format.

use std::path::{Path, PathBuf};

use crate::Record;
use crate::bad_rows::BadRows;
use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::dedupe_rule::{Dedupe, Keep};
use crate::extra::ExtraColumn;
use crate::extra_rows::ExtraRows;
use crate::foreign::columns::Columns;
use crate::foreign::parquet_table;
use crate::metadata::Metadata;
use crate::native::parquet::Dataset;
use crate::native::parquet_file::ParquetFile;
use crate::native::projection::Projection;
use crate::notices::Notices;
use crate::read_options::ReadOptions;
use crate::recognise::{is_dataset, is_stream, known, unknown};
use crate::registry::{self, Format, Read};
use crate::score_form::OF_WHITE;
use crate::score_reading::ScoreReading;
use crate::spooled;
use crate::stream::{FileDigest, Input};
use crate::visits;
use patzer_chess::score::{MATE, mate_in, mated_in};
use patzer_io::error::{Error, Hint, Result};
use patzer_io::number::counted;
use patzer_pgn::SideCheck;

/// A file of positions, and how to open it.
#[derive(Debug, Clone, Copy)]
pub struct DataFile<'a> {
    pub path: &'a Path,
    pub options: &'a ReadOptions,
}

impl DataFile<'_> {
    /// Opens the file; see [`AnyReader::open`].
    pub fn open(&self) -> Result<AnyReader> {
        AnyReader::open(self.path, self.options)
    }
}

/// Reads a file of any format from start to end.
pub struct AnyReader {
    path: PathBuf,
    format: &'static Format,
    /// True if the format follows from the name alone.
    by_name: bool,
    metadata: Metadata,
    rows: Option<u64>,
    source: RecordSource,
    digest: FileDigest,
    /// Options for scores that the source of records leaves to be applied, or has applied to a dataset.
    scores: ScoreReading,
    check: SideCheck,
    /// Scores so far that were beyond a mate's.
    beyond: u64,
    bad_rows: BadRows,
    notices: Notices,
}

impl AnyReader {
    /// Opens a file, or standard input for `-`. Without a format, the content decides, then the name.
    pub fn open(path: &Path, options: impl Into<ReadOptions>) -> Result<AnyReader> {
        AnyReader::open_as(path, options.into(), &Columns::default(), Input::open)
    }

    /// Opens a file to make another of it: its digest is known once it is read to its end. Of a table, some columns may
    /// be named.
    pub fn open_source(path: &Path, options: impl Into<ReadOptions>, columns: &Columns) -> Result<AnyReader> {
        AnyReader::open_as(path, options.into(), columns, Input::hashed)
    }

    fn open_as(
        path: &Path,
        options: ReadOptions,
        columns: &Columns,
        open: fn(&Path) -> Result<Input>,
    ) -> Result<AnyReader> {
        let ReadOptions { format, notices, scores, skip_bad_rows } = options;
        let bad_rows = BadRows::new(skip_bad_rows);
        let (mut columns, given) = (columns.clone(), ScoreReading::of(&scores, path));
        columns.scores = ScoreReading { white: given.white.or(columns.scores.white), ..given };
        if is_dataset(path, format)? {
            return AnyReader::parquet(path, &columns, bad_rows, notices);
        }
        let mut input = open(path)?;
        (input.columns, input.notices) = (columns.clone(), notices.clone());
        input.bad_rows = bad_rows.clone();
        if input.head().is_empty() {
            return Err(Error::data(path, "is empty"));
        }
        if let (None, Some(error)) = (format, patzer_io::archive(path, input.head())) {
            return Err(error);
        }
        let by_name = format.is_none() && registry::of_content(input.head()).is_none();
        let format =
            format.or_else(|| known(path, input.head())).ok_or_else(|| unknown(path, input.head()))?;
        let Read::Stream(open) = format.read else {
            if is_stream(path) {
                spooled::keep(path, &mut input)?;
                return AnyReader::parquet(path, &columns, bad_rows, notices);
            }
            let packed = input.head().starts_with(b"PAR1");
            let reason = if packed {
                "is a compressed Parquet file; unpack it first"
            } else {
                "is not a Parquet file"
            };
            return Err(Error::data(path, reason));
        };
        let digest = input.digest.clone();
        let batches = open(input).map_err(|error| if by_name { misread(error, format) } else { error })?;
        let reader = AnyReader::stream(path, format, None, batches, columns.scores, notices);
        Ok(AnyReader { by_name, digest, bad_rows, ..reader })
    }

    /// Opens Parquet: a dataset, or a table of another program.
    fn parquet(path: &Path, columns: &Columns, bad_rows: BadRows, notices: Notices) -> Result<AnyReader> {
        let file = ParquetFile::open(path)?;
        if parquet_table::is_table(&file, columns) {
            let table = parquet_table::Reader::new(file, columns, bad_rows.clone(), &notices)?;
            let (rows, format) = (table.positions(), registry::named("table")?);
            let reader = AnyReader::stream(path, format, rows, Box::new(table), columns.scores, notices);
            return Ok(AnyReader { bad_rows, ..reader });
        }
        let dataset = Dataset::of(file, columns.scores, notices.clone())?;
        Ok(AnyReader {
            path: path.to_path_buf(),
            format: registry::native(),
            by_name: false,
            metadata: dataset.metadata().clone(),
            rows: Some(dataset.rows()),
            source: RecordSource::Groups(Box::new(dataset), 0, Projection::ALL),
            digest: FileDigest::default(),
            scores: columns.scores,
            check: SideCheck::default(),
            beyond: 0,
            bad_rows,
            notices,
        })
    }

    fn stream(
        path: &Path,
        format: &'static Format,
        rows: Option<u64>,
        batches: Box<dyn PositionReader>,
        scores: ScoreReading,
        notices: Notices,
    ) -> AnyReader {
        let dedupe = batches.means().then(|| Dedupe { keep: Keep::Mean, ..Dedupe::default() });
        let extra = batches.has_visits().then(visits::column).into_iter().collect();
        let mut metadata =
            Metadata { resolved: batches.resolved(), dedupe, extra, ..Metadata::of_file(path) };
        metadata.read_scores(format.score, scores);
        metadata.lacks = Capabilities::OF_SOURCE.without(format.may_hold()).and(batches.lacks());
        let scores = if batches.reads_scores() { ScoreReading::default() } else { scores };
        AnyReader {
            path: path.to_path_buf(),
            format,
            by_name: false,
            metadata,
            rows,
            source: RecordSource::Stream(batches),
            digest: FileDigest::default(),
            scores,
            check: SideCheck::default(),
            beyond: 0,
            bad_rows: BadRows::default(),
            notices,
        }
    }

    /// Bad rows left out so far.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows.count()
    }

    pub(crate) fn scores(&self) -> ScoreReading {
        self.scores
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Opens the reader of the file's columns beside its records, of those that are wanted; see [`ExtraRows::of`].
    pub fn extra_rows(&self, wanted: &[ExtraColumn]) -> Result<Option<ExtraRows>> {
        ExtraRows::of(&self.path, &self.metadata, wanted, &self.notices)
    }

    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns the metadata; unless the format is native, little more than the file's name, and its digest once it is
    /// read to its end.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the number of positions if the file states it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Replaces `records` by the next records; false at the end of the file.
    pub fn next_batch(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        match &mut self.source {
            RecordSource::Groups(dataset, next, projection) if *next < dataset.groups() => {
                *next += 1;
                dataset.read_into(*next - 1, *projection, records)?;
                Ok(true)
            }
            RecordSource::Groups(..) => {
                records.clear();
                Ok(false)
            }
            RecordSource::Stream(batches) => {
                records.clear();
                let more = batches.next_batch(records);
                let (by_name, format) = (self.by_name, self.format);
                let more = more.map_err(|error| if by_name { misread(error, format) } else { error })?;
                self.beyond += limit_scores(records);
                self.scores.apply(records, format.score.is_some_and(|form| form.side == OF_WHITE.side));
                // Binary formats leave no doubt about the side.
                if !format.companion {
                    self.check.add(records);
                }
                if !more && self.bad_rows() > 0 {
                    self.notices.add(&self.path, format!("{} left out", counted(self.bad_rows(), "bad row")));
                }
                if !more && let Some(text) = std::mem::take(&mut self.check).contradiction() {
                    self.notices.add(&self.path, text);
                }
                if !more && self.beyond > 0 {
                    let beyond = counted(std::mem::take(&mut self.beyond), "score");
                    self.notices.add(&self.path, format!("{beyond} beyond ±32,000 read as mate in one move"));
                }
                if let (false, Some((sha256, bytes))) = (more, self.digest.whole()) {
                    let own = self.metadata.sources.iter_mut();
                    own.for_each(|own| (own.sha256, own.bytes) = (sha256.clone(), Some(bytes)));
                }
                Ok(more)
            }
        }
    }

    pub fn project(&mut self, columns: Projection) {
        if let RecordSource::Groups(.., projection) = &mut self.source {
            *projection = columns;
        }
    }

    pub fn read_all(mut self) -> Result<Vec<Record>> {
        let (mut records, mut batch) = (Vec::new(), Vec::new());
        while self.next_batch(&mut batch)? {
            records.append(&mut batch);
        }
        Ok(records)
    }
}

/// Makes scores beyond a mate's the nearest mates; returns their number.
fn limit_scores(records: &mut [Record]) -> u64 {
    let mut beyond = 0;
    for record in records {
        if let Some(score) = record.score.filter(|score| i32::from(*score).abs() > MATE) {
            record.score = Some(if score > 0 { mate_in(1) } else { mated_in(2) } as i16);
            beyond += 1;
        }
    }
    beyond
}

/// Adds to an error of a file's content that its name alone gave the format.
fn misread(error: Error, Format { name, .. }: &Format) -> Error {
    match error {
        Error::Data { path, place, reason } => {
            let reason = format!("{reason} (read as {name} by its name)");
            Error::Data { path, place, reason }.hint(Hint::InputFormat)
        }
        other => other,
    }
}

enum RecordSource {
    Groups(Box<Dataset>, usize, Projection),
    Stream(Box<dyn PositionReader>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_beyond_those_of_mates_are_mates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("beyond.txt");
        let fen = "4k3/8/8/8/8/8/P7/4K3 w - - 0 1";
        let lines = [32_500, -32_768, 32_000].map(|score| format!("{fen} | {score} | 1.0\n"));
        std::fs::write(&path, lines.concat()).unwrap();
        let options = ReadOptions::default();
        let records = AnyReader::open(&path, &options).and_then(AnyReader::read_all).unwrap();
        let scores: Vec<_> = records.iter().map(|record| record.score).collect();
        assert_eq!(scores, [Some(31_999), Some(-31_998), Some(32_000)]);
        let said = options.notices.take();
        assert!(said.iter().any(|(of, text)| *of == path && text.starts_with("2 scores beyond")));
    }

    #[test]
    fn an_error_says_that_the_name_gave_the_format() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, format| {
            let path = folder.path().join(name);
            std::fs::write(&path, [0xff; 40]).unwrap();
            AnyReader::open(&path, format).and_then(AnyReader::read_all).unwrap_err().to_string()
        };
        let error = read("data.bin", None);
        assert!(
            error.contains("data.bin: byte 0: ") && error.contains(" (read as bin by its name)"),
            "{error}"
        );
        assert!(read("a.monty", None).contains("(read as monty by its name)"));
        assert!(!read("data.bin", registry::named("bin").ok()).contains("by its name"));
    }
}
