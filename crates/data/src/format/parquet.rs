//! Reader of the native dataset: Parquet with one row per position.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, Length, SerializedFileReader};
use parquet::file::serialized_reader::SerializedPageReader;
use rayon::prelude::*;

use super::columns::{self, Column, EMPTY, Kind, Layout, Projection};
use super::encode::ROWS_PER_PAGE;
use super::footer;
use super::foreign::{BadValue, ForeignColumn};
use super::legality;
use super::metadata::Metadata;
use super::missing::{self, Missing};
use super::page::Cursor;
use super::page_header::{self, Pages};
use super::positioned::Positioned;
use super::values::Stored;
use crate::dedupe::{Dedupe, Keep};
use crate::{Record, notices, unchecked};
use patzer_io::error::{Error, Result};

pub use super::writer::{LEVEL, ROWS_PER_GROUP, Writer};

pub(super) const METADATA_KEY: &str = "patzer";

/// A dataset opened for reading; can be shared between threads. Columns are found by name: those that a file lacks are
/// filled, those that it has besides are left out.
pub struct Dataset {
    path: PathBuf,
    reader: SerializedFileReader<Positioned>,
    pages: Arc<Pages>,
    metadata: Metadata,
    columns: Vec<FileColumn>,
    missing: Vec<&'static Column>,
    checksums: bool,
    /// Whether to check every record, since pages have no checksums.
    check_records: bool,
    unchecked: AtomicBool,
}

/// A column of a dataset in a file.
struct FileColumn {
    column: &'static Column,
    place: usize,
    /// Type and nullability, unless patzer wrote the column as it writes it now.
    foreign: Option<(Stored, bool)>,
}

