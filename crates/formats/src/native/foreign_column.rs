//! Columns as other programs write them: other integer types, nullable columns, boards as byte strings, dictionaries
//! and other encodings.
//!
//! A [`ForeignColumn`] gives a column's values page by page, and is a reader of pages itself: it converts each to the
//! form of the dataset's own pages and checks every value against the range of its column.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use crate::bytes::varint;
use crate::native::columns::Column;
use crate::native::kind::ColumnType;
use crate::native::values::{self, Stored, Values};

/// A value that a column of a dataset cannot hold.
#[derive(Debug)]
pub struct BadValue {
    /// Index in the row group.
    pub row: u64,
    pub reason: String,
}

impl std::fmt::Display for BadValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for BadValue {}

/// The rows of a page: a bit for each whether it has a value, and the values.
pub struct Decoded {
    pub present: Vec<u8>,
    pub values: Values,
}

pub struct ForeignColumn {
    column: &'static Column,
    pages: Box<dyn PageReader>,
    stored: Stored,
    nullable: bool,
    dictionary: Option<Values>,
    row: u64,
    /// Rows of the row group that no page has had.
    left: usize,
}

impl ForeignColumn {
    pub fn new(
        column: &'static Column,
        pages: Box<dyn PageReader>,
        stored: Stored,
        nullable: bool,
        rows: usize,
    ) -> ForeignColumn {
        ForeignColumn { column, pages, stored, nullable, dictionary: None, row: 0, left: rows }
    }

    /// Decodes the next page; `None` after the last.
    fn decode(&mut self) -> Result<Option<Decoded>> {
        decode_page(&mut *self.pages, self.stored, self.nullable, &mut self.dictionary, self.left)
    }

    fn convert(&self, decoded: Decoded) -> Result<Page> {
        let Decoded { mut present, values } = decoded;
        let bad = |nth: usize, reason: String| {
            let row = present.iter().enumerate().filter(|(_, there)| **there == 1).nth(nth);
            let row = self.row + row.map_or(0, |(row, _)| row as u64);
            ParquetError::External(Box::new(BadValue {
                row,
                reason: format!("{} {reason}", self.column.name),
            }))
        };
        let mut body = Vec::with_capacity(4 * values.len());
        let mut empty = Vec::new();
        match (self.column.kind, &values) {
            (ColumnType::Board, Values::Bytes(boards)) => {
                for (nth, board) in boards.iter().enumerate() {
                    if board.len() != 24 {
                        return Err(bad(nth, format!("has {} bytes, not 24", board.len())));
                    }
                    body.extend_from_slice(board);
                }
            }
            (ColumnType::Bool | ColumnType::Int(_), Values::Numbers(numbers)) => {
                let (least, most) = self.column.kind.range();
                for (nth, &number) in numbers.iter().enumerate() {
                    if number.is_nan() && self.column.optional {
                        // A missing number among those that pandas keeps as floating-point numbers.
                        empty.push(nth);
                        continue;
                    }
                    if !(least as f64 <= number && number <= most as f64) || number.fract() != 0.0 {
                        return Err(bad(
                            nth,
                            format!("is {number}, not a whole number from {least} to {most}"),
                        ));
                    }
                    let filled = nth - empty.len();
                    if self.column.kind == ColumnType::Bool {
                        if filled.is_multiple_of(8) {
                            body.push(0);
                        }
                        body[filled / 8] |= u8::from(number != 0.0) << (filled % 8);
                    } else {
                        body.extend_from_slice(&(number as i64 as i32).to_le_bytes());
                    }
                }
            }
            (ColumnType::Board, _) => return Err(bad(0, "holds numbers, not boards".into())),
            (_, _) => return Err(bad(0, "holds text, not numbers".into())),
        }
        let mut empty = empty.into_iter().peekable();
        for (nth, there) in present.iter_mut().filter(|there| **there == 1).enumerate() {
            *there = u8::from(empty.next_if_eq(&nth).is_none());
        }
        let mut page = Vec::with_capacity(body.len() + present.len() / 8 + 16);
        if self.column.optional {
            let bits: Vec<u8> = present.chunks(8).map(pack).collect();
            page.extend_from_slice(&[0; 4]);
            varint((bits.len() << 1 | 1) as u64, &mut page);
            page.extend_from_slice(&bits);
            let length = (page.len() - 4) as u32;
            page[..4].copy_from_slice(&length.to_le_bytes());
        } else if let Some(row) = present.iter().position(|there| *there == 0) {
            let (row, reason) = (self.row + row as u64, format!("{} has no value", self.column.name));
            return Err(ParquetError::External(Box::new(BadValue { row, reason })));
        }
        page.extend_from_slice(&body);
        Ok(Page::DataPage {
            buf: page.into(),
            num_values: present.len() as u32,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })
    }
}

fn pack(eight: &[u8]) -> u8 {
    eight.iter().enumerate().fold(0, |bits, (index, there)| bits | there << index)
}

/// Decodes the next page of a column; `None` after the last.
pub fn decode_page(
    pages: &mut dyn PageReader,
    stored: Stored,
    nullable: bool,
    dictionary: &mut Option<Values>,
    most: usize,
) -> Result<Option<Decoded>> {
    let (buf, rows, encoding, levels) = loop {
        match pages.get_next_page()? {
            None => return Ok(None),
            Some(Page::DictionaryPage { buf, num_values, .. }) => {
                *dictionary = Some(stored.plain(&buf, num_values as usize).ok_or_else(too_short)?);
            }
            Some(Page::DataPage { buf, num_values, encoding, def_level_encoding, .. }) => {
                if nullable && def_level_encoding != Encoding::RLE {
                    return Err(ParquetError::NYI("definition levels of an old kind".into()));
                }
                let length = match nullable {
                    true => u32::from_le_bytes(*buf.first_chunk().ok_or_else(too_short)?) as usize,
                    false => 0,
                };
                let start = if nullable { 4 } else { 0 };
                break (buf, num_values as usize, encoding, start..start + length);
            }
            Some(Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            }) => {
                let start = rep_levels_byte_len as usize;
                break (buf, num_values as usize, encoding, start..start + def_levels_byte_len as usize);
            }
        }
    };
    if rows > most {
        return Err(ParquetError::General("a page has more rows than its row group".into()));
    }
    let runs = buf.get(levels.clone()).ok_or_else(too_short)?;
    let mut present = Vec::new();
    match nullable {
        true => values::levels(runs, rows, &mut present).ok_or_else(too_short)?,
        false => present.resize(rows, 1),
    }
    let count = present.iter().filter(|there| **there == 1).count();
    let body: Bytes = buf.slice(levels.end..);
    let values = stored.decode(&body, count, encoding, dictionary.as_ref());
    let values = values.map_err(|e| ParquetError::NYI(format!("a page that is encoded as {e}")))?;
    Ok(Some(Decoded { present, values: values.ok_or_else(too_short)? }))
}

fn too_short() -> ParquetError {
    ParquetError::EOF("a page is shorter than its values".into())
}

impl PageReader for ForeignColumn {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(decoded) = self.decode()? else { return Ok(None) };
        let rows = decoded.present.len();
        let page = self.convert(decoded)?;
        self.row += rows as u64;
        self.left -= rows;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        let page = self.pages.peek_next_page()?;
        let rows = page.and_then(|page| page.num_levels.or(page.num_rows)).unwrap_or(0);
        self.row += rows as u64;
        self.left = self.left.saturating_sub(rows);
        self.pages.skip_next_page()
    }
}

impl Iterator for ForeignColumn {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}
