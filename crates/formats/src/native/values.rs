//! Values of the columns that other programs write, in Parquet's common types and encodings.
//!
//! Source: apache/parquet-format, `Encodings.md`.

use bytes::Bytes;
use parquet::basic::{ConvertedType, Encoding, LogicalType, Type as PhysicalType};
use parquet::schema::types::ColumnDescriptor;

use crate::native::rle::{Run, next_run};
use crate::native::{delta, dictionary};

/// Type of a column as far as it decides how values are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    Bool,
    Int32 { unsigned: bool },
    Int64 { unsigned: bool },
    Float,
    Double,
    Bytes,
    Fixed(usize),
}

/// Decoded values of a page.
#[derive(Debug, Clone)]
pub enum Values {
    /// Numbers, and booleans as 0 and 1. 64-bit integers beyond 2^53 are rounded, but stay beyond.
    Numbers(Vec<f64>),
    Bytes(Vec<Bytes>),
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Bytes(bytes) => bytes.len(),
        }
    }
}

impl Stored {
    /// The type of a column; `None` if it holds neither numbers nor bytes as they are.
    pub fn of(column: &ColumnDescriptor) -> Option<Stored> {
        let unsigned = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) => !integer.is_signed,
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => true,
            (
                None | Some(LogicalType::String | LogicalType::Json | LogicalType::Bson | LogicalType::Enum),
                _,
            ) => false,
            _ => return None,
        };
        if column.converted_type() == ConvertedType::DECIMAL {
            return None;
        }
        Some(match column.physical_type() {
            PhysicalType::BOOLEAN => Stored::Bool,
            PhysicalType::INT32 => Stored::Int32 { unsigned },
            PhysicalType::INT64 => Stored::Int64 { unsigned },
            PhysicalType::FLOAT => Stored::Float,
            PhysicalType::DOUBLE => Stored::Double,
            PhysicalType::BYTE_ARRAY => Stored::Bytes,
            PhysicalType::FIXED_LEN_BYTE_ARRAY => {
                Stored::Fixed(usize::try_from(column.type_length()).ok().filter(|width| *width > 0)?)
            }
            PhysicalType::INT96 => return None,
        })
    }

    fn width(self) -> Option<usize> {
        match self {
            Stored::Int32 { .. } | Stored::Float => Some(4),
            Stored::Int64 { .. } | Stored::Double => Some(8),
            Stored::Fixed(width) => Some(width),
            Stored::Bool | Stored::Bytes => None,
        }
    }

    fn integer(self, value: i64) -> f64 {
        match self {
            Stored::Int32 { unsigned: true } => f64::from(value as u32),
            Stored::Int32 { unsigned: false } => f64::from(value as i32),
            Stored::Int64 { unsigned: true } => value as u64 as f64,
            _ => value as f64,
        }
    }

    fn number(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        match self {
            Stored::Float => f64::from(f32::from_le_bytes([a, b, c, d])),
            Stored::Double => f64::from_le_bytes(bytes),
            _ => self.integer(i64::from_le_bytes(bytes)),
        }
    }

    /// Decodes the `count` values of a page; `None` if they end early, `Err` for an encoding that is not read.
    pub fn decode(
        self,
        page: &Bytes,
        count: usize,
        encoding: Encoding,
        dictionary: Option<&Values>,
    ) -> Result<Option<Values>, Encoding> {
        Ok(match (encoding, self) {
            (Encoding::PLAIN, _) => self.plain(page, count),
            (Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY, _) => {
                dictionary.and_then(|values| indexed(page, count, values))
            }
            (Encoding::RLE, Stored::Bool) => booleans(page, count),
            (Encoding::BYTE_STREAM_SPLIT, _) => self.split(page, count),
            (Encoding::DELTA_BINARY_PACKED, Stored::Int32 { .. } | Stored::Int64 { .. }) => {
                let values = delta::integers(&mut &page[..], count).filter(|values| values.len() == count);
                values.map(|values| Values::Numbers(values.into_iter().map(|v| self.integer(v)).collect()))
            }
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, Stored::Bytes) => lengths_first(page, count),
            (other, _) => return Err(other),
        })
    }

    pub fn plain(self, page: &Bytes, count: usize) -> Option<Values> {
        let Some(width) = self.width() else {
            return match self {
                Stored::Bool => {
                    let bits = page.get(..count.div_ceil(8))?;
                    let bit = |index: usize| f64::from(bits[index / 8] >> (index % 8) & 1);
                    Some(Values::Numbers((0..count).map(bit).collect()))
                }
                _ => prefixed(page, count),
            };
        };
        let end = width.checked_mul(count).filter(|end| *end <= page.len())?;
        if let Stored::Fixed(_) = self {
            let values = (0..count).map(|nth| page.slice(nth * width..(nth + 1) * width));
            return Some(Values::Bytes(values.collect()));
        }
        let number = |value: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..width].copy_from_slice(value);
            self.number(bytes)
        };
        Some(Values::Numbers(page[..end].chunks_exact(width.max(1)).map(number).collect()))
    }

    fn split(self, page: &Bytes, count: usize) -> Option<Values> {
        let width = self.width()?;
        let whole = width.checked_mul(count).filter(|end| *end <= page.len())?;
        let mut plain = Vec::with_capacity(whole);
        for index in 0..count {
            plain.extend((0..width).map(|byte| page[byte * count + index]));
        }
        self.plain(&plain.into(), count)
    }
}

