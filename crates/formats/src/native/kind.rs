//! Types of columns.

/// Type of a column: 24 bytes, a boolean, or an INT32 with its logical type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Board,
    Bool,
    Int(&'static str),
}

impl ColumnType {
    /// The least and the greatest number of a column.
    pub fn range(self) -> (i64, i64) {
        match self {
            ColumnType::Board => (0, 0),
            ColumnType::Bool => (0, 1),
            ColumnType::Int("UINT_8") => (0, u8::MAX.into()),
            ColumnType::Int("UINT_16") => (0, u16::MAX.into()),
            ColumnType::Int("UINT_32") => (0, u32::MAX.into()),
            ColumnType::Int("INT_8") => (i8::MIN.into(), i8::MAX.into()),
            ColumnType::Int("INT_16") => (i16::MIN.into(), i16::MAX.into()),
            ColumnType::Int(_) => (i32::MIN.into(), i32::MAX.into()),
        }
    }
}
