//! Opening of Parquet files, whatever they hold. What a footer claims is checked first: the parquet crate (60.1)
//! allocates what it declares and panics at offsets below 0.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{FileReader, Length, SerializedFileReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::SchemaDescriptor;

use crate::native::footer;
use crate::native::page_header::{self, Pages};
use crate::native::positioned::Positioned;
use crate::native::sound_pages::SoundPages;
use crate::spooled;
use patzer_io::ReadAt;
use patzer_io::error::{Error, Result};

/// Rows that repeat are packed to almost nothing. No column of positions has as many to a byte of the whole file, but a
/// hostile footer may claim any number.
const MOST_VALUES_PER_BYTE: u64 = 256;

/// A Parquet file with a sound footer; can be shared between threads.
pub struct ParquetFile {
    path: PathBuf,
    reader: SerializedFileReader<Positioned>,
    input: Positioned,
    sealed: bool,
}

impl ParquetFile {
    /// Fails where the footer is damaged: its checksum differs, or column chunks or numbers of rows contradict the
    /// file.
    pub fn open(path: &Path) -> Result<ParquetFile> {
        let input = open_file(path)?;
        let sealed = footer::check(&input).map_err(|reason| Error::data(path, reason))?;
        let damaged = |reason: String| Error::data(path, format!("its footer is damaged: {reason}"));
        let reader = SerializedFileReader::new(input.clone()).map_err(|e| damaged(e.to_string()))?;
        check_groups(reader.metadata(), input.len()).map_err(|reason| damaged(reason.to_string()))?;
        Ok(ParquetFile { path: path.to_path_buf(), reader, input, sealed })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    /// The columns, by place; of a nested column its leaves.
    pub fn schema(&self) -> &SchemaDescriptor {
        self.metadata().file_metadata().schema_descr()
    }

    pub fn rows(&self) -> u64 {
        (0..self.groups()).map(|group| self.group_rows(group) as u64).sum()
    }

    pub fn groups(&self) -> usize {
        self.metadata().num_row_groups()
    }

    pub fn group_rows(&self, group: usize) -> usize {
        self.metadata().row_group(group).num_rows() as usize
    }

    /// Names and places of the columns that are not nested.
    pub(crate) fn top_level(&self) -> Vec<(&str, usize)> {
        let columns = self.schema().columns().iter().enumerate();
        let flat =
            columns.filter(|(_, column)| column.path().parts().len() == 1 && column.max_rep_level() == 0);
        flat.map(|(place, column)| (column.name(), place)).collect()
    }

    /// Pages of the column in a place of the schema.
    pub(crate) fn pages(&self, group: usize, place: usize) -> ParquetResult<Box<dyn PageReader>> {
        let chunk = self.metadata().row_group(group).column(place);
        let column = self.schema().column(place).path().string();
        let pages = Arc::new(Pages { file: self.input.clone(), column });
        let pages = SerializedPageReader::new(pages, chunk, self.group_rows(group), None)?;
        Ok(Box::new(pages))
    }

    /// Values of the column in a place of the schema.
    pub fn column(&self, group: usize, place: usize) -> ParquetResult<ColumnReader> {
        let column = self.schema().column(place);
        let left = self.metadata().row_group(group).column(place).num_values() as u64;
        let pages = SoundPages::new(self.pages(group, place)?, &column, left);
        Ok(get_column_reader(column, Box::new(pages)))
    }

    /// Tests whether the footer has a checksum: no other program wrote the file.
    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// Tests whether the first page of every column chunk has a checksum.
    pub(crate) fn has_page_checksums(&self) -> bool {
        let mut chunks = self.metadata().row_groups().iter().flat_map(|group| group.columns());
        chunks.all(|chunk| {
            matches!(page_header::has_checksum(&self.input, chunk.byte_range().0), Ok(Some(true)))
        })
    }

    /// The error for a column that ends early or does not decode.
    pub(crate) fn damaged(&self, group: usize, error: &ParquetError) -> Error {
        Error::at(&self.path, format!("row group {group}"), damage(error))
    }
}

/// Opens a file that is not empty, or the copy of a stream.
fn open_file(path: &Path) -> Result<Positioned> {
    let fault = |e| Error::io(path, e);
    let copy = spooled::find(path).map_err(fault)?;
    let (copied, file) = (copy.is_some(), copy.map_or_else(|| File::open(path), Ok).map_err(fault)?);
    let about = file.metadata().map_err(fault)?;
    if about.is_dir() {
        return Err(Error::data(path, "is a folder, not a file"));
    }
    if about.len() == 0 {
        return Err(Error::data(path, "is empty"));
    }
    let file = if copied { ReadAt::nameless(file) } else { ReadAt::new(path, file).map_err(fault)? };
    Ok(Positioned::new(file, about.len()))
}

/// Checks the numbers of a footer that decide what is read.
fn check_groups(metadata: &ParquetMetaData, length: u64) -> std::result::Result<(), &'static str> {
    const ROWS: &str = "its numbers of rows contradict each other";
    let (mut rows, schema) = (0i64, metadata.file_metadata().schema_descr());
    for group in metadata.row_groups() {
        rows = rows.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0).ok_or(ROWS)?;
        if group.num_columns() != schema.num_columns() {
            return Err("a row group lacks columns");
        }
        for chunk in group.columns() {
            // Without values there are no pages, and no place that means anything.
            if chunk.num_values() != 0 {
                check_place(chunk, length)?;
            }
            if u64::try_from(chunk.num_values()).map_or(true, |values| values > MOST_VALUES_PER_BYTE * length)
            {
                return Err("it claims more values than a file of its size has");
            }
            if chunk.column_descr().max_rep_level() == 0 && chunk.num_values() != group.num_rows() {
                return Err(ROWS);
            }
        }
    }
    if rows == metadata.file_metadata().num_rows() { Ok(()) } else { Err(ROWS) }
}

