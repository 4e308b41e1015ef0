//! Writes the native dataset: Parquet, one row a position, one row group about a million rows.
//!
//! In: records in order. Out: a file whose bytes depend on the records and the metadata alone. Plain encoding, zstd
//! level 1 and no statistics: on real games that was the fastest to write and to read at about 10 bytes a position.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rayon::prelude::*;

use super::columns::Layout;
use super::encode::{self, Encoded, ROWS_PER_PAGE};
use super::metadata::Metadata;
use super::parquet::{METADATA_KEY, fault, ours};
use crate::Record;
use patzer_io::Output;
use patzer_io::error::{Error, Result};

/// Pages in a row group; fixed, so that the bytes of a file do not depend on how the records arrived.
const PAGES_PER_GROUP: usize = 64;

/// Rows in a row group.
pub const ROWS_PER_GROUP: usize = PAGES_PER_GROUP * ROWS_PER_PAGE;

/// Pages that are put together before they are encoded: enough for several threads to do it.
const PAGES_AT_ONCE: usize = 8;

/// The level of zstd if none is named: the fastest to write, and nothing is slower to read.
pub const LEVEL: i32 = 1;

/// Writes a dataset, row group by row group.
pub struct Writer {
    path: PathBuf,
    file: SerializedFileWriter<Output>,
    metadata: Metadata,
    layout: Layout,
    level: i32,
    /// Samples that wait for the rest of [`PAGES_AT_ONCE`].
    pending: Vec<Record>,
    /// Pages of a row group that is not full.
    pages: Vec<Encoded>,
    pub(super) pages_per_group: usize,
    rows: u64,
}

impl Writer {
    /// Starts a dataset; it appears under its name when [`Writer::finish`] succeeds. It has the columns of the
    /// leaves if the metadata says that it is resolved, and those of mean results if it says that rows stand for
    /// all positions equal to them.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create(path: &Path, metadata: Metadata) -> Result<Writer> {
        Writer::with_level(path, metadata, LEVEL)
    }

    /// As [`Writer::create`], compressed with this level of zstd, 1 to 22.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn with_level(path: &Path, metadata: Metadata, level: i32) -> Result<Writer> {
        let layout = metadata.layout();
        let schema = parse_message_type(&layout.schema()).map_err(ours)?;
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(format!("patzer {}", metadata.version))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .build();
        let output = Output::create(path)?;
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            .map_err(|e| fault(path, e))?;
        Ok(Writer {
            path: path.to_path_buf(),
            file,
            metadata,
            layout,
            level,
            pending: Vec::new(),
            pages: Vec::new(),
            pages_per_group: PAGES_PER_GROUP,
            rows: 0,
        })
    }

    /// What the file will say of itself; it is written last. What decides about columns must not change.
    pub fn metadata(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Adds records, in order.
    ///
    /// # Errors
    /// If the file cannot be written.
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

    /// Writes what is left and gives the file its name. Returns the number of rows.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<u64> {
        let rest = std::mem::take(&mut self.pending);
        self.encode(&rest)?;
        if !self.pages.is_empty() {
            self.write_group(self.pages.len())?;
        }
        let json = serde_json::to_string(&self.metadata).map_err(ours)?;
        self.file.append_key_value_metadata(KeyValue::new(METADATA_KEY.to_string(), json));
        let path = self.path;
        self.file.into_inner().map_err(|e| fault(&path, e))?.commit()?;
        Ok(self.rows)
    }

    fn encode(&mut self, records: &[Record]) -> Result<()> {
        // Not more at once than one row group, so that memory stays bounded however much is written at once.
        for some in records.chunks(ROWS_PER_GROUP) {
            let pages = encode::pages(some, self.layout, self.level).map_err(|e| Error::io(&self.path, e))?;
            self.pages.extend(pages);
            while self.pages.len() >= self.pages_per_group {
                self.write_group(self.pages_per_group)?;
            }
        }
        Ok(())
    }

    /// Writes the first so many pages as a row group.
    fn write_group(&mut self, pages: usize) -> Result<()> {
        let path = &self.path;
        let pages: Vec<Encoded> = self.pages.drain(..pages).collect();
        let columns = self.file.schema_descr().columns().to_vec();
        let chunks = columns.into_par_iter().enumerate();
        let chunks: Vec<_> = chunks
            .map(|(index, column)| encode::chunk(&pages, index, column))
            .collect::<parquet::errors::Result<_>>()
            .map_err(|e| fault(path, e))?;
        let mut group = self.file.next_row_group().map_err(|e| fault(path, e))?;
        for (bytes, close) in chunks {
            group.append_column(&Bytes::from(bytes), close).map_err(|e| fault(path, e))?;
        }
        group.close().map_err(|e| fault(path, e))?;
        self.rows += pages.iter().map(|page| page.rows() as u64).sum::<u64>();
        Ok(())
    }
}