impl Dataset {
    pub fn open(path: &Path) -> Result<Dataset> {
        let file = open_file(path)?;
        let sealed = footer::check(&file).map_err(|reason| Error::data(path, reason))?;
        let reader = SerializedFileReader::new(file.clone())
            .map_err(|e| Error::data(path, format!("its footer is damaged: {e}")))?;
        let names = top_level(reader.metadata());
        let layout = Layout::of(|name| names.iter().any(|column| column.0 == name));
        let (mut columns, mut missing) = (Vec::new(), Vec::new());
        for column in layout.columns() {
            match names.iter().find(|(name, _)| *name == column.name) {
                Some(&(_, place)) => {
                    columns.push(FileColumn::new(column, place, reader.metadata(), sealed, path)?)
                }
                None => missing.push(column),
            }
        }
        if let Some(column) = missing.iter().find(|column| missing::NEEDED.contains(&column.name)) {
            let reason = format!(
                "is Parquet, but not a patzer dataset: it has no column `{}`, nor FENs in one called `fen`",
                column.name
            );
            return Err(Error::data(path, reason));
        }
        check_chunks(reader.metadata(), &columns, file.len()).map_err(|reason| Error::data(path, reason))?;
        let (metadata, lost) = metadata_of(path, reader.metadata(), layout);
        let unknown = names.iter().filter(|(name, _)| {
            !layout.columns().any(|column| column.name == *name)
                && !columns::READABLE.iter().any(|c| c.name == *name)
        });
        let unknown: Vec<&str> = unknown.map(|(name, _)| *name).collect();
        say(path, &unknown, &missing, lost);
        let checksums = sealed || page_checksums(reader.metadata(), &file);
        Ok(Dataset {
            path: path.to_path_buf(),
            reader,
            pages: Arc::new(Pages(file)),
            columns,
            missing,
            metadata,
            checksums,
            check_records: !checksums || !sealed,
            unchecked: AtomicBool::new(checksums),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Whether pages have checksums, which every read verifies. Without them, every read checks that records are legal.
    pub fn has_checksums(&self) -> bool {
        self.checksums
    }

    /// Reads illegal records too, for a caller that reports them itself.
    pub fn accept_illegal_records(&mut self) {
        self.check_records = false;
    }

    pub fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows() as u64
    }

    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    pub fn group_rows(&self, index: usize) -> u64 {
        self.reader.metadata().row_group(index).num_rows().max(0) as u64
    }

    /// Index of a row group's first row in the file.
    fn first_row(&self, group: usize) -> u64 {
        (0..group).map(|index| self.group_rows(index)).sum()
    }

    pub fn group_offset(&self, index: usize) -> u64 {
        let columns = self.reader.metadata().row_group(index).columns();
        columns.iter().map(|column| column.byte_range().0).min().unwrap_or(0)
    }

    pub fn read_group(&self, index: usize) -> Result<Vec<Record>> {
        self.read_columns(index, Projection::ALL)
    }

    /// Reads the projected columns of one row group; the other fields are 0 or `None`.
    pub fn read_columns(&self, index: usize, projection: Projection) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        self.read_into(index, projection, &mut records)?;
        Ok(records)
    }

    /// Replaces `records` by the projected columns of one row group, on all threads. Reusing the memory saves a fifth of
    /// the time.
    pub fn read_into(&self, index: usize, projection: Projection, records: &mut Vec<Record>) -> Result<()> {
        let rows = self.rows_of(index, projection)?.left;
        records.resize(rows, EMPTY);
        let share = rows.div_ceil(rayon::current_num_threads()).max(1).next_multiple_of(ROWS_PER_PAGE);
        let parts = records.par_chunks_mut(share).enumerate().map(|(nth, records)| {
            let mut rows = self.rows_of(index, projection)?;
            rows.skip(nth * share)?;
            rows.fill(records)
        });
        // Report the first error in file order.
        parts.collect::<Vec<_>>().into_iter().collect()
    }

    pub fn rows_of(&self, index: usize, projection: Projection) -> Result<Rows<'_>> {
        let damaged = |e| self.damaged(index, &e);
        let group = self.reader.metadata().row_group(index);
        let left = usize::try_from(group.num_rows()).map_err(|_| {
            Error::at(&self.path, format!("row group {index}"), "has no sound number of rows")
        })?;
        let columns = self.columns.iter().filter(|file| projection.contains(file.column));
        let cursor = |file: &FileColumn| {
            let (column, chunk) = (file.column, group.column(file.place));
            let pages = Box::new(SerializedPageReader::new(Arc::clone(&self.pages), chunk, left, None)?);
            let pages: Box<dyn PageReader> = match file.foreign {
                None => pages,
                Some((stored, nullable)) => {
                    Box::new(ForeignColumn::new(column, pages, stored, nullable, left))
                }
            };
            Ok((column, Cursor::new(pages, column.optional)))
        };
        let cursors = columns.map(cursor).collect::<std::result::Result<_, _>>().map_err(damaged)?;
        let legality = self.check_records && projection.has(Projection::KEY);
        if legality && !self.unchecked.swap(true, Ordering::Relaxed) {
            unchecked::add(&self.path);
        }
        let missing = Missing::new(&self.missing, projection);
        let base = missing.base();
        Ok(Rows {
            dataset: self,
            group: index,
            cursors,
            next: 0,
            left,
            legality,
            missing,
            base,
            first: self.first_row(index),
        })
    }

    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { dataset: self, next: 0, rows: None }
    }

    pub fn for_each(&self, mut each: impl FnMut(Vec<Record>) -> Result<()>) -> Result<()> {
        let mut blocks = self.blocks();
        while let Some(records) = blocks.next_block()? {
            each(records)?;
        }
        Ok(())
    }

    fn damaged(&self, group: usize, error: &ParquetError) -> Error {
        if let ParquetError::External(cause) = error
            && let Some(bad) = cause.downcast_ref::<BadValue>()
        {
            let row = self.first_row(group) + bad.row;
            return Error::at(&self.path, format!("row {row}"), bad.reason.clone());
        }
        Error::at(&self.path, format!("row group {group}"), format!("is damaged: {error}"))
    }

    pub fn read_all(&self) -> Result<Vec<Record>> {
        let groups: Vec<Vec<Record>> =
            (0..self.groups()).into_par_iter().map(|i| self.read_group(i)).collect::<Result<_>>()?;
        Ok(groups.concat())
    }
}

