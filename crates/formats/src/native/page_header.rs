//! A look at page headers before the parquet crate (60.1) parses them: it panics where the header of a data page lacks
//! the part about data pages, counts what is not there, and does not show whether there is a checksum.
//!
//! Source: apache/parquet-format, `parquet.thrift`, `PageHeader`.

use std::io::{self, BufReader, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::native::positioned::{Cursor, Positioned};
use crate::native::thrift;

/// Bytes to look for a header in: as a rule, and at the most. What is long in a header are statistics.
const USUAL: u64 = 512;
const MOST: u64 = 1 << 21;

/// Reader of pages, which checks the headers. Every sequential read that is read from starts with one.
pub struct Pages(pub Positioned);

pub enum Header {
    Sound(BufReader<Cursor>),
    Damaged,
}

impl Read for Header {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Header::Sound(bytes) => bytes.read(buffer),
            Header::Damaged => Err(io::Error::other("a page header is damaged")),
        }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Pages {
    type T = Header;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match has_checksum(&self.0, start)? {
            Some(_) => Header::Sound(self.0.get_read(start)?),
            None => Header::Damaged,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Tests whether the page that starts there has a checksum; `None` if no page does.
pub fn has_checksum(file: &Positioned, start: u64) -> Result<Option<bool>> {
    let (mut header, mut size) = (Vec::new(), USUAL);
    loop {
        file.cursor(start + header.len() as u64).take(size - header.len() as u64).read_to_end(&mut header)?;
        if thrift::is_page_header(&header) {
            return Ok(parse(&header));
        }
        if (header.len() as u64) < size || size >= MOST {
            return Ok(None);
        }
        size *= 8;
    }
}

/// Reads the start of a header in Thrift's compact protocol: the page's type, two sizes, perhaps the checksum, and then
/// the part for pages of this type.
fn parse(header: &[u8]) -> Option<bool> {
    const INT: u8 = 5;
    const STRUCT: u8 = 12;
    const CHECKSUM: u8 = 4;
    let (mut rest, mut id, mut part, mut checksum) = (header, 0, 0, false);
    loop {
        let (field, value) = rest.split_first()?;
        id += field >> 4;
        match field & 15 {
            STRUCT => return (id == part).then_some(checksum),
            INT if id <= CHECKSUM => {
                let last = value.iter().position(|byte| *byte < 128)?;
                if id == 1 {
                    // Data, index, dictionary, data of version 2: a number is twice its value.
                    part = *[5, 6, 7, 8].get(usize::from(value[0] / 2)).filter(|_| value[0] % 2 == 0)?;
                }
                checksum |= id == CHECKSUM;
                rest = &value[last + 1..];
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_io::ReadAt;

    #[test]
    fn a_header_says_whether_there_is_a_checksum() {
        let with = [0x15, 0, 0x15, 0x80, 0x80, 2, 0x15, 0x28, 0x15, 0x90, 0x4e, 0x1c];
        let without = [0x15, 0, 0x15, 0x80, 0x80, 2, 0x15, 0x28, 0x2c];
        let dictionary = [0x15, 4, 0x15, 2, 0x15, 0x28, 0x4c];
        assert_eq!(parse(&with), Some(true));
        assert_eq!(parse(&without), Some(false));
        assert_eq!(parse(&dictionary), Some(false));
        (0..with.len()).for_each(|length| assert_eq!(parse(&with[..length]), None));
        // The part about a dictionary in the header of a data page, which the parquet crate does not survive.
        assert_eq!(parse(&[0x15, 0, 0x15, 2, 0x15, 0x28, 0x4c]), None);
    }

    #[test]
    fn a_header_lies_in_the_file_whole() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let checksum = |header: &[u8]| {
            std::fs::write(path.path(), header).unwrap();
            let file = ReadAt::nameless(path.reopen().unwrap());
            has_checksum(&Positioned::new(file, header.len() as u64), 0).unwrap()
        };
        // A data page of one value, with statistics: the largest value has some bytes, whose number takes two of them.
        let header = |length: u16| {
            let start = [0x15, 0, 0x15, 2, 0x15, 2, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18];
            let length_bytes = [length as u8 & 0x7f | 0x80, (length >> 7) as u8];
            [&start[..], &length_bytes, &vec![b'a'; usize::from(length)], &[0; 3]].concat()
        };
        for length in [1, 480, 5000] {
            let whole = header(length);
            assert_eq!(checksum(&whole), Some(false), "{length}");
            assert_eq!(checksum(&[&whole, &[7; 9000][..]].concat()), Some(false), "{length}");
            assert_eq!(checksum(&whole[..whole.len() - 1]), None, "{length}");
        }
        // A field that Parquet does not have: 2³¹ − 1 numbers of eight bytes, which the parquet crate would skip one by
        // one, and as many truth values.
        for kind in [7, 1] {
            let list = [0x79, 0xf0 | kind, 0xff, 0xff, 0xff, 0xff, 7, 0];
            let whole = header(1);
            assert_eq!(checksum(&[&whole[..whole.len() - 1], &list[..]].concat()), None);
        }
    }
}
