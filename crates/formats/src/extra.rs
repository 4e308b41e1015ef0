//! Columns of a Parquet dataset that patzer does not know, carried along from file to file.
//!
//! They stay what they are: type and values, optional or not, become an optional column of the same name. Nested
//! columns are left out, except [`visits`](crate::visits), which patzer knows; montyformat has it too.

use std::io;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};

use crate::bytes::{field, varint};
use crate::native::columns::COLUMNS;
use crate::native::readable::READABLE;
use crate::spillable::Spillable;

/// A column that patzer does not know, or [`visits`](crate::visits).
#[derive(Debug, Clone, PartialEq)]
pub struct ExtraColumn {
    pub(crate) field: TypePtr,
}

/// The values of a row, as Parquet stores them plainly; without the length of a byte string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraRow(pub(crate) Vec<Option<Box<[u8]>>>);

impl ExtraColumn {
    pub(crate) fn of(column: &ColumnDescriptor) -> Option<ExtraColumn> {
        let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
        let known = COLUMNS.iter().any(|own| own.name == column.name())
            || READABLE.iter().any(|own| own.name == column.name());
        if !flat || known {
            return None;
        }
        let logical: Option<LogicalType> = column.logical_type_ref().cloned();
        let field = Type::primitive_type_builder(column.name(), column.physical_type())
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(column.converted_type())
            .with_logical_type(logical)
            .with_length(column.type_length())
            .with_precision(column.type_precision())
            .with_scale(column.type_scale())
            .build();
        Some(ExtraColumn { field: Arc::new(field.ok()?) })
    }

    pub fn name(&self) -> &str {
        self.field.name()
    }

    /// A plain data page of an optional column.
    pub(crate) fn page(&self, nth: usize, rows: &[ExtraRow]) -> Vec<u8> {
        let mut page = Vec::new();
        let cells: Vec<Option<&[u8]>> = rows.iter().map(|row| row.0.get(nth)?.as_deref()).collect();
        let mut runs = Vec::new();
        varint((rows.len().div_ceil(8) << 1 | 1) as u64, &mut runs);
        runs.extend(packed(cells.iter().map(Option::is_some)));
        page.extend((runs.len() as u32).to_le_bytes());
        page.extend(runs);
        let physical = self.field.get_physical_type();
        if physical == PhysicalType::BOOLEAN {
            page.extend(packed(cells.iter().flatten().map(|value| value[0] == 1)));
            return page;
        }
        for value in cells.into_iter().flatten() {
            if physical == PhysicalType::BYTE_ARRAY {
                page.extend((value.len() as u32).to_le_bytes());
            }
            page.extend(value);
        }
        page
    }
}

/// Packs bits into bytes, the lowest first.
fn packed(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, bit) in bits.enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        bytes[index / 8] |= u8::from(bit) << (index % 8);
    }
    bytes
}

impl Spillable for ExtraRow {
    fn encode(rows: &[ExtraRow]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for row in rows {
            bytes.extend((row.0.len() as u32).to_le_bytes());
            for cell in &row.0 {
                let length = cell.as_ref().map_or(u32::MAX, |cell| cell.len() as u32);
                bytes.extend(length.to_le_bytes());
                bytes.extend(cell.iter().flatten());
            }
        }
        Ok(bytes)
    }

    fn decode(mut bytes: &[u8], to: &mut Vec<ExtraRow>) -> io::Result<()> {
        let mut take = |count: usize| {
            let (taken, rest) = bytes.split_at_checked(count).ok_or(io::ErrorKind::UnexpectedEof)?;
            bytes = rest;
            Ok::<_, io::Error>((taken, rest.is_empty()))
        };
        let number = |bytes| u32::from_le_bytes(field(bytes, 0));
        let mut last = false;
        while !last {
            let mut row = ExtraRow::default();
            for _ in 0..number(take(4)?.0) {
                let (length, end) = take(4)?;
                last = end;
                row.0.push(match number(length) {
                    u32::MAX => None,
                    length => {
                        let (cell, end) = take(length as usize)?;
                        last = end;
                        Some(cell.into())
                    }
                });
            }
            to.push(row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_rows_come_back() {
        let cell = |text: &str| Some(text.as_bytes().into());
        let rows = [
            ExtraRow(vec![cell("Sicilian"), None]),
            ExtraRow(vec![None, cell("")]),
            ExtraRow(vec![cell(""), cell("1.5")]),
            ExtraRow(vec![None, None]),
        ];
        for some in rows.chunks(3) {
            let mut back = Vec::new();
            ExtraRow::decode(&ExtraRow::encode(some).unwrap(), &mut back).unwrap();
            assert_eq!(back, some);
        }
    }
}
