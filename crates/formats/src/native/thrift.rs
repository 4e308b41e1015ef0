//! A look at footers and page headers before the parquet crate (60.1) reads them: in a file of a kilobyte, a group of
//! the schema may claim two thousand million children, for which memory is asked, and a list as many truth values, or
//! numbers after the end of the file, which the crate counts one by one.
//!
//! They are the structs `FileMetaData` and `PageHeader` of Parquet's `parquet.thrift` in Thrift's compact protocol. The
//! crate reads a field by its number whatever its type, and then takes what follows for something else than this look
//! would. So they have to be exactly of the types below.

use self::Type::{Any, Binary, Bool, Byte, Children, Double, Int, List, Struct};

#[derive(Clone, Copy)]
enum Type {
    Bool,
    Byte,
    /// Integer of 16, 32 or 64 bits, which are written alike.
    Int,
    /// Number of elements of the schema that follow; each takes a byte.
    Children,
    Double,
    Binary,
    List(&'static Type),
    /// Fields from 1 on; further ones may have any type.
    Struct(&'static [Type]),
    Any,
}

const FILE: Type = Struct(&[
    Int,
    List(&SCHEMA_ELEMENT),
    Int,
    List(&ROW_GROUP),
    List(&KEY_VALUE),
    Binary,
    List(&Struct(&[EMPTY, EMPTY])),
    Struct(&[AES, AES]),
    Binary,
]);
const EMPTY: Type = Struct(&[]);
const AES: Type = Struct(&[Binary, Binary, Bool]);
const KEY_VALUE: Type = Struct(&[Binary, Binary]);

const SCHEMA_ELEMENT: Type = Struct(&[Int, Int, Int, Binary, Children, Int, Int, Int, Int, LOGICAL_TYPE]);
const LOGICAL_TYPE: Type = Struct(&[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Int, Int]),
    EMPTY,
    TIME,
    TIME,
    Any,
    Struct(&[Byte, Bool]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Struct(&[Byte]),
    Struct(&[Binary]),
    Struct(&[Binary, Int]),
    EMPTY,
]);
const TIME: Type = Struct(&[Bool, Struct(&[EMPTY, EMPTY, EMPTY])]);

const ROW_GROUP: Type =
    Struct(&[List(&COLUMN_CHUNK), Int, Int, List(&Struct(&[Int, Bool, Bool])), Int, Int, Int]);
const COLUMN_CHUNK: Type = Struct(&[
    Binary,
    Int,
    COLUMN,
    Int,
    Int,
    Int,
    Int,
    Struct(&[EMPTY, Struct(&[List(&Binary), Binary])]),
    Binary,
]);
const COLUMN: Type = Struct(&[
    Int,
    List(&Int),
    List(&Binary),
    Int,
    Int,
    Int,
    Int,
    List(&KEY_VALUE),
    Int,
    Int,
    Int,
    STATISTICS,
    List(&Struct(&[Int, Int, Int])),
    Int,
    Int,
    Struct(&[Int, List(&Int), List(&Int)]),
    Struct(&[BOUNDING_BOX, List(&Int)]),
]);
const STATISTICS: Type = Struct(&[Binary, Binary, Int, Int, Binary, Binary, Bool, Bool]);
const BOUNDING_BOX: Type = Struct(&[Double; 8]);

const PAGE_HEADER: Type = Struct(&[
    Int,
    Int,
    Int,
    Int,
    Struct(&[Int, Int, Int, Int, STATISTICS]),
    EMPTY,
    Struct(&[Int, Int, Bool]),
    Struct(&[Int, Int, Int, Int, Int, Int, Bool, STATISTICS]),
]);

/// Fields that lie deeper are refused, as by the parquet crate.
const DEEPEST: u32 = 64;

/// Tests whether the bytes begin with a footer whose fields all have their types, without a list of more elements or a
/// group of more children than there are bytes.
pub fn is_footer(bytes: &[u8]) -> bool {
    Bytes { left: bytes }.value(12, FILE, 0).is_some()
}

/// Tests for the header of a page like [`is_footer`] for a footer.
pub fn is_page_header(bytes: &[u8]) -> bool {
    Bytes { left: bytes }.value(12, PAGE_HEADER, 0).is_some()
}

/// Bytes left to read; every method is `None` at their end or for invalid bytes.
struct Bytes<'a> {
    left: &'a [u8],
}

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(*first)
    }

    fn drop(&mut self, count: u64) -> Option<()> {
        self.left = self.left.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number that is not negative.
    fn natural(&mut self) -> Option<u64> {
        let zigzag = self.varint()?;
        zigzag.is_multiple_of(2).then_some(zigzag / 2)
    }

    /// Reads a value of the protocol's type `kind`, which has to be the type expected.
    fn value(&mut self, kind: u8, expected: Type, depth: u32) -> Option<()> {
        if depth == DEEPEST {
            return None;
        }
        match (kind, expected) {
            (1 | 2, Bool | Any) => Some(()),
            (3, Byte | Any) => self.drop(1),
            (4..=6, Int | Any) => self.varint().map(drop),
            (4..=6, Children) => self.natural().filter(|count| *count <= self.left.len() as u64).map(drop),
            (7, Double | Any) => self.drop(8),
            (8, Binary | Any) => {
                let length = self.varint()?;
                self.drop(length)
            }
            (9, List(of)) => self.list(*of, depth),
            (9, Any) => self.list(Any, depth),
            (12, Struct(types)) => self.fields(types, depth),
            (12, Any) => self.fields(&[], depth),
            _ => None,
        }
    }

    /// Truth values in a list are refused: Parquet has none there, and the parquet crate takes no byte for one that it
    /// skips.
    fn list(&mut self, of: Type, depth: u32) -> Option<()> {
        let head = self.byte()?;
        let (count, kind) = (u64::from(head >> 4), head & 15);
        let count = if count == 15 { self.varint()? } else { count };
        if count > 0 && kind <= 2 || count > self.left.len() as u64 {
            return None;
        }
        (0..count).try_for_each(|_| self.value(kind, of, depth + 1))
    }

    fn fields(&mut self, types: &[Type], depth: u32) -> Option<()> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.natural()?,
                step => id + u64::from(step),
            };
            // The parquet crate counts fields in 16 bits.
            let id = usize::from(u16::try_from(id).ok().filter(|id| (1..1 << 15).contains(id))?);
            self.value(head & 15, *types.get(id - 1).unwrap_or(&Any), depth + 1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: u8 = 8;
    const LIST: u8 = 9;

    /// A footer: version 1, then a schema whose root claims `children` and has one.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0x2c];
        // Root: name (field 4), number of children (field 5).
        bytes.extend([0x48, 1, b'r', 0x15]);
        bytes.extend(children);
        // A leaf: type (field 1), name (field 4), a decimal of two numbers (field 10).
        bytes.extend([0, 0x15, 4, 0x38, 1, b'a', 0x6c, 0x5c, 0x15, 4, 0x15, 18, 0, 0, 0]);
        // Number of rows (field 3), and the end.
        bytes.extend([0x16, 0, 0]);
        bytes
    }

    /// The fields, which begin with number 10 of the footer.
    fn unknown(bytes: &[u8]) -> bool {
        is_footer(&[bytes, &[0; 1]].concat())
    }

    #[test]
    fn a_group_with_more_children_than_bytes_is_impossible() {
        assert!(is_footer(&footer(&[2])));
        // More than there are: the parquet crate says so.
        assert!(is_footer(&footer(&[4])));
        assert!(!is_footer(&footer(&[80])));
        assert!(!is_footer(&footer(&[0xfe, 0xff, 0xff, 0xff, 0x0f])));
        // Negative; −2³¹ − 1, of which 32 bits are positive; a number of eleven bytes.
        assert!(!is_footer(&footer(&[1])));
        assert!(!is_footer(&footer(&[0x81, 0x80, 0x80, 0x80, 0x10])));
        assert!(!is_footer(&footer(&[0x80; 10])));
    }

    #[test]
    fn what_is_cut_off_is_impossible() {
        let whole = footer(&[2]);
        (0..whole.len()).for_each(|end| assert!(!is_footer(&whole[..end]), "{end}"));
        // Lists in lists without end.
        assert!(!is_footer(&[0xa9, 0x19].repeat(10_000)));
    }

    #[test]
    fn a_list_with_more_elements_than_bytes_is_impossible() {
        assert!(unknown(&[0xa9, 0x25, 2, 2]));
        assert!(!unknown(&[0xa9, 0x65, 2, 2]));
        assert!(!unknown(&[0xa9, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 2]));
        // An empty list may lack a type. Truth values, for which the bytes would do.
        assert!(unknown(&[0xa9, 0]));
        assert!(!unknown(&[0xa9, 0x21, 1, 1]));
        // A map, which Parquet has none of.
        assert!(!unknown(&[0xab, 0]));
    }

    #[test]
    fn a_field_of_another_type_is_impossible() {
        // The version as a list; the name of an element as one, which the parquet crate would read as text.
        assert!(!is_footer(&[0x19, 0x05, 0]));
        let named = |kind: u8| [0x15, 2, 0x19, 0x1c, 0x40 | kind, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(is_footer(&named(TEXT)));
        assert!(!is_footer(&named(LIST)));
        // A decimal with text for a number, and a column's type as text.
        let at = footer(&[2]).windows(2).position(|two| two == [0x15, 18]).unwrap();
        let mut text = footer(&[2]);
        text[at..at + 2].copy_from_slice(&[0x18, 0]);
        assert!(!is_footer(&text));
        let column = |kind: u8| [0x49, 0x1c, 0x19, 0x1c, 0x3c, 0x10 | kind, 0, 0, 0, 0, 0];
        assert!(is_footer(&column(5)));
        assert!(!is_footer(&column(TEXT)));
    }

    #[test]
    fn what_the_parquet_crate_reads_in_another_way_is_impossible() {
        // An end of a struct with a step, which the crate ignores.
        assert!(unknown(&[0xa5, 2]) && !unknown(&[0xa0, 2]));
        // Numbers of fields in full: 300, 65,538 (2 in 16 bits), −2.
        assert!(unknown(&[5, 0xd8, 4, 2]));
        assert!(!unknown(&[5, 0x84, 0x80, 8, 2]));
        assert!(!unknown(&[5, 3, 2]));
    }
}
