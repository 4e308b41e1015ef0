//! The native dataset: Parquet, one row a position, one row group about a million rows.
//!
//! In: samples in order. Out: a file whose bytes depend on the samples and the metadata alone. Row groups are
//! the unit of parallel reading. Plain encoding, zstd level 1 and no statistics: on real games that was the
//! fastest to write and to read at about 10 bytes a position.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::chess::{PackedBoard, PackedMove};
use crate::error::{Error, Result};
use crate::io::Output;
use crate::positions::{Leaf, Sample};

use super::positioned::Positioned;

/// Rows in a row group; fixed, so that the bytes of a file do not depend on how the samples arrived.
pub const ROWS_PER_GROUP: usize = 1 << 20;

const METADATA_KEY: &str = "patzer";

const SCHEMA: &str = "message positions {
    REQUIRED FIXED_LEN_BYTE_ARRAY(24) board;
    REQUIRED BOOLEAN stm;
    REQUIRED INT32 ep (UINT_8);
    REQUIRED INT32 halfmove (UINT_8);
    REQUIRED INT32 fullmove (UINT_16);
    REQUIRED INT32 ply (UINT_16);
    REQUIRED INT32 game (UINT_32);
    REQUIRED INT32 result (INT_8);
    OPTIONAL INT32 score (INT_16);
    OPTIONAL INT32 depth (UINT_8);
    REQUIRED INT32 move (UINT_16);
    REQUIRED INT32 flags (UINT_16);
    REQUIRED INT32 to_capture (UINT_8);
    REQUIRED INT32 to_check (UINT_8);
    REQUIRED INT32 to_end (UINT_8);";

const LEAF_COLUMNS: &str = "
    OPTIONAL FIXED_LEN_BYTE_ARRAY(24) leaf;
    OPTIONAL BOOLEAN leaf_stm;
    OPTIONAL INT32 leaf_score (INT_16);";

/// What a dataset says of itself, stored in the file's metadata as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    /// The patzer that wrote the file.
    pub version: String,
    /// The game files that the positions come from.
    pub sources: Vec<Source>,
    /// Filters already applied, as one preset or registry row each.
    pub filters: Vec<String>,
    /// Seed of anything that was random.
    pub seed: u64,
    /// How the leaves were found (`qsearch`, `depth 4`, …); `None` if the positions are not resolved.
    pub resolved: Option<String>,
}

/// One file of games that went into a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name as given, without folders.
    pub name: String,
    /// SHA-256 of its bytes as they lie on disk, in hexadecimal.
    pub sha256: String,
}

impl Metadata {
    /// Metadata of a dataset that this patzer makes.
    pub fn new(sources: Vec<Source>, filters: Vec<String>, seed: u64) -> Metadata {
        Metadata { version: env!("CARGO_PKG_VERSION").to_string(), sources, filters, seed, resolved: None }
    }
}

/// Writes a dataset, row group by row group.
pub struct Writer {
    path: PathBuf,
    file: SerializedFileWriter<Output>,
    metadata: Metadata,
    pending: Vec<Sample>,
    rows: u64,
    rows_per_group: usize,
}