/// Byte strings, each after its length.
fn prefixed(page: &Bytes, count: usize) -> Option<Values> {
    let (mut values, mut at) = (Vec::new(), 0usize);
    for _ in 0..count {
        let length = u32::from_le_bytes(*page.get(at..)?.first_chunk()?) as usize;
        let end = at.checked_add(4)?.checked_add(length).filter(|end| *end <= page.len())?;
        values.push(page.slice(at + 4..end));
        at = end;
    }
    Some(Values::Bytes(values))
}

/// Byte strings after all their lengths.
fn lengths_first(page: &Bytes, count: usize) -> Option<Values> {
    let mut rest = &page[..];
    let lengths = delta::integers(&mut rest, count).filter(|lengths| lengths.len() == count)?;
    let (mut values, mut at) = (Vec::with_capacity(count), page.len() - rest.len());
    for length in lengths {
        let end = at.checked_add(usize::try_from(length).ok()?).filter(|end| *end <= page.len())?;
        values.push(page.slice(at..end));
        at = end;
    }
    Some(Values::Bytes(values))
}

fn indexed(page: &Bytes, count: usize, dictionary: &Values) -> Option<Values> {
    let indices = dictionary::indices(page, count)?;
    Some(match dictionary {
        Values::Numbers(values) => {
            Values::Numbers(indices.map(|index| values.get(index).copied()).collect::<Option<_>>()?)
        }
        Values::Bytes(values) => {
            Values::Bytes(indices.map(|index| values.get(index).cloned()).collect::<Option<_>>()?)
        }
    })
}

/// Booleans in runs, after the length of the runs.
fn booleans(page: &Bytes, count: usize) -> Option<Values> {
    let length = u32::from_le_bytes(*page.first_chunk()?) as usize;
    let mut bits = Vec::new();
    levels(page.get(4..4usize.checked_add(length)?)?, count, &mut bits)?;
    Some(Values::Numbers(bits.into_iter().map(f64::from).collect()))
}

/// Decodes one-bit numbers, such as definition levels; `None` if they end early.
pub fn levels(mut runs: &[u8], rows: usize, levels: &mut Vec<u8>) -> Option<()> {
    levels.clear();
    while levels.len() < rows {
        match next_run(&mut runs, 1, rows - levels.len())? {
            Run::Repeated(value, times) => levels.resize(levels.len() + times, value.first()? & 1),
            Run::Packed(packed, times) => {
                let bits = packed.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
                levels.extend(bits.take(times));
            }
        }
    }
    Some(())
}
