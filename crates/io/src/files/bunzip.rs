//! Parallel bzip2 decoder.
//!
//! Blocks of at most 900 kB are independent and begin, at any bit, with a 48-bit magic number. The stream is split at
//! these, and each block is decoded as a stream of its own, checksum included. If the magic occurs by chance within a
//! block, the first part does not decode, and is decoded again together with the next.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use rayon::prelude::*;

const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
const MAGIC_BITS: usize = 48;
const MAGIC: u64 = (1 << MAGIC_BITS) - 1;

const WINDOW: usize = 1 << 21;

/// Reader of the decoded text of bzip2 streams.
pub struct Blocks<R> {
    input: R,
    /// Compressed bytes from the first undecoded block on.
    packed: Vec<u8>,
    /// Bit positions of blocks (true) and stream ends (false) in `packed`.
    marks: Vec<(usize, bool)>,
    /// Bytes of `packed` searched for marks.
    searched: usize,
    last_bits: u64,
    ended: bool,
    /// Decoded blocks, and the bytes already read of the first.
    text: VecDeque<Vec<u8>>,
    taken: usize,
    error: Option<io::Error>,
}

impl<R: BufRead> Blocks<R> {
    pub fn new(input: R) -> Blocks<R> {
        Blocks {
            input,
            packed: Vec::new(),
            marks: Vec::new(),
            searched: 0,
            last_bits: 0,
            ended: false,
            text: VecDeque::new(),
            taken: 0,
            error: None,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        while self.text.is_empty() && self.error.is_none() && !(self.ended && self.marks.is_empty()) {
            let arrived = (&mut self.input).take(WINDOW as u64).read_to_end(&mut self.packed)?;
            self.ended = arrived < WINDOW;
            self.search();
            self.decode();
        }
        if self.text.is_empty() { self.error.take().map_or(Ok(()), Err) } else { Ok(()) }
    }

    fn search(&mut self) {
        for (index, byte) in self.packed.iter().enumerate().skip(self.searched) {
            self.last_bits = self.last_bits << 8 | u64::from(*byte);
            for after in (0..8).rev() {
                let bits = self.last_bits >> after & MAGIC;
                if bits == BLOCK || bits == END {
                    let end = 8 * (index + 1) - after;
                    if let Some(start) = end.checked_sub(MAGIC_BITS) {
                        self.marks.push((start, bits == BLOCK));
                    }
                }
            }
        }
        self.searched = self.packed.len();
    }

    /// Decodes every complete block and drops its compressed bytes.
    fn decode(&mut self) {
        let ends: Vec<usize> = self.marks.iter().skip(1).map(|mark| mark.0).collect();
        let jobs = self.marks.par_iter().zip(&ends).map(|(&(start, block), &end)| {
            if block { decode(&self.packed, start, end).map(Some) } else { Ok(None) }
        });
        let decoded: Vec<io::Result<Option<Vec<u8>>>> = jobs.collect();
        let (mut whole, mut decoded_to) = (ends.len(), 0);
        for (index, piece) in decoded.into_iter().enumerate() {
            let (start, _) = self.marks[index];
            match piece {
                _ if start < decoded_to => {}
                Ok(piece) => self.text.extend(piece),
                // Perhaps a magic number by chance: join the next part, which may not have arrived yet.
                Err(error) => match ends.get(index + 1).map(|&end| (end, decode(&self.packed, start, end))) {
                    Some((end, Ok(piece))) => {
                        self.text.push_back(piece);
                        decoded_to = end;
                    }
                    None if !self.ended => whole = index,
                    _ => return self.stop(Some(error)),
                },
            }
        }
        if self.ended {
            let total = 8 * self.packed.len();
            let complete = self.marks.last().is_some_and(|&(start, block)| !block && start + 80 <= total);
            return self.stop((!complete).then(|| io::ErrorKind::UnexpectedEof.into()));
        }
        if whole > 0 {
            let done = self.marks[whole].0 / 8;
            self.marks.drain(..whole);
            self.marks.iter_mut().for_each(|mark| mark.0 -= 8 * done);
            self.packed.drain(..done);
            self.searched -= done;
        }
    }

    fn stop(&mut self, error: Option<io::Error>) {
        self.error = error;
        self.ended = true;
        self.marks.clear();
    }
}

fn decode(packed: &[u8], start: usize, end: usize) -> io::Result<Vec<u8>> {
    let byte = |at: usize| u64::from(packed.get(at).copied().unwrap_or(0));
    let shift = start % 8;
    let aligned = |at: usize| ((byte(at) << 8 | byte(at + 1)) >> (8 - shift)) as u8;
    let first = start / 8;
    let bits = end - start;
    let mut stream = b"BZh9".to_vec();
    stream.extend((0..bits / 8).map(|at| aligned(first + at)));
    // The checksum of a stream with one block is the block's, which follows the magic.
    let checksum = (6..10).fold(0u128, |sum, at| sum << 8 | u128::from(aligned(first + at)));
    let rest = bits % 8;
    let tail = u128::from(aligned(first + bits / 8)) >> (8 - rest);
    let tail = (tail << MAGIC_BITS | u128::from(END)) << 32 | checksum;
    let tail = tail << (128 - (rest + MAGIC_BITS + 32));
    stream.extend(&tail.to_be_bytes()[..11]);
    let mut text = Vec::new();
    BzDecoder::new(&stream[..]).read_to_end(&mut text)?;
    Ok(text)
}

impl<R: BufRead> BufRead for Blocks<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.text.front().is_some_and(|piece| self.taken >= piece.len()) {
            self.text.pop_front();
            self.taken = 0;
        }
        if self.text.is_empty() {
            self.refill()?;
        }
        Ok(self.text.front().map_or(&[], |piece| &piece[self.taken..]))
    }

    fn consume(&mut self, length: usize) {
        self.taken += length;
    }
}

