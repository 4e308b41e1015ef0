//! The native dataset: Parquet, one row a position, one row group about a million rows.
//!
//! In: samples in order. Out: a file whose bytes depend on the samples and the metadata alone. Row groups are
//! the unit of parallel reading. Plain encoding, zstd level 1 and no statistics: on real games that was the
//! fastest to write and to read at about 10 bytes a position.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::columns;
use super::metadata::Metadata;
use super::positioned::Positioned;
use crate::error::{Error, Result};
use crate::io::Output;
use crate::positions::Sample;

/// Rows in a row group; fixed, so that the bytes of a file do not depend on how the samples arrived.
pub const ROWS_PER_GROUP: usize = 1 << 20;

const METADATA_KEY: &str = "patzer";

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
        let schema = parse_message_type(&columns::schema(metadata.resolved.is_some())).map_err(ours)?;
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
        columns::write(&mut group, &self.pending, resolved).map_err(|e| fault(path, e))?;
        group.close().map_err(|e| fault(path, e))?;
        self.rows += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
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
        let about = file.metadata().map_err(|e| Error::io(path, e))?;
        if about.is_dir() {
            return Err(Error::data(path, "is a folder, not a file"));
        }
        if about.len() == 0 {
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
        let schema = columns::schema(self.metadata.resolved.is_some());
        let expected = parse_message_type(&schema).map_err(ours)?;
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

    /// How many positions a row group holds.
    pub fn group_rows(&self, index: usize) -> u64 {
        self.reader.metadata().row_group(index).num_rows().max(0) as u64
    }

    /// The byte of the file at which a row group starts.
    pub fn group_offset(&self, index: usize) -> u64 {
        let columns = self.reader.metadata().row_group(index).columns();
        columns.iter().map(|column| column.byte_range().0).min().unwrap_or(0)
    }

    /// Reads one row group.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn read_group(&self, index: usize) -> Result<Vec<Sample>> {
        let resolved = self.metadata.resolved.is_some();
        let damaged = |e| Error::at(&self.path, format!("row group {index}"), format!("is damaged: {e}"));
        let group = self.reader.get_row_group(index).map_err(damaged)?;
        columns::read(group.as_ref(), resolved).map_err(damaged)
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

fn ours(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

fn fault(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(e) => match e.downcast::<std::io::Error>() {
            Ok(e) => Error::io(path, *e),
            Err(e) => Error::data(path, e.to_string()),
        },
        e => Error::data(path, e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{PackedBoard, PackedMove};
    use crate::positions::Leaf;
    use crate::positions::format::columns::EMPTY;
    use shakmaty::Color;

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