impl Writer {
    /// Starts a dataset; it appears under its name when [`Writer::finish`] succeeds. It has the columns of the
    /// leaves if the metadata says that it is resolved.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path, metadata: Metadata) -> Result<Writer> {
        let leaf = if metadata.resolved.is_some() { LEAF_COLUMNS } else { "" };
        let schema = parse_message_type(&format!("{SCHEMA}{leaf}\n}}")).map_err(ours)?;
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(format!("patzer {}", metadata.version))
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(ours)?))
            .set_encoding(Encoding::PLAIN)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .build();
        let output = Output::create(path)?;
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            .map_err(|e| fault(path, e))?;
        Ok(Writer {
            path: path.to_path_buf(),
            file,
            metadata,
            pending: Vec::new(),
            rows: 0,
            rows_per_group: ROWS_PER_GROUP,
        })
    }

    /// What the file will say of itself; it is written last.
    pub fn metadata(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Adds samples, in order.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, mut samples: &[Sample]) -> Result<()> {
        while !samples.is_empty() {
            let room = self.rows_per_group - self.pending.len();
            let (now, later) = samples.split_at(room.min(samples.len()));
            self.pending.extend_from_slice(now);
            samples = later;
            if self.pending.len() == self.rows_per_group {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and gives the file its name. Returns the number of rows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<u64> {
        if !self.pending.is_empty() {
            self.flush()?;
        }
        let json = serde_json::to_string(&self.metadata).map_err(ours)?;
        self.file.append_key_value_metadata(KeyValue::new(METADATA_KEY.to_string(), json));
        let path = self.path;
        self.file.into_inner().map_err(|e| fault(&path, e))?.commit()?;
        Ok(self.rows)
    }

    fn flush(&mut self) -> Result<()> {
        let resolved = self.metadata.resolved.is_some();
        let path = &self.path;
        let mut group = self.file.next_row_group().map_err(|e| fault(path, e))?;
        write_columns(&mut group, &self.pending, resolved).map_err(|e| fault(path, e))?;
        group.close().map_err(|e| fault(path, e))?;
        self.rows += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

type Group<'a> = SerializedRowGroupWriter<'a, Output>;
type Parquet<T> = parquet::errors::Result<T>;

/// Columns in the order of the schema.
fn write_columns(group: &mut Group<'_>, samples: &[Sample], resolved: bool) -> Parquet<()> {
    boards(group, samples.iter().map(|s| Some(&s.board)), false)?;
    required::<BoolType>(group, samples.iter().map(|s| s.turn.is_black()))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.ep)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.halfmove)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.fullmove)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.ply)))?;
    required::<Int32Type>(group, samples.iter().map(|s| s.game as i32))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.result)))?;
    optional::<Int32Type>(group, samples.iter().map(|s| s.score.map(i32::from)))?;
    optional::<Int32Type>(group, samples.iter().map(|s| s.depth.map(i32::from)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.played.0)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.flags)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_capture)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_check)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_end)))?;
    if resolved {
        boards(group, samples.iter().map(|s| s.leaf.as_ref().map(|l| &l.board)), true)?;
        optional::<BoolType>(group, samples.iter().map(|s| s.leaf.map(|l| l.turn.is_black())))?;
        optional::<Int32Type>(group, samples.iter().map(|s| s.leaf.map(|l| i32::from(l.score))))?;
    }
    Ok(())
}

fn required<T: DataType>(group: &mut Group<'_>, values: impl Iterator<Item = T::T>) -> Parquet<()> {
    column::<T>(group, &values.collect::<Vec<_>>(), None)
}

fn optional<T: DataType>(group: &mut Group<'_>, values: impl Iterator<Item = Option<T::T>>) -> Parquet<()> {
    let mut present = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| {
            value.map_or(0, |v| {
                present.push(v);
                1
            })
        })
        .collect();
    column::<T>(group, &present, Some(&levels))
}

/// All boards lie in one allocation, of which each value is a slice.
fn boards<'a>(
    group: &mut Group<'_>,
    values: impl Iterator<Item = Option<&'a PackedBoard>>,
    nullable: bool,
) -> Parquet<()> {
    let mut all = Vec::new();
    let levels: Vec<i16> = values
        .map(|board| {
            board.map_or(0, |b| {
                all.extend_from_slice(&b.0);
                1
            })
        })
        .collect();
    let all = Bytes::from(all);
    let slices: Vec<FixedLenByteArray> =
        (0..all.len() / 24).map(|i| ByteArray::from(all.slice(24 * i..24 * i + 24)).into()).collect();
    column::<FixedLenByteArrayType>(group, &slices, nullable.then_some(&levels[..]))
}

fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) -> Parquet<()> {
    let mut writer =
        group.next_column()?.ok_or_else(|| parquet::errors::ParquetError::General("column".into()))?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}

/// A dataset opened for reading; cheap to share between threads.
pub struct Dataset {
    path: PathBuf,
    reader: SerializedFileReader<Positioned>,
    metadata: Metadata,
}

