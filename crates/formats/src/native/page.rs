//! Writes and reads Parquet data pages (version 1) of fixed-size values directly.
//!
//! Byte strings and booleans are encoded plainly, integers with BYTE_STREAM_SPLIT, which leaves zstd long runs of
//! zeros: on real games an eighth less time and size. Plain pages are read too.
//!
//! Own pages, because parquet's typed column writers (60.1, same encodings, columns in parallel) take 1.14 times as
//! long for `extract`, 1.39 for `data convert` from Parquet to Parquet and 1.21 for `data shuffle` (medians of 7 runs,
//! 2.1 million positions, 2 cores). The tests compare with the typed writers. Pages of other programs come through
//! [`crate::native::foreign_column`]. Source: apache/parquet-format, `Encodings.md`.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};

use crate::Record;
use crate::bytes::varint;
use crate::native::kind::ColumnType;
use crate::native::values::levels;

pub fn encoding(kind: ColumnType) -> Encoding {
    if matches!(kind, ColumnType::Int(_)) { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN }
}

#[derive(Debug, Default)]
pub struct Builder {
    values: Vec<u8>,
    numbers: Vec<i32>,
    /// Presence bits of the rows; empty if the column is required.
    present: Vec<u8>,
    rows: usize,
    bits: usize,
}

impl Builder {
    pub fn bytes(&mut self, records: &[Record], get: impl Fn(&Record) -> &[u8; 24]) {
        records.iter().for_each(|s| self.values.extend_from_slice(get(s)));
        self.rows += records.len();
    }

    pub fn ints(&mut self, records: &[Record], get: impl Fn(&Record) -> i32) {
        self.numbers.extend(records.iter().map(get));
        self.rows += records.len();
    }

    /// The number of records must be a multiple of 8 unless nothing follows, as for every optional column.
    pub fn bools(&mut self, records: &[Record], get: impl Fn(&Record) -> bool) {
        self.values.extend(records.chunks(8).map(|eight| packed(eight, &get)));
        self.rows += records.len();
    }

    pub fn some_bytes(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<&[u8; 24]>) {
        self.levels(records, |s| get(s).is_some());
        records.iter().filter_map(get).for_each(|value| self.values.extend_from_slice(value));
    }

    pub fn some_ints(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<i32>) {
        self.levels(records, |s| get(s).is_some());
        self.numbers.extend(records.iter().filter_map(get));
    }

    pub fn some_bools(&mut self, records: &[Record], get: impl Fn(&Record) -> Option<bool>) {
        self.levels(records, |s| get(s).is_some());
        for value in records.iter().filter_map(get) {
            if self.bits.is_multiple_of(8) {
                self.values.push(0);
            }
            if let Some(last) = self.values.last_mut() {
                *last |= u8::from(value) << (self.bits % 8);
            }
            self.bits += 1;
        }
    }

    fn levels(&mut self, records: &[Record], get: impl Fn(&Record) -> bool) {
        self.present.extend(records.chunks(8).map(|eight| packed(eight, &get)));
        self.rows += records.len();
    }

    pub fn finish(&mut self, page: &mut Vec<u8>) {
        page.clear();
        if !self.present.is_empty() {
            page.extend_from_slice(&[0; 4]);
            let all = |byte: u8| {
                let (whole, last) = self.present.split_at(self.rows / 8);
                let mask = ((1u16 << (self.rows % 8)) - 1) as u8;
                whole.iter().all(|b| *b == byte) && last.iter().all(|b| *b == byte & mask)
            };
            match (all(0xff), all(0)) {
                (false, false) => {
                    varint((self.present.len() << 1 | 1) as u64, page);
                    page.extend_from_slice(&self.present);
                }
                (present, _) => {
                    varint((self.rows << 1) as u64, page);
                    page.push(u8::from(present));
                }
            }
            let length = (page.len() - 4) as u32;
            page[..4].copy_from_slice(&length.to_le_bytes());
        }
        page.extend_from_slice(&self.values);
        for shift in [0, 8, 16, 24] {
            page.extend(self.numbers.iter().map(|number| (number >> shift) as u8));
        }
        self.values.clear();
        self.numbers.clear();
        self.present.clear();
        (self.rows, self.bits) = (0, 0);
    }
}

fn packed(eight: &[Record], get: impl Fn(&Record) -> bool) -> u8 {
    eight.iter().enumerate().fold(0, |bits, (index, record)| bits | u8::from(get(record)) << index)
}

pub struct Cursor {
    pages: Box<dyn PageReader>,
    optional: bool,
    page: Bytes,
    at: usize,
    taken: usize,
    split: bool,
    levels: Vec<u8>,
    row: usize,
    rows: usize,
}

impl Cursor {
    pub fn new(pages: Box<dyn PageReader>, optional: bool) -> Cursor {
        Cursor {
            pages,
            optional,
            page: Bytes::new(),
            at: 0,
            taken: 0,
            split: false,
            levels: Vec::new(),
            row: 0,
            rows: 0,
        }
    }

    #[inline]
    pub fn ints(&mut self, records: &mut [Record], set: impl Fn(&mut Record, i32)) -> Result<()> {
        self.by_page(records, |cursor, now| match cursor.split {
            true => cursor.split_ints(now, &set),
            false => cursor.fixed(now, |record, bytes| set(record, i32::from_le_bytes(bytes))),
        })
    }