impl<R: BufRead> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bzip2::{Compression, read::BzEncoder};

    /// Several blocks of text; level 1 makes blocks of 100 kB.
    fn text() -> Vec<u8> {
        let mut rng = patzer_chess::rng::Rng::new(11);
        let word = |n: u64| format!("{:x} ", n % 5000);
        (0..150_000).flat_map(|_| word(rng.next_u64()).into_bytes()).collect()
    }

    fn packed(text: &[u8], level: u32) -> Vec<u8> {
        let mut packed = Vec::new();
        BzEncoder::new(text, Compression::new(level)).read_to_end(&mut packed).unwrap();
        packed
    }

    fn decompress(packed: &[u8]) -> (Vec<u8>, Option<io::ErrorKind>) {
        let mut text = Vec::new();
        let outcome = Blocks::new(packed).read_to_end(&mut text);
        (text, outcome.err().map(|e| e.kind()))
    }

    #[test]
    fn blocks_and_streams_are_joined_in_order() {
        let text = text();
        for level in [1, 9] {
            let one = packed(&text, level);
            assert!(decompress(&one) == (text.clone(), None));
            let several = [&one[..], &packed(b"", 1), &packed(b"end", 9), b"rubbish"].concat();
            assert!(decompress(&several) == ([&text[..], b"end"].concat(), None));
        }
        assert_eq!(decompress(&packed(b"", 9)), (Vec::new(), None));
    }

    #[test]
    fn text_before_damage_is_read() {
        let text = text();
        let one = packed(&text, 1);
        let (half, error) = decompress(&one[..one.len() / 2]);
        assert_eq!(error, Some(io::ErrorKind::UnexpectedEof));
        assert!(half.len() > text.len() / 4 && text.starts_with(&half));
        let mut damaged = one.clone();
        damaged[one.len() / 2] ^= 1;
        let (half, error) = decompress(&damaged);
        assert!(error.is_some());
        assert!(half.len() > text.len() / 4 && text.starts_with(&half));
        for end in [one.len() - 1, one.len() - 8, 20, 4] {
            assert_eq!(decompress(&one[..end]).1, Some(io::ErrorKind::UnexpectedEof), "{end}");
        }
    }

    #[test]
    fn a_magic_number_by_chance_is_tolerated() {
        let text = text();
        let mut blocks = Blocks::new(&[][..]);
        blocks.packed = packed(&text, 1);
        blocks.ended = true;
        blocks.search();
        // Simulates a magic number within the second block.
        let (second, third) = (blocks.marks[1].0, blocks.marks[2].0);
        blocks.marks.insert(2, ((second + third) / 2, true));
        blocks.decode();
        assert!(blocks.error.is_none());
        assert!(blocks.text.into_iter().flatten().collect::<Vec<u8>>() == text);
    }
}