impl Dataset {
    /// Opens a dataset and checks that it is one.
    ///
    /// # Errors
    /// If the file does not exist, is not Parquet, or is not a patzer dataset.
    pub fn open(path: &Path) -> Result<Dataset> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let length = file.metadata().map_err(|e| Error::io(path, e))?.len();
        if length == 0 {
            return Err(Error::data(path, "is empty"));
        }
        let file = Positioned::new(file).map_err(|e| Error::io(path, e))?;
        let reader = SerializedFileReader::new(file)
            .map_err(|_| Error::data(path, "is not a Parquet file; make a dataset with `patzer extract`"))?;
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let json =
            pairs.into_iter().flatten().find(|pair| pair.key == METADATA_KEY).and_then(|p| p.value.as_ref());
        let Some(json) = json else {
            return Err(Error::data(
                path,
                "is Parquet, but not a patzer dataset (its metadata lacks the key `patzer`)",
            ));
        };
        let metadata: Metadata = serde_json::from_str(json)
            .map_err(|e| Error::data(path, format!("its `patzer` metadata does not parse: {e}")))?;
        let dataset = Dataset { path: path.to_path_buf(), reader, metadata };
        dataset.check_schema()?;
        Ok(dataset)
    }

    fn check_schema(&self) -> Result<()> {
        let leaf = if self.metadata.resolved.is_some() { LEAF_COLUMNS } else { "" };
        let expected = parse_message_type(&format!("{SCHEMA}{leaf}\n}}")).map_err(ours)?;
        let actual = self.reader.metadata().file_metadata().schema();
        if actual.get_fields() != expected.get_fields() {
            return Err(Error::data(
                &self.path,
                "its columns are not those of a patzer dataset of this version",
            ));
        }
        Ok(())
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says of itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How many positions it holds.
    pub fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows() as u64
    }

    /// How many row groups it has.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// Reads one row group.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read_group(&self, index: usize) -> Result<Vec<Sample>> {
        let resolved = self.metadata.resolved.is_some();
        let damaged = |e| Error::at(&self.path, format!("row group {index}"), format!("is damaged: {e}"));
        let group = self.reader.get_row_group(index).map_err(damaged)?;
        read_columns(group.as_ref(), resolved).map_err(damaged)
    }

    /// Reads everything, row groups in parallel, samples in the order of the file.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read_all(&self) -> Result<Vec<Sample>> {
        use rayon::prelude::*;
        let groups: Vec<Vec<Sample>> =
            (0..self.groups()).into_par_iter().map(|i| self.read_group(i)).collect::<Result<_>>()?;
        Ok(groups.concat())
    }
}

fn read_columns(group: &dyn RowGroupReader, resolved: bool) -> Parquet<Vec<Sample>> {
    let rows = group.metadata().num_rows() as usize;
    let mut columns = Columns { group, rows, next: 0 };
    let board = columns.boards()?;
    let turn = columns.required::<BoolType>()?;
    let mut samples: Vec<Sample> = board
        .iter()
        .zip(turn)
        .map(|(board, black)| Sample { board: board_of(board), turn: Color::from_black(black), ..EMPTY })
        .collect();
    columns.fill(&mut samples, |s, v| s.ep = v as u8)?;
    columns.fill(&mut samples, |s, v| s.halfmove = v as u8)?;
    columns.fill(&mut samples, |s, v| s.fullmove = v as u16)?;
    columns.fill(&mut samples, |s, v| s.ply = v as u16)?;
    columns.fill(&mut samples, |s, v| s.game = v as u32)?;
    columns.fill(&mut samples, |s, v| s.result = v as i8)?;
    columns.fill_some::<Int32Type>(&mut samples, |s, v| s.score = Some(v as i16))?;
    columns.fill_some::<Int32Type>(&mut samples, |s, v| s.depth = Some(v as u8))?;
    columns.fill(&mut samples, |s, v| s.played = PackedMove(v as u16))?;
    columns.fill(&mut samples, |s, v| s.flags = v as u16)?;
    columns.fill(&mut samples, |s, v| s.to_capture = v as u8)?;
    columns.fill(&mut samples, |s, v| s.to_check = v as u8)?;
    columns.fill(&mut samples, |s, v| s.to_end = v as u8)?;
    if resolved {
        columns.fill_some::<FixedLenByteArrayType>(&mut samples, |s, v| {
            s.leaf = Some(Leaf { board: board_of(&v), turn: Color::White, score: 0 });
        })?;
        columns.fill_some::<BoolType>(&mut samples, |s, v| {
            if let Some(leaf) = &mut s.leaf {
                leaf.turn = Color::from_black(v);
            }
        })?;
        columns.fill_some::<Int32Type>(&mut samples, |s, v| {
            if let Some(leaf) = &mut s.leaf {
                leaf.score = v as i16;
            }
        })?;
    }
    Ok(samples)
}

const EMPTY: Sample = Sample {
    board: PackedBoard([0; 24]),
    turn: Color::White,
    ep: 0,
    halfmove: 0,
    fullmove: 0,
    ply: 0,
    game: 0,
    result: 0,
    score: None,
    depth: None,
    played: PackedMove::NONE,
    flags: 0,
    to_capture: 0,
    to_check: 0,
    to_end: 0,
    leaf: None,
};