    #[inline]
    pub fn bytes(&mut self, records: &mut [Record], set: impl Fn(&mut Record, [u8; 24])) -> Result<()> {
        self.by_page(records, |cursor, now| cursor.fixed(now, &set))
    }

    pub fn bools(&mut self, records: &mut [Record], set: impl Fn(&mut Record, bool)) -> Result<()> {
        self.by_page(records, |cursor, now| {
            let first = cursor.taken;
            cursor.taken += cursor.present(now.len());
            let end = cursor.at + cursor.taken.div_ceil(8);
            let values = cursor.page.get(cursor.at..end).ok_or_else(too_short)?;
            let bits = (first..cursor.taken).map(|bit| values[bit / 8] >> (bit % 8) & 1 == 1);
            cursor.spread(now, bits, &set);
            Ok(())
        })
    }

    pub fn skip(&mut self, mut rows: usize) -> Result<()> {
        while rows > 0 {
            if self.row == self.rows {
                let whole = self.pages.peek_next_page()?.filter(|page| !page.is_dict);
                let whole = whole.and_then(|page| page.num_levels.or(page.num_rows));
                if let Some(count) = whole.filter(|count| *count <= rows) {
                    self.pages.skip_next_page()?;
                    rows -= count;
                    continue;
                }
            }
            let count = self.ready(rows)?;
            self.taken += self.present(count);
            self.row += count;
            rows -= count;
        }
        Ok(())
    }

    #[inline]
    fn by_page(
        &mut self,
        mut records: &mut [Record],
        mut take: impl FnMut(&mut Cursor, &mut [Record]) -> Result<()>,
    ) -> Result<()> {
        while !records.is_empty() {
            let count = self.ready(records.len())?;
            let (now, later) = records.split_at_mut(count);
            take(self, now)?;
            self.row += count;
            records = later;
        }
        Ok(())
    }

    #[inline]
    fn fixed<const N: usize>(
        &mut self,
        now: &mut [Record],
        set: impl Fn(&mut Record, [u8; N]),
    ) -> Result<()> {
        let start = self.at + N * self.taken;
        self.taken += self.present(now.len());
        let end = self.at + N * self.taken;
        let values = self.page.get(start..end).ok_or_else(too_short)?.as_chunks::<N>().0;
        self.spread(now, values.iter().copied(), set);
        Ok(())
    }

    #[inline]
    fn split_ints(&mut self, now: &mut [Record], set: impl Fn(&mut Record, i32)) -> Result<()> {
        let first = self.taken;
        self.taken += self.present(now.len());
        let values = self.page.get(self.at..).ok_or_else(too_short)?;
        let all = values.len() / 4;
        let part = |index: usize| values[index * all..(index + 1) * all].get(first..self.taken);
        let (Some(a), Some(b), Some(c), Some(d)) = (part(0), part(1), part(2), part(3)) else {
            return Err(too_short());
        };
        let numbers = a.iter().zip(b).zip(c.iter().zip(d));
        let numbers = numbers.map(|((a, b), (c, d))| i32::from_le_bytes([*a, *b, *c, *d]));
        self.spread(now, numbers, set);
        Ok(())
    }

    #[inline]
    fn spread<T>(
        &self,
        now: &mut [Record],
        mut values: impl ExactSizeIterator<Item = T>,
        set: impl Fn(&mut Record, T),
    ) {
        if values.len() == now.len() {
            now.iter_mut().zip(values).for_each(|(record, value)| set(record, value));
        } else {
            let levels = &self.levels[self.row..self.row + now.len()];
            let there = now.iter_mut().zip(levels).filter(|(_, level)| **level == 1);
            there.for_each(|(record, _)| values.next().into_iter().for_each(|value| set(record, value)));
        }
    }

    fn ready(&mut self, wanted: usize) -> Result<usize> {
        while self.row == self.rows {
            self.next_page()?;
        }
        Ok(wanted.min(self.rows - self.row))
    }

    #[inline]
    fn present(&self, count: usize) -> usize {
        match self.optional {
            true => self.levels[self.row..self.row + count].iter().filter(|level| **level == 1).count(),
            false => count,
        }
    }

    fn next_page(&mut self) -> Result<()> {
        let ended = || ParquetError::EOF("a column ends early".into());
        let page = self.pages.get_next_page()?.ok_or_else(ended)?;
        let Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } = page else {
            return Err(ParquetError::NYI("a page of another kind".into()));
        };
        self.split = match encoding {
            Encoding::BYTE_STREAM_SPLIT => true,
            Encoding::PLAIN => false,
            other => return Err(ParquetError::NYI(format!("a page that is encoded as {other}"))),
        };
        (self.row, self.rows) = (0, num_values as usize);
        (self.at, self.taken) = (0, 0);
        self.page = buf;
        if self.optional {
            if def_level_encoding != Encoding::RLE {
                return Err(ParquetError::NYI("definition levels of an old kind".into()));
            }
            let length = self.page.first_chunk().ok_or_else(too_short)?;
            self.at = 4 + u32::from_le_bytes(*length) as usize;
            let runs = self.page.get(4..self.at).ok_or_else(too_short)?;
            levels(runs, self.rows, &mut self.levels).ok_or_else(too_short)?;
        }
        Ok(())
    }
}

fn too_short() -> ParquetError {
    ParquetError::EOF("a page is shorter than its values".into())
}
