//! A look at a footer before the parquet crate (60.1) reads it: in a file of a kilobyte, a group of the schema may claim two
//! thousand million children, for which memory is asked, and a list as many truth values, which the crate counts one by one.
//!
//! The footer is a struct of Thrift's compact protocol, whose field 2 is the list of the schema's elements; field 5 of an
//! element is its number of children.

/// Fields that lie deeper are not looked at; the parquet crate refuses such footers.
const DEEPEST: usize = 65;

/// Whether no element of the schema claims more children than the schema has elements, no list more elements than there
/// are bytes, and no field of the footer or of an element has another type than its own: the parquet crate reads a field by
/// its number, so what follows would mean something else to it. True too if the bytes are not Thrift: the crate says what is
/// wrong with them.
pub fn is_possible(footer: &[u8]) -> bool {
    let mut bytes = Bytes { left: footer, possible: true };
    let _ = bytes.fields(0, &mut |bytes, id, kind| {
        bytes.has_its_type(id, kind, &OF_FOOTER)?;
        if id == 2 { bytes.schema() } else { bytes.skip(kind, 0) }
    });
    bytes.possible
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Types of the fields from 1 on.
const OF_FOOTER: [u8; 9] = [I32, LIST, I64, LIST, LIST, BINARY, LIST, STRUCT, BINARY];
const OF_ELEMENT: [u8; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, STRUCT];

/// What is left to read; every method is `None` at its end.
struct Bytes<'a> {
    left: &'a [u8],
    possible: bool,
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

    /// Number and type of a list's elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        self.has_room(count, &[head & 15])?;
        Some((count, head & 15))
    }

    /// Notes a list or map with more elements than bytes. Truth values have no room at all: a footer has no list of them, and
    /// the parquet crate takes no byte for one.
    fn has_room(&mut self, count: u64, kinds: &[u8]) -> Option<()> {
        let truths = count > 0 && kinds.iter().any(|kind| matches!(kind, 1 | 2));
        self.possible &= count <= self.left.len() as u64 && !truths;
        self.possible.then_some(())
    }

    /// Notes a field that is in the table with another type.
    fn has_its_type(&mut self, id: u64, kind: u8, types: &[u8]) -> Option<()> {
        let own = usize::try_from(id).ok().and_then(|id| types.get(id.checked_sub(1)?));
        self.possible &= own.is_none_or(|own| *own == kind);
        self.possible.then_some(())
    }

    fn schema(&mut self) -> Option<()> {
        let (elements, kind) = self.list()?;
        for _ in 0..elements {
            if kind != STRUCT {
                return None;
            }
            self.fields(0, &mut |bytes, id, kind| {
                bytes.has_its_type(id, kind, &OF_ELEMENT)?;
                if id != 5 {
                    return bytes.skip(kind, 1);
                }
                let zigzag = bytes.varint()?;
                // Negative numbers are odd, and refused by the parquet crate, which cuts longer ones to 32 bits.
                let is_negative = zigzag & 1 == 1 && zigzag <= u64::from(u32::MAX);
                bytes.possible &= is_negative || zigzag >> 1 <= elements;
                Some(())
            })?;
        }
        Some(())
    }

    /// Visits the fields of a struct, whose values the visitor reads.
    fn fields(&mut self, first: u64, visit: &mut dyn FnMut(&mut Self, u64, u8) -> Option<()>) -> Option<()> {
        let mut id = first;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.varint()? >> 1,
                step => id + u64::from(step),
            };
            visit(self, id, head & 15)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth == DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => Some(()),
            3 => self.drop(1),
            4..=6 => self.varint().map(drop),
            7 => self.drop(8),
            13 => self.drop(16),
            8 => {
                let length = self.varint()?;
                self.drop(length)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip(kind, depth + 1))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                let kinds = [kinds >> 4, kinds & 15];
                self.has_room(count, &kinds)?;
                (0..count).try_for_each(|_| kinds.iter().try_for_each(|kind| self.skip(*kind, depth + 1)))
            }
            STRUCT => self.fields(0, &mut |bytes, _, kind| bytes.skip(kind, depth + 1)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer: version 1, then a schema whose root claims `children` and has one.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0x2c];
        // Root: name (field 4), number of children (field 5).
        bytes.extend([0x48, 1, b'r', 0x15]);
        bytes.extend(children);
        // A leaf: type (field 1), name (field 4).
        bytes.extend([0, 0x15, 4, 0x38, 1, b'a', 0]);
        // Number of rows (field 3), and the end.
        bytes.extend([0x16, 0, 0]);
        bytes
    }

    #[test]
    fn a_group_with_more_children_than_elements_is_impossible() {
        assert!(is_possible(&footer(&[2])));
        assert!(is_possible(&footer(&[4])));
        assert!(!is_possible(&footer(&[6])));
        assert!(!is_possible(&footer(&[0xfe, 0xff, 0xff, 0xff, 0x0f])));
        // Negative, for the parquet crate to refuse.
        assert!(is_possible(&footer(&[0xff, 0xff, 0xff, 0xff, 0x0f])));
    }

    #[test]
    fn what_is_no_footer_ends_without_a_verdict() {
        // Two elements of the schema need two bytes.
        let whole = footer(&[2]);
        (0..whole.len()).for_each(|end| assert_eq!(is_possible(&whole[..end]), !matches!(end, 4 | 5)));
        // Lists in lists without end.
        assert!(is_possible(&[0xa9, 0x19].repeat(10_000)));
    }

    #[test]
    fn a_list_with_more_elements_than_bytes_is_impossible() {
        // Numbers in a list of field 10, then in one of a map.
        assert!(is_possible(&[0xa9, 0x25, 2, 2, 0]));
        assert!(!is_possible(&[0xa9, 0x45, 2, 2, 0]));
        assert!(!is_possible(&[0xa9, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 2, 0]));
        assert!(is_possible(&[0xab, 1, 0x55, 2, 2, 0]));
        assert!(!is_possible(&[0xab, 9, 0x55, 2, 2, 0]));
        // Truth values, for which the bytes would do.
        assert!(!is_possible(&[0xa9, 0x21, 1, 1, 0]));
        assert!(!is_possible(&[0xab, 1, 0x15, 1, 2, 0]));
    }

    #[test]
    fn a_field_of_another_type_is_impossible() {
        // The version as a list; the name of an element as one, which the parquet crate would read as text.
        assert!(!is_possible(&[0x19, 0x05, 0]));
        let named = |kind: u8| [0x15, 2, 0x19, 0x1c, 0x40 | kind, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(is_possible(&named(BINARY)));
        assert!(!is_possible(&named(LIST)));
        // −2³¹ − 1, of which 32 bits are positive.
        assert!(!is_possible(&footer(&[0x81, 0x80, 0x80, 0x80, 0x10])));
    }
}
