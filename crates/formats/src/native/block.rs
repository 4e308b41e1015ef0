//! Blocks of records for spill files: the dataset's compressed pages without Parquet's file structure, and their
//! CRC-32.

use std::io;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result;

use crate::Record;
use crate::bytes::field;
use crate::native::columns::{EMPTY, Layout};
use crate::native::encode::Encoder;
use crate::native::page::{Cursor, encoding};
use crate::native::readable::ReadableColumns;
use crate::spillable::Spillable;

/// Every column; those without values take next to no space.
const LAYOUT: Layout = Layout { resolved: true, means: true, taught: true };

impl Spillable for Record {
    fn encode(records: &[Record]) -> io::Result<Vec<u8>> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let encoded = Encoder::new(LAYOUT, ReadableColumns::default(), crate::native::writer::LEVEL)?
            .encode(records)?;
        let mut bytes = (records.len() as u32).to_le_bytes().to_vec();
        for (packed, uncompressed) in encoded.columns() {
            bytes.extend((packed.len() as u32).to_le_bytes());
            bytes.extend((uncompressed as u32).to_le_bytes());
        }
        encoded.columns().for_each(|(packed, _)| bytes.extend_from_slice(packed));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    fn decode(bytes: &[u8], to: &mut Vec<Record>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, count) = (to.len(), LAYOUT.columns().count());
        let mut at = 4 + 8 * count;
        let (bytes, crc) = bytes.split_last_chunk().ok_or(io::ErrorKind::UnexpectedEof)?;
        if bytes.len() < at {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if crc32fast::hash(bytes) != u32::from_le_bytes(*crc) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a block is damaged (its checksum differs)",
            ));
        }
        let number = |at| u32::from_le_bytes(field(bytes, at));
        let rows = number(0);
        let mut zstd = zstd::bulk::Decompressor::new()?;
        let mut cursors = Vec::with_capacity(count);
        for (place, column) in LAYOUT.columns().enumerate() {
            let (packed, uncompressed) = (number(4 + 8 * place) as usize, number(8 + 8 * place) as usize);
            let packed = bytes.get(at..at + packed).ok_or(io::ErrorKind::UnexpectedEof)?;
            at += packed.len();
            let page = Page::DataPage {
                buf: Bytes::from(zstd.decompress(packed, uncompressed)?),
                num_values: rows,
                encoding: encoding(column.kind),
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            cursors.push((column, Cursor::new(Box::new(OnePage(Some(page))), column.optional)));
        }
        to.resize(start + rows as usize, EMPTY);
        for few in to[start..].chunks_mut(1 << 10) {
            let mut columns = cursors.iter_mut();
            columns.try_for_each(|(column, cursor)| (column.read)(cursor, few)).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

struct OnePage(Option<Page>);

impl PageReader for OnePage {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.take())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0 = None;
        Ok(())
    }
}

impl Iterator for OnePage {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.0.take().map(Ok)
    }
}
