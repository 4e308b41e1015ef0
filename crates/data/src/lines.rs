//! Large text files, parsed line by line on all threads, with the number of every line that is bad.
//!
//! In: a file of lines, packed or not, and a function that reads one line. Out: what the lines hold, in their order.

use std::io::BufRead;
use std::path::Path;

use rayon::prelude::*;

use patzer_io as io;
use patzer_io::error::{Error, Result};

/// Bytes of text that one thread parses at a time.
const BLOCK: usize = 1 << 18;

/// Blocks that are read before all threads parse them.
const BLOCKS: usize = 32;

/// A line that is not what it has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub number: u64,
    /// What is wrong.
    pub reason: String,
}

/// What happened to the lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Lines that were parsed; empty ones and comments are not counted.
    pub read: u64,
    /// Lines that were bad.
    pub bad: u64,
    /// The first of them.
    pub first_bad: Vec<BadLine>,
}

/// Bad lines that are named one by one.
const NAMED: usize = 5;

/// Parses every line that is neither empty nor a comment after `#`, and hands what it gives to `take`, in order.
///
/// # Errors
/// If the file cannot be read, `take` fails, or, with `strict`, at the first bad line.
pub fn each<T: Send>(
    path: &Path,
    strict: bool,
    parse: impl Fn(&[u8]) -> std::result::Result<T, String> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<Account> {
    let mut input = io::open(path)?;
    let (mut account, mut lines) = (Account::default(), 0u64);
    loop {
        let blocks = blocks(&mut input).map_err(|e| Error::io(path, e))?;
        if blocks.is_empty() {
            return Ok(account);
        }
        let parsed: Vec<Parsed<T>> = blocks.par_iter().map(|block| parse_block(block, &parse)).collect();
        for block in parsed {
            for (number, item) in block.items {
                account.read += 1;
                match item {
                    Ok(item) => take(item)?,
                    Err(reason) => {
                        let number = lines + number;
                        if strict {
                            return Err(Error::at(path, format!("line {number}"), reason));
                        }
                        account.bad += 1;
                        if account.first_bad.len() < NAMED {
                            account.first_bad.push(BadLine { number, reason });
                        }
                    }
                }
            }
            lines += block.lines;
        }
    }
}

/// What a block holds.
struct Parsed<T> {
    lines: u64,
    /// Numbers count from 1 at the block's start.
    items: Vec<(u64, std::result::Result<T, String>)>,
}

fn parse_block<T>(
    block: &[u8],
    parse: &(impl Fn(&[u8]) -> std::result::Result<T, String> + Sync),
) -> Parsed<T> {
    let mut parsed = Parsed { lines: 0, items: Vec::with_capacity(block.len() / 64) };
    let text = block.strip_suffix(b"\n").unwrap_or(block);
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        parsed.lines += 1;
        let line = text[from..end].trim_ascii();
        from = end + 1;
        if !line.is_empty() && line[0] != b'#' {
            parsed.items.push((parsed.lines, parse(line)));
        }
    }
    parsed
}

/// The next blocks of whole lines; none at the end of the input.
fn blocks(input: &mut impl BufRead) -> std::io::Result<Vec<Vec<u8>>> {
    let mut blocks = Vec::with_capacity(BLOCKS);
    while blocks.len() < BLOCKS {
        let mut block = Vec::with_capacity(BLOCK + 4096);
        std::io::Read::read_to_end(&mut std::io::Read::take(&mut *input, BLOCK as u64), &mut block)?;
        if block.is_empty() {
            break;
        }
        if !block.ends_with(b"\n") {
            input.read_until(b'\n', &mut block)?;
        }
        blocks.push(block);
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, strict: bool) -> (Result<Account>, Vec<u32>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, text).unwrap();
        let mut numbers = Vec::new();
        let parse = |line: &[u8]| {
            std::str::from_utf8(line).unwrap().parse::<u32>().map_err(|e| format!("not a number: {e}"))
        };
        let account = each(&path, strict, parse, |number| {
            numbers.push(number);
            Ok(())
        });
        (account, numbers)
    }

    #[test]
    fn bad_lines_are_counted_and_named_and_the_others_stay() {
        let (account, found) = numbers("1\n\n# a comment\nx\n2\r\n3", false);
        let account = account.unwrap();
        assert_eq!((found, account.read, account.bad), (vec![1, 2, 3], 4, 1));
        assert_eq!(account.first_bad[0].number, 4);
        let (stopped, found) = numbers("1\nx\n2\ny\n", true);
        assert_eq!(found, [1]);
        assert!(stopped.unwrap_err().to_string().contains("line 2: not a number"));
    }

    #[test]
    fn lines_keep_their_order_and_number_over_many_blocks() {
        let count = 200_000u32;
        let mut text: String = (0..count).map(|i| format!("{i}\n")).collect();
        text.push_str("end");
        let (account, found) = numbers(&text, false);
        assert!(found.into_iter().eq(0..count));
        assert_eq!(account.unwrap().first_bad[0].number, u64::from(count) + 1);
    }
}
