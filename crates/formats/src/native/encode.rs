//! Encodes records to compressed pages in parallel and joins pages to column chunks.

use std::io;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;

use crate::Record;
use crate::bytes::varint;
use crate::native::columns::{Column, Layout};
use crate::native::page::{Builder, encoding};
use crate::native::readable::ReadableColumns;

/// Rows of a page: few enough that the pages of all columns stay in a core's cache.
pub const ROWS_PER_PAGE: usize = 1 << 14;

/// Rows to encode at a time, so that they stay in the first-level cache for every column. A multiple of 8.
const STRIDE: usize = 256;

pub struct Encoded {
    pub rows: usize,
    columns: Vec<Packed>,
}

struct Packed {
    bytes: Bytes,
    /// CRC-32 of `bytes`.
    crc: u32,
    uncompressed: usize,
    encoding: Encoding,
    /// Rows, or of lists their entries, an empty list counted as one.
    values: usize,
}

pub struct Encoder {
    columns: Vec<(&'static Column, Builder)>,
    readable: ReadableColumns,
    page: Vec<u8>,
    compressed: Vec<u8>,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Encoder {
    pub fn new(layout: Layout, readable: ReadableColumns, level: i32) -> io::Result<Encoder> {
        let columns = layout.columns().map(|column| (column, Builder::default())).collect();
        let zstd = zstd::bulk::Compressor::new(level)?;
        Ok(Encoder { columns, readable, page: Vec::new(), compressed: Vec::new(), zstd })
    }

    pub fn encode(&mut self, records: &[Record]) -> io::Result<Encoded> {
        for few in records.chunks(STRIDE) {
            self.columns.iter_mut().for_each(|(column, builder)| (column.write)(builder, few));
        }
        let mut columns = Vec::with_capacity(self.columns.len());
        for nth in 0..self.columns.len() {
            let (column, builder) = &mut self.columns[nth];
            builder.finish(&mut self.page);
            let encoding = encoding(column.kind);
            columns.push(self.pack(encoding, records.len())?);
        }
        for column in self.readable.iter() {
            self.page.clear();
            for record in records {
                let start = self.page.len();
                self.page.extend([0; 4]);
                (column.text)(&mut self.page, record);
                let length = (self.page.len() - start - 4) as u32;
                self.page[start..start + 4].copy_from_slice(&length.to_le_bytes());
            }
            columns.push(self.pack(Encoding::PLAIN, records.len())?);
        }
        Ok(Encoded { rows: records.len(), columns })
    }

    /// Compresses the page.
    fn pack(&mut self, encoding: Encoding, values: usize) -> io::Result<Packed> {
        pack(&mut self.zstd, &self.page, &mut self.compressed, encoding, values)
    }
}

fn pack(
    zstd: &mut zstd::bulk::Compressor<'static>,
    page: &[u8],
    compressed: &mut Vec<u8>,
    encoding: Encoding,
    values: usize,
) -> io::Result<Packed> {
    compressed.clear();
    compressed.reserve(zstd::zstd_safe::compress_bound(page.len()));
    zstd.compress_to_buffer(page, compressed)?;
    let bytes = Bytes::copy_from_slice(compressed);
    let crc = crc32fast::hash(&bytes);
    Ok(Packed { bytes, crc, uncompressed: page.len(), encoding, values })
}

impl Encoded {
    /// Adds a column by its uncompressed page with this number of values.
    pub fn add_plain(&mut self, page: &[u8], values: usize, level: i32) -> io::Result<()> {
        let mut zstd = zstd::bulk::Compressor::new(level)?;
        self.columns.push(pack(&mut zstd, page, &mut Vec::new(), Encoding::PLAIN, values)?);
        Ok(())
    }

    /// The compressed bytes and the uncompressed size of each column.
    pub fn columns(&self) -> impl Iterator<Item = (&[u8], usize)> {
        self.columns.iter().map(|packed| (&packed.bytes[..], packed.uncompressed))
    }
}

/// Encodes pages of [`ROWS_PER_PAGE`] rows, perhaps fewer in the last, in parallel.
pub fn pages(
    records: &[Record],
    layout: Layout,
    readable: ReadableColumns,
    level: i32,
) -> io::Result<Vec<Encoded>> {
    records
        .par_chunks(ROWS_PER_PAGE)
        .map_init(
            || Encoder::new(layout, readable, level),
            |encoder, few| match encoder {
                Ok(encoder) => encoder.encode(few),
                Err(e) => Err(io::Error::other(e.to_string())),
            },
        )
        .collect()
}

pub fn chunk(pages: &[Encoded], index: usize, column: ColumnDescPtr) -> Result<(Vec<u8>, ColumnCloseResult)> {
    let size = pages.iter().map(|page| page.columns[index].bytes.len() + 64).sum();
    let mut bytes = Vec::with_capacity(size);
    let (mut rows, mut values, mut uncompressed, mut encoding) = (0, 0, 0, Encoding::PLAIN);
    for page in pages {
        let (packed, start) = (&page.columns[index], bytes.len());
        write_header(packed, &mut bytes);
        uncompressed += bytes.len() - start + packed.uncompressed;
        bytes.extend_from_slice(&packed.bytes);
        encoding = packed.encoding;
        rows += page.rows;
        values += packed.values;
    }
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encodings(vec![encoding, Encoding::RLE])
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(values as i64)
        .set_data_page_offset(0)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((bytes, close))
}

/// Appends the header of a data page with its checksum, which parquet's page writer (60.1) cannot write. The numbers
/// are fields of the structs `PageHeader` and `DataPageHeader`, in Thrift's compact protocol. Source:
/// apache/parquet-format, `parquet.thrift`.
fn write_header(page: &Packed, to: &mut Vec<u8>) {
    const INT: u8 = 0x15;
    const STRUCT: u8 = 0x1c;
    const END: u8 = 0;
    let int = |value: i32, to: &mut Vec<u8>| {
        to.push(INT);
        varint(u64::from((value << 1 ^ value >> 31) as u32), to);
    };
    for value in
        [PageType::DATA_PAGE as i32, page.uncompressed as i32, page.bytes.len() as i32, page.crc as i32]
    {
        int(value, to);
    }
    to.push(STRUCT);
    let levels = Encoding::RLE as i32;
    for value in [page.values as i32, page.encoding as i32, levels, levels] {
        int(value, to);
    }
    to.extend([END, END]);
}
