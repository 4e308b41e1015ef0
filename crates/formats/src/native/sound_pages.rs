//! Pages as the parquet crate's (60.1) readers of columns need them: those read on where levels claim more values than
//! there are, which take no space in a file but memory, and panic at a [`fault`](SoundPages::fault) of a page.

use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::schema::types::ColumnDescriptor;

use crate::native::delta;
use crate::native::rle::{Run, next_run};

pub struct SoundPages {
    pages: Box<dyn PageReader>,
    /// Highest levels of repetition and of definition; 0 where values have none.
    levels: [i16; 2],
    /// Fewest bytes of a value.
    width: usize,
    /// Values that may follow.
    left: u64,
    dictionary: bool,
}

impl SoundPages {
    /// Pages of a column that has `left` values.
    pub fn new(pages: Box<dyn PageReader>, column: &ColumnDescriptor, left: u64) -> SoundPages {
        let levels = [column.max_rep_level(), column.max_def_level()];
        SoundPages { pages, levels, width: fewest_bytes(column), left, dictionary: false }
    }

    /// Reason why a page cannot be read.
    fn fault(&self, page: &Page) -> Option<&'static str> {
        let sound = match page {
            // The encoding before RLE, out of use since 2013, says no length.
            Page::DataPage { def_level_encoding, rep_level_encoding, .. } => self
                .levels
                .iter()
                .zip([rep_level_encoding, def_level_encoding])
                .all(|(most, encoding)| *most == 0 || *encoding == Encoding::RLE),
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => def_levels_byte_len
                .checked_add(*rep_levels_byte_len)
                .is_some_and(|length| length as usize <= buf.len()),
            Page::DictionaryPage { buf, num_values, .. } => {
                let few =
                    (*num_values as usize).checked_mul(self.width).is_some_and(|bytes| bytes <= buf.len());
                return (!few).then_some("a dictionary has more values than bytes");
            }
        };
        let by_dictionary = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        if by_dictionary && !self.dictionary {
            return Some("a column has no dictionary");
        }
        if !sound {
            return Some("the levels of a page are not within it");
        }
        let has_all = match page.encoding() {
            Encoding::BYTE_STREAM_SPLIT => self.values(page).is_some_and(|(number, values)| {
                number.checked_mul(self.width).is_some_and(|bytes| bytes <= values.len())
            }),
            Encoding::DELTA_BINARY_PACKED => self.values(page).is_some_and(|(number, values)| {
                number == 0 || delta::count(values).is_some_and(|count| number <= count)
            }),
            _ => true,
        };
        (!has_all).then_some("a page has fewer values than its levels say")
    }

    /// Number of values by the levels of a page, and the bytes of the values.
    fn values<'a>(&self, page: &'a Page) -> Option<(usize, &'a [u8])> {
        let number = page.num_values() as usize;
        let [repetition, definition] = self.levels.map(|most| most > 0);
        let (levels, values) = match page {
            Page::DataPage { buf, .. } => {
                let (_, rest) = if repetition { prefixed(buf)? } else { (&[][..], &buf[..]) };
                if definition { prefixed(rest)? } else { (&[][..], rest) }
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                buf.get(*rep_levels_byte_len as usize..)?.split_at_checked(*def_levels_byte_len as usize)?
            }
            Page::DictionaryPage { .. } => return None,
        };
        let present = if definition { highest_levels(levels, number, self.levels[1])? } else { number };
        Some((present, values))
    }
}

/// Splits off bytes whose number is before them, as 32 bits.
fn prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Number of the highest levels, which alone have values; `None` if the levels end early.
fn highest_levels(mut bytes: &[u8], number: usize, most: i16) -> Option<usize> {
    let width = (i16::BITS - most.leading_zeros()) as usize;
    let (mut left, mut found) = (number, 0);
    while left > 0 {
        let length = match next_run(&mut bytes, width, left)? {
            Run::Repeated(value, length) => {
                let level = value.iter().rev().fold(0, |level, byte| level << 8 | u32::from(*byte));
                found += if level == most as u32 { length } else { 0 };
                length
            }
            Run::Packed(packed, length) => {
                let bit = |at: usize| u32::from(packed[at / 8] >> (at % 8) & 1);
                let level = |i: usize| (0..width).fold(0, |level, at| level | bit(i * width + at) << at);
                found += (0..length).filter(|i| level(*i) == most as u32).count();
                length
            }
        };
        left -= length;
    }
    Some(found)
}

impl PageReader for SoundPages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(None) };
        if let Some(fault) = self.fault(&page) {
            return Err(ParquetError::General(fault.into()));
        }
        if matches!(page, Page::DictionaryPage { .. }) {
            self.dictionary = true;
            return Ok(Some(page));
        }
        let left = self.left.checked_sub(u64::from(page.num_values()));
        self.left = left.ok_or_else(|| ParquetError::General("a column has too many values".into()))?;
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }
}