/// Checks that a column chunk lies within the file.
fn check_place(chunk: &ColumnChunkMetaData, length: u64) -> std::result::Result<(), &'static str> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let end = start.checked_add(chunk.compressed_size());
    let inside = start >= 0 && end.is_some_and(|end| end >= start && end as u64 <= length);
    if !inside || chunk.data_page_offset() < start || chunk.file_path().is_some() {
        return Err("the pages of a column are not within the file");
    }
    Ok(())
}

/// The reason of an error for a part of a file that cannot be read.
pub(crate) fn damage(error: &ParquetError) -> String {
    match error {
        ParquetError::External(cause) => format!("is damaged: {cause}"),
        error => format!("is damaged: {error}"),
    }
}

pub(crate) fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(error.to_string())
}

pub(crate) fn parquet_error(path: &Path, error: ParquetError) -> Error {
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
    use parquet::basic::Compression;
    use parquet::data_type::Int32Type;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    /// A file with one column of the same number in every row.
    fn repeated(path: &Path, rows: usize) {
        write(path, rows, WriterProperties::default());
    }

    fn write(path: &Path, rows: usize, properties: WriterProperties) {
        let schema = Arc::new(parse_message_type("message a { required int32 a; }").unwrap());
        let file = File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&vec![7; rows], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    fn numbers(path: &Path) -> ParquetResult<Vec<i32>> {
        let ColumnReader::Int32ColumnReader(mut column) = ParquetFile::open(path).unwrap().column(0, 0)?
        else {
            panic!("a column of 32-bit integers")
        };
        let mut values = Vec::new();
        column.read_records(1000, None, None, &mut values)?;
        Ok(values)
    }

    #[test]
    fn pages_of_each_codec_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::BROTLI(Default::default()),
            Compression::LZ4,
            Compression::LZ4_RAW,
            Compression::ZSTD(Default::default()),
        ] {
            write(&path, 1000, WriterProperties::builder().set_compression(codec).build());
            assert_eq!(numbers(&path).unwrap(), vec![7; 1000], "{codec}");
        }
    }

    #[test]
    fn a_file_without_rows_is_sound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        repeated(&path, 0);
        assert_eq!(ParquetFile::open(&path).unwrap().rows(), 0);
    }

    #[test]
    fn a_dictionary_of_more_values_than_bytes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        repeated(&path, 1000);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(numbers(&path).unwrap(), vec![7; 1000]);
        // The header of the dictionary's page, with its number of values, which is 1: in zigzag 2.
        let count = [0x4c, 0x15, 2];
        let at = whole.windows(3).position(|bytes| bytes == count).unwrap() + 2;
        std::fs::write(&path, [&whole[..at], &[0x7e], &whole[at + 1..]].concat()).unwrap();
        let error = numbers(&path).unwrap_err().to_string();
        assert!(error.contains("a dictionary has more values than bytes"), "{error}");
    }

    #[test]
    fn a_file_without_its_end_is_said_to_break_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        repeated(&path, 1000);
        let whole = std::fs::read(&path).unwrap();
        for left in [4, 20, whole.len() - 1] {
            std::fs::write(&path, &whole[..left]).unwrap();
            let error = ParquetFile::open(&path).err().unwrap().to_string();
            assert!(error.contains("breaks off"), "{left}: {error}");
        }
        std::fs::write(&path, &whole[1..20]).unwrap();
        let error = ParquetFile::open(&path).err().unwrap().to_string();
        assert!(!error.contains("breaks off"), "{error}");
    }

    #[test]
    fn a_file_with_more_rows_than_its_size_can_hold_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        repeated(&path, 1000);
        assert_eq!(ParquetFile::open(&path).unwrap().rows(), 1000);
        repeated(&path, 2_000_000);
        let error = ParquetFile::open(&path).err().unwrap().to_string();
        assert!(error.contains("claims more values than a file of its size has"), "{error}");
    }
}
