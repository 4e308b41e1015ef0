//! A look at page headers before the parquet crate (60.1) parses them: it panics where the header of a data page lacks
//! the part about data pages, counts what is not there, unpacks pages of any size, and does not show whether there is a
//! checksum.
//!
//! Source: apache/parquet-format, `parquet.thrift`, `PageHeader`.

use std::io::{self, BufReader, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::native::positioned::{Cursor, Positioned};
use crate::native::thrift;
use patzer_io::few_names;
use patzer_io::number::grouped;

/// Bytes to look for a header in: as a rule, and at the most. What is long in a header are statistics.
const USUAL: u64 = 512;
const MOST: u64 = 1 << 21;

/// Most unpacked bytes of a page. Writers cut pages at 1 MiB, DuckDB at 100 MB.
const LARGEST: u64 = 128 << 20;

/// Reader of a column's pages, which checks the headers. Every sequential read that is read from starts with one.
pub struct Pages {
    pub file: Positioned,
    pub column: String,
}

pub enum Header {
    Sound(BufReader<Cursor>),
    Fault(String),
}

/// The checked part of a page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    checksum: bool,
    unpacked: u64,
}

impl Read for Header {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Header::Sound(bytes) => bytes.read(buffer),
            Header::Fault(reason) => Err(io::Error::other(reason.clone())),
        }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Pages {
    type T = Header;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match facts(&self.file, start)? {
            None => Header::Fault("a page header is damaged".into()),
            Some(Facts { unpacked, .. }) if unpacked > LARGEST => {
                let [size, most] = [unpacked, LARGEST].map(grouped);
                let column = few_names(&[&self.column]);
                Header::Fault(format!(
                    "a page of column `{column}` has {size} bytes unpacked; the most is {most}"
                ))
            }
            Some(_) => Header::Sound(self.file.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// Tests whether the page that starts there has a checksum; `None` if no page does.
pub fn has_checksum(file: &Positioned, start: u64) -> Result<Option<bool>> {
    Ok(facts(file, start)?.map(|facts| facts.checksum))
}

fn facts(file: &Positioned, start: u64) -> Result<Option<Facts>> {
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
fn parse(header: &[u8]) -> Option<Facts> {
    const INT: u8 = 5;
    const STRUCT: u8 = 12;
    const CHECKSUM: u8 = 4;
    let (mut rest, mut id, mut part) = (header, 0, 0);
    let mut facts = Facts { checksum: false, unpacked: 0 };
    loop {
        let (field, value) = rest.split_first()?;
        id += field >> 4;
        match field & 15 {
            STRUCT => return (id == part).then_some(facts),
            INT if id <= CHECKSUM => {
                let last = value.iter().position(|byte| *byte < 128)?;
                if id == 1 {
                    // Data, index, dictionary, data of version 2: a number is twice its value.
                    part = *[5, 6, 7, 8].get(usize::from(value[0] / 2)).filter(|_| value[0] % 2 == 0)?;
                }
                if id == 2 {
                    let bytes = value[..=last].iter().rev();
                    let zigzag = bytes.fold(0, |number, byte| number << 7 | u64::from(byte & 127));
                    // Twice the value; the parquet crate refuses an odd one, which is below 0.
                    facts.unpacked = zigzag / 2;
                }
                facts.checksum |= id == CHECKSUM;
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
        let facts = |checksum, unpacked| Some(Facts { checksum, unpacked });
        assert_eq!(parse(&with), facts(true, 16_384));
        assert_eq!(parse(&without), facts(false, 16_384));
        assert_eq!(parse(&dictionary), facts(false, 1));
        (0..with.len()).for_each(|length| assert_eq!(parse(&with[..length]), None));
        // The part about a dictionary in the header of a data page, which the parquet crate does not survive.
        assert_eq!(parse(&[0x15, 0, 0x15, 2, 0x15, 0x28, 0x4c]), None);
    }

    #[test]
    fn a_page_that_unpacks_to_more_than_the_limit_is_refused_before() {
        let path = tempfile::NamedTempFile::new().unwrap();
        // A data page of 2²⁷ unpacked bytes, and of one more: twice the number, and 2 packed bytes.
        let refused = |lowest: u8| {
            std::fs::write(path.path(), [0x15, 0, 0x15, lowest, 0x80, 0x80, 0x80, 1, 0x15, 4, 0x2c, 0, 0])
                .unwrap();
            let file = Positioned::new(ReadAt::nameless(path.reopen().unwrap()), 13);
            let mut header = Pages { file, column: "fen".into() }.get_read(0).unwrap();
            header.read(&mut [0; 1]).err().map(|error| error.to_string())
        };
        let reason = "a page of column `fen` has 134,217,729 bytes unpacked; the most is 134,217,728";
        assert_eq!([0x80, 0x82].map(refused), [None, Some(reason.to_string())]);
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
