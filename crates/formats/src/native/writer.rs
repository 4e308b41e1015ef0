//! Writer of the native dataset: Parquet, row groups of about a million rows.
//!
//! The bytes depend on the records and the metadata alone. zstd level 1 without statistics was the fastest to write and
//! read on real games, at about 10 bytes a position. Every page has a CRC-32, and so has the footer.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use rayon::prelude::*;

use crate::Record;
use crate::extra::ExtraRow;
use crate::extra_columns;
use crate::metadata::{METADATA_KEY, Metadata};
use crate::native::columns::Layout;
use crate::native::description;
use crate::native::encode::{self, Encoded, ROWS_PER_PAGE};
use crate::native::footer::Sealed;
use crate::native::parquet_file::{internal, parquet_error};
use crate::native::readable::ReadableColumns;
use crate::visits;
use patzer_io::Output;
use patzer_io::error::{Error, Result};

/// Pages of a row group; fixed, so that the bytes do not depend on how the records arrive.
const PAGES_PER_GROUP: usize = 64;

pub const ROWS_PER_GROUP: usize = PAGES_PER_GROUP * ROWS_PER_PAGE;

const PAGES_AT_ONCE: usize = 8;

/// Default level of zstd: the fastest to write, and as fast to read as any.
pub const LEVEL: i32 = 1;

pub struct Writer {
    path: PathBuf,
    file: SerializedFileWriter<Sealed>,
    metadata: Metadata,
    layout: Layout,
    readable: ReadableColumns,
    level: i32,
    /// Fewer than [`PAGES_AT_ONCE`] pages of records.
    pending: Vec<Record>,
    /// Values of the unknown columns of the records that are not encoded.
    extra: VecDeque<ExtraRow>,
    pages: Vec<Encoded>,
    pub(crate) pages_per_group: usize,
    rows: u64,
}

impl Writer {
    /// Creates a dataset, which appears under its name with [`Writer::finish`]. The metadata decides the columns:
    /// leaves if it is resolved, mean results if equal positions were merged.
    pub fn create(path: &Path, metadata: Metadata) -> Result<Writer> {
        Writer::with_columns(path, metadata, LEVEL, ReadableColumns::default())
    }

    /// Creates a dataset compressed with a level of zstd, 1 to 22, with columns for other programs.
    pub fn with_columns(
        path: &Path,
        metadata: Metadata,
        level: i32,
        readable: ReadableColumns,
    ) -> Result<Writer> {
        let layout = metadata.layout();
        let schema = parse_message_type(&layout.schema(readable)).map_err(internal)?;
        let extra = metadata.extra.iter().map(|extra| Arc::clone(&extra.field));
        let fields = schema.get_fields().iter().cloned().chain(extra).collect();
        let schema = Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(internal)?;
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(format!("patzer {}", metadata.version))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .build();
        let output = Sealed::new(Output::create(path)?);
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            .map_err(|e| parquet_error(path, e))?;
        Ok(Writer {
            path: path.to_path_buf(),
            file,
            metadata,
            layout,
            readable,
            level,
            pending: Vec::new(),
            extra: VecDeque::new(),
            pages: Vec::new(),
            pages_per_group: PAGES_PER_GROUP,
            rows: 0,
        })
    }

    /// Returns the metadata, which is written last. The fields that decide the columns must not change.
    pub fn metadata(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Writes records with the values of the unknown columns.
    pub fn write_with(&mut self, records: &[Record], extra: Vec<ExtraRow>) -> Result<()> {
        self.extra.extend(extra);
        self.write(records)
    }

    pub fn write(&mut self, mut records: &[Record]) -> Result<()> {
        const AT_ONCE: usize = PAGES_AT_ONCE * ROWS_PER_PAGE;
        if !self.pending.is_empty() {
            let room = AT_ONCE - self.pending.len();
            let (now, later) = records.split_at(room.min(records.len()));
            self.pending.extend_from_slice(now);
            records = later;
            if self.pending.len() < AT_ONCE {
                return Ok(());
            }
            let full = std::mem::take(&mut self.pending);
            self.encode(&full)?;
            self.pending = full;
            self.pending.clear();
        }
        let (whole, rest) = records.split_at(records.len() / AT_ONCE * AT_ONCE);
        self.encode(whole)?;
        self.pending.extend_from_slice(rest);
        Ok(())
    }

    pub fn finish(mut self) -> Result<u64> {
        let rest = std::mem::take(&mut self.pending);
        self.encode(&rest)?;
        if !self.pages.is_empty() {
            self.write_group(self.pages.len())?;
        }
        let json = serde_json::to_string(&self.metadata).map_err(internal)?;
        self.file.append_key_value_metadata(KeyValue::new(METADATA_KEY.to_string(), json));
        let with_visits = self.metadata.extra.iter().any(visits::is);
        let about = description::json(self.layout, self.readable, with_visits);
        self.file.append_key_value_metadata(KeyValue::new(description::KEY.to_string(), about));
        let path = self.path;
        self.file.inner_mut().hold();
        let sealed = self.file.into_inner().map_err(|e| parquet_error(&path, e))?;
        sealed.seal().map_err(|e| Error::io(&path, e))?.commit()?;
        Ok(self.rows)
    }

    fn encode(&mut self, records: &[Record]) -> Result<()> {
        // One row group at a time bounds the memory.
        for some in records.chunks(ROWS_PER_GROUP) {
            let mut pages = encode::pages(some, self.layout, self.readable, self.level)
                .map_err(|e| Error::io(&self.path, e))?;
            if !self.metadata.extra.is_empty() {
                self.add_extra(&mut pages).map_err(|e| Error::io(&self.path, e))?;
            }
            self.pages.extend(pages);
            while self.pages.len() >= self.pages_per_group {
                self.write_group(self.pages_per_group)?;
            }
        }
        Ok(())
    }

    /// Adds the unknown columns to the next pages.
    fn add_extra(&mut self, pages: &mut [Encoded]) -> std::io::Result<()> {
        for page in pages {
            let rows: Vec<ExtraRow> = self.extra.drain(..page.rows.min(self.extra.len())).collect();
            if rows.len() != page.rows {
                return Err(std::io::Error::other("rows without their unknown columns"));
            }
            for (nth, column) in self.metadata.extra.iter().enumerate() {
                for (values, bytes) in extra_columns::pages(column, nth, &rows) {
                    page.add_plain(&bytes, values, self.level)?;
                }
            }
        }
        Ok(())
    }

    fn write_group(&mut self, pages: usize) -> Result<()> {
        let path = &self.path;
        let pages: Vec<Encoded> = self.pages.drain(..pages).collect();
        let columns = self.file.schema_descr().columns().to_vec();
        let chunks = columns.into_par_iter().enumerate();
        let chunks: Vec<_> = chunks
            .map(|(index, column)| encode::chunk(&pages, index, column))
            .collect::<parquet::errors::Result<_>>()
            .map_err(|e| parquet_error(path, e))?;
        let mut group = self.file.next_row_group().map_err(|e| parquet_error(path, e))?;
        for (bytes, close) in chunks {
            group.append_column(&Bytes::from(bytes), close).map_err(|e| parquet_error(path, e))?;
        }
        group.close().map_err(|e| parquet_error(path, e))?;
        self.rows += pages.iter().map(|page| page.rows as u64).sum::<u64>();
        Ok(())
    }
}