/// Opens a file that is not empty.
pub(super) fn open_file(path: &Path) -> Result<Positioned> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let about = file.metadata().map_err(|e| Error::io(path, e))?;
    if about.is_dir() {
        return Err(Error::data(path, "is a folder, not a file"));
    }
    if about.len() == 0 {
        return Err(Error::data(path, "is empty"));
    }
    Positioned::new(file).map_err(|e| Error::io(path, e))
}

/// Names and places of the columns that are not nested.
pub(super) fn top_level(metadata: &ParquetMetaData) -> Vec<(&str, usize)> {
    let columns = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let flat = columns.filter(|(_, column)| column.path().parts().len() == 1 && column.max_rep_level() == 0);
    flat.map(|(place, column)| (column.name(), place)).collect()
}

impl FileColumn {
    fn new(
        column: &'static Column,
        place: usize,
        metadata: &ParquetMetaData,
        sealed: bool,
        path: &Path,
    ) -> Result<FileColumn> {
        let stored = metadata.file_metadata().schema_descr().column(place);
        if sealed && column.is_own(&stored) {
            return Ok(FileColumn { column, place, foreign: None });
        }
        let fits = |stored: &Stored| match column.kind {
            Kind::Board => matches!(stored, Stored::Fixed(24) | Stored::Bytes),
            Kind::Bool | Kind::Int(_) => !matches!(stored, Stored::Fixed(_) | Stored::Bytes),
        };
        let Some(kind) = Stored::of(&stored).filter(fits) else {
            let reason = format!("its column `{}` has another type than a dataset's", column.name);
            return Err(Error::data(path, reason));
        };
        Ok(FileColumn { column, place, foreign: Some((kind, stored.max_def_level() == 1)) })
    }
}

/// The metadata that a file has, and why there is none.
fn metadata_of(path: &Path, file: &ParquetMetaData, layout: Layout) -> (Metadata, Option<String>) {
    let pairs = file.file_metadata().key_value_metadata();
    let json =
        pairs.into_iter().flatten().find(|pair| pair.key == METADATA_KEY).and_then(|p| p.value.as_ref());
    let (mut metadata, lost) = match json.map(|json| serde_json::from_str::<Metadata>(json)) {
        Some(Ok(metadata)) => (metadata, None),
        Some(Err(e)) => {
            (Metadata::of_file(path), Some(format!("its `patzer` metadata does not parse ({e})")))
        }
        None => (Metadata::of_file(path), Some("it has no `patzer` metadata".to_string())),
    };
    // The columns that are there count, not those that there were.
    match (layout.resolved, &metadata.resolved) {
        (true, None) => metadata.resolved = Some("as the file says".into()),
        (false, _) => metadata.resolved = None,
        (true, Some(_)) => {}
    }
    if layout.means != metadata.layout().means {
        metadata.dedupe = layout.means.then(|| Dedupe { keep: Keep::Mean, ..Dedupe::default() });
    }
    (metadata, lost)
}

/// Says in one notice what another program left out, added or lost.
fn say(path: &Path, unknown: &[&str], missing: &[&'static Column], lost: Option<String>) {
    let mut parts = Vec::new();
    if !unknown.is_empty() {
        parts.push(format!("left out are the columns {}, which patzer does not know", unknown.join(", ")));
    }
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|column| column.name).collect();
        parts.push(format!("it lacks the columns {}, which are empty or computed", names.join(", ")));
    }
    parts.extend(lost.map(|lost| format!("{lost}, so its sources and filters are unknown")));
    if !parts.is_empty() {
        notices::add(path, parts.join("; "));
    }
}