impl Iterator for SoundPages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<ParquetResult<Page>> {
        self.get_next_page().transpose()
    }
}

/// Fewest bytes of a value of the column.
fn fewest_bytes(column: &ColumnDescriptor) -> usize {
    match column.physical_type() {
        PhysicalType::BOOLEAN => 1,
        PhysicalType::INT32 | PhysicalType::FLOAT | PhysicalType::BYTE_ARRAY => 4,
        PhysicalType::INT64 | PhysicalType::DOUBLE => 8,
        PhysicalType::INT96 => 12,
        PhysicalType::FIXED_LEN_BYTE_ARRAY => column.type_length().max(1) as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::parquet_file::ParquetFile;
    use parquet::column::reader::ColumnReader;
    use parquet::data_type::{DataType, FloatType, Int32Type};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::path::Path;
    use std::sync::Arc;

    /// A file with one column of numbers, of which every third is there.
    fn write<T: DataType>(path: &Path, encoding: Encoding, rows: usize, version: WriterVersion)
    where
        T::T: From<i16>,
    {
        let kind = T::get_physical_type().to_string().to_lowercase();
        let schema = Arc::new(parse_message_type(&format!("message a {{ optional {kind} a; }}")).unwrap());
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(false)
            .set_encoding(encoding)
            .build();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, properties.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = (0..rows).map(|row| i16::from(row % 3 == 0)).collect();
        let values: Vec<T::T> = (0..rows.div_ceil(3)).map(|value| T::T::from(value as i16)).collect();
        column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    fn read(path: &Path, rows: usize) -> ParquetResult<Vec<f32>> {
        let ColumnReader::FloatColumnReader(mut column) = ParquetFile::open(path).unwrap().column(0, 0)?
        else {
            panic!("a column of floats")
        };
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        column.read_records(rows, Some(&mut levels), None, &mut values)?;
        Ok(values)
    }

    #[test]
    fn split_streams_are_read_unless_they_lack_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for rows in [1, 7, 1000] {
                write::<FloatType>(&path, Encoding::BYTE_STREAM_SPLIT, rows, version);
                let expected: Vec<f32> = (0..rows.div_ceil(3)).map(|value| value as f32).collect();
                assert_eq!(read(&path, rows).unwrap(), expected, "{version:?} {rows}");
            }
        }
        // Seven levels, 1001001, as one group of packed bits: the length 2, the run, its bits.
        write::<FloatType>(&path, Encoding::BYTE_STREAM_SPLIT, 7, WriterVersion::PARQUET_1_0);
        let whole = std::fs::read(&path).unwrap();
        let at = whole.windows(6).position(|bytes| bytes == [2, 0, 0, 0, 3, 0b100_1001]).unwrap() + 5;
        std::fs::write(&path, [&whole[..at], &[0b111_1111], &whole[at + 1..]].concat()).unwrap();
        let error = read(&path, 7).unwrap_err().to_string();
        assert!(error.contains("fewer values than its levels say"), "{error}");
    }

    /// The parquet crate (60.1) panics where a page of deltas has none of the values that its levels promise.
    #[test]
    fn deltas_are_read_unless_they_lack_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let read = || -> ParquetResult<Vec<i32>> {
            let ColumnReader::Int32ColumnReader(mut column) =
                ParquetFile::open(&path).unwrap().column(0, 0)?
            else {
                panic!("a column of integers")
            };
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            column.read_records(7, Some(&mut levels), None, &mut values)?;
            Ok(values)
        };
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            write::<Int32Type>(&path, Encoding::DELTA_BINARY_PACKED, 7, version);
            assert_eq!(read().unwrap(), [0, 1, 2]);
            // Blocks of 128 values, 4 miniblocks, 3 values.
            let whole = std::fs::read(&path).unwrap();
            let at = whole.windows(4).position(|bytes| bytes == [0x80, 1, 4, 3]).unwrap() + 3;
            for count in [0, 2] {
                std::fs::write(&path, [&whole[..at], &[count], &whole[at + 1..]].concat()).unwrap();
                let error = read().unwrap_err().to_string();
                assert!(error.contains("fewer values than its levels say"), "{error}");
            }
        }
    }

    #[test]
    fn levels_are_counted_in_runs_of_both_kinds() {
        // Three times 2; eight packed levels of two bits, 0 to 3 and again; five times 3.
        let bytes = [3 << 1, 2, 3, 0b1110_0100, 0b1110_0100, 5 << 1, 3];
        assert_eq!(highest_levels(&bytes, 16, 2), Some(5));
        assert_eq!(highest_levels(&bytes, 16, 3), Some(7));
        assert_eq!(highest_levels(&bytes, 9, 3), Some(1));
        assert_eq!(highest_levels(&bytes, 17, 3), None);
    }
}
