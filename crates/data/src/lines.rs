//! Large text files parsed line by line on all threads, in order.

use std::fmt::Display;
use std::io::BufRead;
use std::path::Path;

use rayon::prelude::*;

use patzer_io as io;
use patzer_io::error::{Error, Result};

const BLOCK: usize = 1 << 18;

const BLOCKS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    pub number: u64,
    pub reason: String,
}

/// Lines parsed and malformed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Number of lines read, without empty lines and comments.
    pub read: u64,
    pub bad: u64,
    pub first_bad: Vec<BadLine>,
}

const NAMED: usize = 5;

/// Parses every line that is neither empty nor a `#` comment and passes the result to `take`, in order.
/// Counts malformed lines; with `strict` fails at the first.
pub fn each<T: Send, E: Display + Send>(
    path: &Path,
    strict: bool,
    parse: impl Fn(&[u8]) -> std::result::Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<LineCounts> {
    each_numbered(path, strict, parse, |_, item| take(item))
}

/// [`each`] with the number of the line, from 1.
pub fn each_numbered<T: Send, E: Display + Send>(
    path: &Path,
    strict: bool,
    parse: impl Fn(&[u8]) -> std::result::Result<T, E> + Sync,
    mut take: impl FnMut(u64, T) -> Result<()>,
) -> Result<LineCounts> {
    let mut input = io::open(path)?;
    let (mut counts, mut lines) = (LineCounts::default(), 0u64);
    loop {
        let blocks = blocks(&mut input, lines).map_err(|e| Error::io(path, e))?;
        if blocks.is_empty() {
            return Ok(counts);
        }
        let parsed: Vec<Parsed<T, E>> = blocks
            .par_iter()
            .enumerate()
            .map(|(index, block)| match (lines, index) {
                (0, 0) => parse_block(io::without_byte_order_mark(block), &parse),
                _ => parse_block(block, &parse),
            })
            .collect();
        for block in parsed {
            for (number, item) in block.items {
                counts.read += 1;
                match item {
                    Ok(item) => take(lines + number, item)?,
                    Err(reason) => {
                        let number = lines + number;
                        if strict {
                            return Err(Error::at(path, format!("line {number}"), reason.to_string()));
                        }
                        counts.bad += 1;
                        if counts.first_bad.len() < NAMED {
                            counts.first_bad.push(BadLine { number, reason: reason.to_string() });
                        }
                    }
                }
            }
            lines += block.lines;
        }
    }
}

struct Parsed<T, E> {
    lines: u64,
    /// Items or errors by line number, from 1 at the start of the block.
    items: Vec<(u64, std::result::Result<T, E>)>,
}

fn parse_block<T, E>(
    block: &[u8],
    parse: &(impl Fn(&[u8]) -> std::result::Result<T, E> + Sync),
) -> Parsed<T, E> {
    let mut parsed = Parsed { lines: 0, items: Vec::with_capacity(block.len() / 64) };
    let text = block.strip_suffix(b"\n").unwrap_or(block);
    let mut from = 0;
    while from <= text.len() {
        let empty = text[from..].iter().take_while(|&&byte| byte == b'\n').count();
        from += empty;
        parsed.lines += empty as u64 + 1;
        let end = memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |length| from + length);
        let line = text[from..end].trim_ascii();
        from = end + 1;
        if !line.is_empty() && line[0] != b'#' {
            parsed.items.push((parsed.lines, parse(line)));
        }
    }
    parsed
}

/// Reads whole lines, the first of which follows line `lines`.
fn blocks(input: &mut impl BufRead, lines: u64) -> std::io::Result<Vec<Vec<u8>>> {
    let mut blocks = Vec::with_capacity(BLOCKS);
    while blocks.len() < BLOCKS {
        let mut block = Vec::with_capacity(BLOCK + 4096);
        std::io::Read::read_to_end(&mut std::io::Read::take(&mut *input, BLOCK as u64), &mut block)?;
        if block.is_empty() {
            break;
        }
        if !block.ends_with(b"\n") {
            let rest = std::io::Read::take(&mut *input, io::LONGEST_LINE).read_until(b'\n', &mut block)?;
            if rest as u64 == io::LONGEST_LINE && !block.ends_with(b"\n") {
                blocks.push(block);
                let ends = |block: &Vec<u8>| memchr::memchr_iter(b'\n', block).count() as u64;
                let number = lines + blocks.iter().map(ends).sum::<u64>() + 1;
                let reason = format!("line {number} is longer than 65,536 bytes");
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, reason));
            }
        }
        blocks.push(block);
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, strict: bool) -> (Result<LineCounts>, Vec<u32>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, text).unwrap();
        let mut numbers = Vec::new();
        let parse = |line: &[u8]| {
            std::str::from_utf8(line).unwrap().parse::<u32>().map_err(|e| format!("not a number: {e}"))
        };
        let counts = each(&path, strict, parse, |number| {
            numbers.push(number);
            Ok(())
        });
        (counts, numbers)
    }

    #[test]
    fn bad_lines_are_counted_and_named_and_the_others_stay() {
        for (text, line) in [("\u{feff}1\n\n# a comment\nx\n2\r\n3", 4), ("\n\n\n1\n2\n\n\nx\n\n3\n\n\n", 8)]
        {
            let (counts, found) = numbers(text, false);
            let counts = counts.unwrap();
            assert_eq!((found, counts.read, counts.bad), (vec![1, 2, 3], 4, 1));
            assert_eq!(counts.first_bad[0].number, line);
        }
        let (stopped, found) = numbers("1\nx\n2\ny\n", true);
        assert_eq!(found, [1]);
        assert!(stopped.unwrap_err().to_string().contains("line 2: not a number"));
    }

    #[test]
    fn an_endless_line_is_an_error() {
        let (counts, found) = numbers(&format!("1\n2\n{}", "9".repeat(2 * BLOCK)), false);
        assert!(counts.unwrap_err().to_string().ends_with("line 3 is longer than 65,536 bytes"));
        assert!(found.is_empty());
    }

    #[test]
    fn lines_keep_their_order_and_number_over_many_blocks() {
        let count = 200_000u32;
        let mut text: String = (0..count).map(|i| format!("{i}\n")).collect();
        text.push_str("end");
        let (counts, found) = numbers(&text, false);
        assert!(found.into_iter().eq(0..count));
        assert_eq!(counts.unwrap().first_bad[0].number, u64::from(count) + 1);
    }
}