/// Checks the numbers of a footer that decide what is read.
fn check_chunks(
    metadata: &ParquetMetaData,
    used: &[FileColumn],
    length: u64,
) -> std::result::Result<(), &'static str> {
    let (mut rows, columns) = (0i64, metadata.file_metadata().schema_descr().num_columns());
    for group in metadata.row_groups() {
        rows = rows.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0).ok_or(ROWS)?;
        if group.num_columns() != columns {
            return Err("its footer is damaged: a row group lacks columns");
        }
        for file in used {
            let chunk = group.column(file.place);
            check_chunk(chunk, group.num_rows(), length)?;
        }
    }
    if rows == metadata.file_metadata().num_rows() { Ok(()) } else { Err(ROWS) }
}

/// Checks that a column chunk lies within the file and has as many values as its row group has rows.
pub(super) fn check_chunk(
    chunk: &ColumnChunkMetaData,
    rows: i64,
    length: u64,
) -> std::result::Result<(), &'static str> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let end = start.checked_add(chunk.compressed_size());
    let inside = start >= 0 && end.is_some_and(|end| end >= start && end as u64 <= length);
    if !inside || chunk.data_page_offset() < start || chunk.file_path().is_some() {
        return Err("its footer is damaged: the pages of a column are not within the file");
    }
    if chunk.num_values() == rows { Ok(()) } else { Err(ROWS) }
}

const ROWS: &str = "its footer is damaged: its numbers of rows contradict each other";

/// Whether the first page of every column chunk has a checksum.
fn page_checksums(metadata: &ParquetMetaData, file: &Positioned) -> bool {
    let mut chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    chunks.all(|chunk| matches!(page_header::has_checksum(file, chunk.byte_range().0), Ok(Some(true))))
}

/// Iterator over a dataset's records in blocks; see [`Dataset::blocks`].
pub struct Blocks<'a> {
    dataset: &'a Dataset,
    next: usize,
    rows: Option<Rows<'a>>,
}

impl Blocks<'_> {
    /// Reads the next block; `None` at the end.
    pub fn next_block(&mut self) -> Result<Option<Vec<Record>>> {
        loop {
            match &mut self.rows {
                Some(rows) if rows.left > 0 => return rows.next_rows().map(Some),
                _ if self.next == self.dataset.groups() => return Ok(None),
                _ => {
                    self.rows = Some(self.dataset.rows_of(self.next, Projection::ALL)?);
                    self.next += 1;
                }
            }
        }
    }
}

pub struct Rows<'a> {
    dataset: &'a Dataset,
    group: usize,
    cursors: Vec<(&'static Column, Cursor)>,
    next: usize,
    left: usize,
    legality: bool,
    missing: Missing,
    base: Record,
    /// Index of the row group's first row in the file.
    first: u64,
}

impl Rows<'_> {
    pub fn next_rows(&mut self) -> Result<Vec<Record>> {
        let mut records = vec![EMPTY; self.left.min(ROWS_PER_PAGE)];
        self.fill(&mut records)?;
        Ok(records)
    }

    /// Skips rows, at most as many as are left.
    fn skip(&mut self, rows: usize) -> Result<()> {
        let damaged = |e| self.dataset.damaged(self.group, &e);
        self.cursors.iter_mut().try_for_each(|(_, cursor)| cursor.skip(rows)).map_err(damaged)?;
        self.next += rows;
        self.left -= rows;
        Ok(())
    }

    /// Reads one row per record, at most as many as are left.
    fn fill(&mut self, records: &mut [Record]) -> Result<()> {
        // Few rows at a time, so that they stay in the cache for every column.
        for few in records.chunks_mut(1 << 10) {
            few.fill(self.base);
            let mut columns = self.cursors.iter_mut();
            let read = columns.try_for_each(|(column, cursor)| (column.read)(cursor, few));
            read.map_err(|e| self.dataset.damaged(self.group, &e))?;
            self.missing.complete(few, self.first + self.next as u64);
            if self.legality {
                self.check(few)?;
            }
            self.next += few.len();
        }
        self.left -= records.len();
        Ok(())
    }

    fn check(&self, few: &[Record]) -> Result<()> {
        let faults =
            few.iter().zip(self.next..).filter_map(|(record, row)| Some((row, legality::fault(record)?)));
        faults.take(1).try_for_each(|(row, fault)| {
            let place = format!("row group {}, row {row}", self.group);
            Err(Error::at(&self.dataset.path, place, format!("is damaged: {fault}")))
        })
    }
}