fn board_of(bytes: &FixedLenByteArray) -> PackedBoard {
    let mut board = PackedBoard::default();
    // The schema check has established the length.
    board.0.copy_from_slice(bytes.data());
    board
}

/// The columns of one row group, taken one after another.
struct Columns<'a> {
    group: &'a dyn RowGroupReader,
    rows: usize,
    next: usize,
}

impl Columns<'_> {
    fn values<T: DataType>(&mut self) -> Parquet<(Vec<T::T>, Vec<i16>)> {
        let reader = self.group.get_column_reader(self.next)?;
        self.next += 1;
        let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
        let (mut values, mut levels) = (Vec::with_capacity(self.rows), Vec::new());
        let mut read = 0;
        while read < self.rows {
            let (records, _, _) =
                reader.read_records(self.rows - read, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Err(parquet::errors::ParquetError::EOF(format!("column ends after {read} rows")));
            }
            read += records;
        }
        Ok((values, levels))
    }

    fn required<T: DataType>(&mut self) -> Parquet<Vec<T::T>> {
        Ok(self.values::<T>()?.0)
    }

    fn boards(&mut self) -> Parquet<Vec<FixedLenByteArray>> {
        self.required::<FixedLenByteArrayType>()
    }

    fn fill(&mut self, samples: &mut [Sample], set: impl Fn(&mut Sample, i32)) -> Parquet<()> {
        let values = self.required::<Int32Type>()?;
        samples.iter_mut().zip(values).for_each(|(sample, value)| set(sample, value));
        Ok(())
    }

    fn fill_some<T: DataType>(
        &mut self,
        samples: &mut [Sample],
        set: impl Fn(&mut Sample, T::T),
    ) -> Parquet<()> {
        let (values, levels) = self.values::<T>()?;
        let present = samples.iter_mut().zip(levels).filter(|(_, level)| *level == 1);
        present.zip(values).for_each(|((sample, _), value)| set(sample, value));
        Ok(())
    }
}

fn ours(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

fn fault(path: &Path, error: parquet::errors::ParquetError) -> Error {
    match error {
        parquet::errors::ParquetError::External(e) => match e.downcast::<std::io::Error>() {
            Ok(e) => Error::io(path, *e),
            Err(e) => Error::data(path, e.to_string()),
        },
        e => Error::data(path, e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(n: usize) -> Vec<Sample> {
        let start = PackedBoard::pack(&shakmaty::Chess::default());
        (0..n)
            .map(|i| Sample {
                board: start,
                turn: Color::from_black(i % 2 == 1),
                ep: 255,
                fullmove: i as u16,
                game: (i / 10) as u32,
                result: (i % 3) as i8 - 1,
                score: (i % 4 != 0).then_some(-(i as i16 % 500)),
                depth: (i % 5 == 0).then_some(12),
                played: PackedMove(i as u16),
                leaf: (i % 7 != 0).then_some(Leaf { board: start, turn: Color::Black, score: -31_999 }),
                ..EMPTY
            })
            .collect()
    }

    #[test]
    fn samples_survive_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        for resolved in [None, Some("qsearch".to_string())] {
            let mut written = samples(1234);
            let metadata =
                Metadata { resolved: resolved.clone(), ..Metadata::new(vec![], vec!["quiet".into()], 9) };
            if resolved.is_none() {
                written.iter_mut().for_each(|s| s.leaf = None);
            }
            let mut writer = Writer::create(&path, metadata.clone()).unwrap();
            writer.write(&written[..100]).unwrap();
            writer.write(&written[100..]).unwrap();
            assert_eq!(writer.finish().unwrap(), 1234);
            let dataset = Dataset::open(&path).unwrap();
            assert_eq!(dataset.metadata(), &metadata);
            assert_eq!(dataset.rows(), 1234);
            assert_eq!(dataset.read_all().unwrap(), written);
        }
    }

    #[test]
    fn row_groups_read_at_the_same_time_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let mut written = samples(20_000);
        written.iter_mut().for_each(|s| s.leaf = None);
        let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
        writer.rows_per_group = 100;
        writer.write(&written).unwrap();
        writer.finish().unwrap();
        let dataset = Dataset::open(&path).unwrap();
        assert_eq!(dataset.groups(), 200);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        assert!(pool.install(|| dataset.read_all()).unwrap() == written);
    }

    #[test]
    fn a_file_of_another_kind_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        std::fs::write(&path, b"not parquet at all").unwrap();
        let error = Dataset::open(&path).err().unwrap();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("x.parquet"), "{error}");
    }
}