pub(super) fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

pub(super) fn parquet_error(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(e) => match e.downcast::<std::io::Error>() {
            Ok(e) => Error::io(path, *e),
            Err(e) => Error::data(path, e.to_string()),
        },
        e => Error::data(path, e.to_string()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Leaf;
    use parquet::schema::parser::parse_message_type;
    use patzer_chess::{PackedBoard, PackedMove};
    use shakmaty::Color;

    fn records(n: usize) -> Vec<Record> {
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        (0..n)
            .map(|i| Record {
                board: start,
                turn: Color::from_black(i % 2 == 1),
                ep: 255,
                fullmove: i as u16,
                game: (i / 10) as u32,
                result: (i % 3) as i8 - 1,
                score: (i % 4 != 0).then_some(-(i as i16 % 500)),
                depth: (i % 5 == 0).then_some(12),
                played: PackedMove(i as u16),
                ..EMPTY
            })
            .collect()
    }

    #[test]
    fn records_survive_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        for resolved in [None, Some("qsearch".to_string())] {
            let mut written = records(ROWS_PER_PAGE + 1234);
            let metadata =
                Metadata { resolved: resolved.clone(), ..Metadata::new(vec![], vec!["quiet".into()], 9) };
            if resolved.is_some() {
                let leaf = Leaf { board: written[0].board, turn: Color::Black, score: -31_999 };
                written.iter_mut().filter(|s| s.fullmove % 7 != 0).for_each(|s| s.leaf = Some(leaf));
            }
            let mut writer = Writer::create(&path, metadata.clone()).unwrap();
            writer.write(&written[..100]).unwrap();
            writer.write(&written[100..]).unwrap();
            assert_eq!(writer.finish().unwrap(), written.len() as u64);
            let dataset = Dataset::open(&path).unwrap();
            assert_eq!(dataset.metadata(), &metadata);
            assert_eq!(dataset.rows(), written.len() as u64);
            assert_eq!(dataset.read_all().unwrap(), written);
        }
    }

    #[test]
    fn row_groups_can_be_read_concurrently() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let written = records(12 * ROWS_PER_PAGE + 1000);
        let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
        writer.pages_per_group = 1;
        writer.write(&written).unwrap();
        writer.finish().unwrap();
        let dataset = Dataset::open(&path).unwrap();
        assert_eq!(dataset.groups(), 13);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        assert!(pool.install(|| dataset.read_all()).unwrap() == written);
    }

    /// Writes with parquet's typed writers: plain or dictionary encoding, pages of other lengths in every column.
    pub fn write_plainly(path: &Path, records: &[Record], dictionary: bool) {
        use parquet::data_type::*;
        use parquet::file::metadata::KeyValue;
        use parquet::file::properties::{EnabledStatistics, WriterProperties};
        use parquet::file::writer::SerializedFileWriter;
        let properties = WriterProperties::builder()
            .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
            .set_dictionary_enabled(dictionary)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_data_page_size_limit(1000)
            .set_write_batch_size(16)
            .build();
        // Other writers declare logical types and field ids differently.
        let schema =
            Layout::default().schema(Default::default()).replace(" (UINT_8)", "").replace("(UINT_16)", "= 7");
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let mut file =
            SerializedFileWriter::new(File::create(path).unwrap(), schema, properties.into()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = |index: usize| {
            let mut writer = group.next_column().unwrap().unwrap();
            let ints = |get: fn(&Record) -> i32| records.iter().map(get).collect::<Vec<_>>();
            let some = |get: fn(&Record) -> Option<i32>| {
                let levels: Vec<i16> = records.iter().map(|s| get(s).is_some().into()).collect();
                (records.iter().filter_map(get).collect::<Vec<_>>(), Some(levels))
            };
            let (values, levels) = match index {
                0 => {
                    let boards = records.iter().map(|s| FixedLenByteArray::from(s.board.0.to_vec()));
                    let boards: Vec<_> = boards.collect();
                    writer.typed::<FixedLenByteArrayType>().write_batch(&boards, None, None).unwrap();
                    writer.close().unwrap();
                    return;
                }
                1 => {
                    let black: Vec<bool> = records.iter().map(|s| s.turn.is_black()).collect();
                    writer.typed::<BoolType>().write_batch(&black, None, None).unwrap();
                    writer.close().unwrap();
                    return;
                }
                2 => (ints(|s| s.ep.into()), None),
                4 => (ints(|s| s.fullmove.into()), None),
                6 => (ints(|s| s.game as i32), None),
                7 => (ints(|s| s.result.into()), None),
                8 => some(|s| s.score.map(i32::from)),
                9 => some(|s| s.depth.map(i32::from)),
                10 => (ints(|s| s.played.0.into()), None),
                _ => (ints(|_| 0), None),
            };
            writer.typed::<Int32Type>().write_batch(&values, levels.as_deref(), None).unwrap();
            writer.close().unwrap();
        };
        (0..Layout::default().columns().count()).for_each(&mut column);
        group.close().unwrap();
        let json = serde_json::to_string(&Metadata::new(vec![], vec![], 0)).unwrap();
        file.append_key_value_metadata(KeyValue::new(METADATA_KEY.to_string(), json));
        file.close().unwrap();
    }

    #[test]
    fn a_file_without_checksums_is_said_to_be_unchecked_and_its_records_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let mut written = records(3000);
        for dictionary in [false, true] {
            write_plainly(&path, &written, dictionary);
            let dataset = Dataset::open(&path).unwrap();
            assert!(!dataset.has_checksums());
            dataset.read_columns(0, Projection::GAME).unwrap();
            assert!(!crate::unchecked::take().contains(&path));
            assert!(dataset.read_all().unwrap() == written);
            assert!(crate::unchecked::take().contains(&path));
        }
        // White's king is gone.
        written[2500].board.0[10] ^= 1;
        write_plainly(&path, &written, false);
        let mut dataset = Dataset::open(&path).unwrap();
        let error = dataset.read_all().unwrap_err().to_string();
        assert!(
            error.ends_with("x.parquet: row group 0, row 2500: is damaged: not one king a side"),
            "{error}"
        );
        dataset.accept_illegal_records();
        assert!(dataset.read_all().unwrap() == written);
    }

    #[test]
    fn reading_does_not_depend_on_threads_or_reused_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let written = records(5 * ROWS_PER_PAGE + 777);
        let projection = Projection::TRAINING.and(Projection::GAME);
        let few = |s: &Record| Record { ep: 0, fullmove: 0, depth: None, played: PackedMove(0), ..*s };
        let some: Vec<Record> = written.iter().map(few).collect();
        for dictionary in [None, Some(false), Some(true)] {
            match dictionary {
                Some(dictionary) => write_plainly(&path, &written, dictionary),
                None => {
                    let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
                    writer.write(&written).unwrap();
                    writer.finish().unwrap();
                }
            }
            let dataset = Dataset::open(&path).unwrap();
            assert!(dataset.read_all().unwrap() == written);
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                // Memory with other content and length.
                let mut read = records(100_000 * (threads % 2));
                pool.install(|| dataset.read_into(0, Projection::ALL, &mut read)).unwrap();
                assert!(read == written, "{dictionary:?} {threads}");
                pool.install(|| dataset.read_into(0, projection, &mut read)).unwrap();
                assert!(read == some, "{dictionary:?} {threads}");
            }
        }
    }

    #[test]
    fn an_error_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        std::fs::write(&path, b"not parquet at all").unwrap();
        let error = Dataset::open(&path).err().unwrap();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("x.parquet"), "{error}");
    }
}
