//! Parallel bzip2 decoder.
//!
//! Blocks of at most 900 kB are independent and begin, at any bit, with a 48-bit magic number. The stream is split at
//! these, and each block is decoded as a stream of its own, checksum included. If the magic occurs by chance within a
//! block, the first part does not decode, and is decoded again together with the next. A stream ends with the combined
//! checksum of its blocks; then comes the head of the next stream, or the end of the file.
//!
//! Runs of equal bytes let 40 bytes expand to 46 MB, so only [`AT_ONCE`] blocks are decoded ahead, and one of more than
//! [`AHEAD`] bytes is decoded as it is read.

use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read};

use bzip2::bufread::BzDecoder;
use rayon::prelude::*;

const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
const MAGIC_BITS: usize = 48;
const MAGIC: u64 = (1 << MAGIC_BITS) - 1;
const CHECKSUM_BITS: usize = 32;

/// Head of a stream in bytes: `BZh1` to `BZh9`.
const HEAD: usize = 4;

const WINDOW: usize = 1 << 21;

/// Compressed bytes without a whole block; 900,000 symbols of at most 20 bits take 2.25 MB.
const LONGEST_BLOCK: usize = 2 * WINDOW;

/// Blocks decoded at once.
const AT_ONCE: usize = 32;

/// Longest text of a block in bytes that is decoded ahead of its reader.
const AHEAD: u64 = 1 << 21;

const BUFFER: usize = 1 << 18;

/// Reader of the decoded text of bzip2 streams.
pub struct Blocks<R> {
    input: R,
    /// Compressed bytes from the first undecoded block on.
    packed: Vec<u8>,
    /// Bit positions of blocks (true) and stream ends (false) in `packed`.
    marks: Vec<(usize, bool)>,
    /// Index of the first mark whose block is not decoded.
    next: usize,
    /// Bytes of `packed` searched for marks.
    searched: usize,
    last_bits: u64,
    /// Combined checksum of the decoded blocks of this stream.
    checksum: u32,
    /// No more bytes to read, and no more blocks to decode.
    ended: bool,
    stopped: bool,
    pieces: VecDeque<Piece>,
    /// Text to read next, and its bytes that were read already.
    text: Vec<u8>,
    taken: usize,
    /// Decodes what follows `text`.
    long: Option<BzDecoder<Cursor<Vec<u8>>>>,
    error: Option<io::Error>,
}

enum Piece {
    Text(Vec<u8>),
    /// The block as a stream of its own, not yet decoded.
    Long(Vec<u8>),
}

impl<R: BufRead> Blocks<R> {
    pub fn new(input: R) -> Blocks<R> {
        Blocks {
            input,
            packed: Vec::new(),
            marks: Vec::new(),
            next: 0,
            searched: 0,
            last_bits: 0,
            checksum: 0,
            ended: false,
            stopped: false,
            pieces: VecDeque::new(),
            text: Vec::new(),
            taken: 0,
            long: None,
            error: None,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        while self.pieces.is_empty() && !self.stopped {
            let before = self.next;
            if self.next + 1 < self.marks.len() {
                self.decode();
            }
            if self.pieces.is_empty() && !self.stopped && self.next == before {
                self.read_window()?;
            }
        }
        if self.pieces.is_empty() { self.error.take().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Drops the compressed bytes of decoded blocks and reads more; checks at the end that the stream is complete.
    fn read_window(&mut self) -> io::Result<()> {
        if self.ended {
            let outcome = match self.marks.last() {
                Some(&(start, false)) => self.end_stream(start, None),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            };
            self.stop(outcome.err());
            return Ok(());
        }
        if let Some(&(start, _)) = self.marks.get(self.next) {
            let done = start / 8;
            self.marks.drain(..self.next);
            self.marks.iter_mut().for_each(|mark| mark.0 -= 8 * done);
            self.packed.drain(..done);
            self.searched -= done;
            self.next = 0;
        }
        if self.packed.len() > LONGEST_BLOCK {
            let reason = "no bzip2 block ends within 4 MiB";
            self.stop(Some(io::Error::new(io::ErrorKind::InvalidData, reason)));
            return Ok(());
        }
        let arrived = (&mut self.input).take(WINDOW as u64).read_to_end(&mut self.packed)?;
        self.ended = arrived < WINDOW;
        self.search();
        Ok(())
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

    /// Decodes the next complete blocks.
    fn decode(&mut self) {
        let first = self.next;
        let at_once = AT_ONCE.max(2 * rayon::current_num_threads()).min(self.marks.len() - first - 1);
        let jobs = self.marks[first..first + at_once + 1].par_windows(2).map(|pair| match pair {
            &[(start, true), (end, _)] => decode(&self.packed, start, end).map(Some),
            _ => Ok(None),
        });
        let decoded: Vec<io::Result<Option<Piece>>> = jobs.collect();
        for (index, piece) in (first..).zip(decoded) {
            let start = self.marks[index].0;
            match piece {
                _ if index < self.next => {}
                Ok(Some(piece)) => {
                    self.push(piece, start);
                    self.next = index + 1;
                }
                Ok(None) => match self.end_stream(start, Some(self.marks[index + 1].0)) {
                    Ok(()) => self.next = index + 1,
                    Err(error) => return self.stop(Some(error)),
                },
                // Perhaps a magic number by chance: join the next part, which may not have arrived yet.
                Err(error) => {
                    match self.marks.get(index + 2).map(|&(end, _)| decode(&self.packed, start, end)) {
                        Some(Ok(piece)) => {
                            self.push(piece, start);
                            self.next = index + 2;
                        }
                        None if !self.ended => return,
                        _ => return self.stop(Some(error)),
                    }
                }
            }
        }
    }

    fn push(&mut self, piece: Piece, start: usize) {
        self.checksum =
            self.checksum.rotate_left(1) ^ bits(&self.packed, start + MAGIC_BITS, CHECKSUM_BITS) as u32;
        self.pieces.push_back(piece);
    }

    /// Compares the checksum of a stream that ends at bit `start`, and checks that nothing but the head of another
    /// stream lies between it and the mark at bit `next`, or the end of the file.
    fn end_stream(&mut self, start: usize, next: Option<usize>) -> io::Result<()> {
        let checksum = start + MAGIC_BITS;
        let end = (checksum + CHECKSUM_BITS).div_ceil(8);
        if end > self.packed.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let damaged = |reason| io::Error::new(io::ErrorKind::InvalidData, reason);
        if bits(&self.packed, checksum, CHECKSUM_BITS) != u64::from(std::mem::take(&mut self.checksum)) {
            return Err(damaged("the checksum of a bzip2 stream differs"));
        }
        match (&self.packed[end..], next) {
            ([], None) => Ok(()),
            ([b'B', b'Z', b'h', b'1'..=b'9', ..], Some(next)) if next == 8 * (end + HEAD) => Ok(()),
            ([b'B'] | [b'B', b'Z'] | [b'B', b'Z', b'h', ..], None) => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            _ => Err(damaged("bytes that are no bzip2 stream follow one")),
        }
    }

    fn stop(&mut self, error: Option<io::Error>) {
        self.error = error;
        self.stopped = true;
    }
}

/// At most 56 bits from bit `start` on, 0 beyond the end.
fn bits(packed: &[u8], start: usize, count: usize) -> u64 {
    let byte = |at: usize| u64::from(packed.get(at).copied().unwrap_or(0));
    let word = (start / 8..start / 8 + 8).fold(0, |word, at| word << 8 | byte(at));
    word << (start % 8) >> (64 - count)
}

fn decode(packed: &[u8], start: usize, end: usize) -> io::Result<Piece> {
    let byte = |at: usize| u64::from(packed.get(at).copied().unwrap_or(0));
    let shift = start % 8;
    let aligned = |at: usize| ((byte(at) << 8 | byte(at + 1)) >> (8 - shift)) as u8;
    let first = start / 8;
    let length = end - start;
    let mut stream = b"BZh9".to_vec();
    stream.extend((0..length / 8).map(|at| aligned(first + at)));
    // The checksum of a stream with one block is the block's, which follows the magic.
    let checksum = u128::from(bits(packed, start + MAGIC_BITS, CHECKSUM_BITS));
    let rest = length % 8;
    let tail = u128::from(aligned(first + length / 8)) >> (8 - rest);
    let tail = (tail << MAGIC_BITS | u128::from(END)) << 32 | checksum;
    let tail = tail << (128 - (rest + MAGIC_BITS + 32));
    stream.extend(&tail.to_be_bytes()[..11]);
    let mut text = Vec::new();
    BzDecoder::new(&stream[..]).take(AHEAD + 1).read_to_end(&mut text)?;
    Ok(if text.len() as u64 > AHEAD { Piece::Long(stream) } else { Piece::Text(text) })
}

impl<R: BufRead> BufRead for Blocks<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken >= self.text.len() {
            self.taken = 0;
            if let Some(decoder) = &mut self.long {
                self.text.resize(BUFFER, 0);
                let length = decoder.read(&mut self.text);
                self.text.truncate(*length.as_ref().unwrap_or(&0));
                let length = length.inspect_err(|_| {
                    self.long = None;
                    self.pieces.clear();
                    self.stopped = true;
                })?;
                if length > 0 {
                    break;
                }
                self.long = None;
            }
            if self.pieces.is_empty() {
                self.text.clear();
                self.refill()?;
            }
            match self.pieces.pop_front() {
                Some(Piece::Text(text)) => self.text = text,
                Some(Piece::Long(stream)) => self.long = Some(BzDecoder::new(Cursor::new(stream))),
                None => break,
            }
        }
        Ok(&self.text[self.taken..])
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
            let several = [&one[..], &packed(b"", 1), &packed(b"end", 9)].concat();
            assert!(decompress(&several) == ([&text[..], b"end"].concat(), None));
            let (all, error) = decompress(&[&several[..], b"rubbish"].concat());
            assert!(all == [&text[..], b"end"].concat() && error == Some(io::ErrorKind::InvalidData));
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
    fn every_flipped_bit_and_every_cut_of_two_streams_is_noticed() {
        let text = b"1. e4 e5 2. Nf3 Nc6 ".repeat(4);
        let whole = [packed(&text, 9), packed(&text, 1)].concat();
        let expected = text.repeat(2);
        // The bits in front decide whether a file is read as bzip2 at all.
        let recognised = HEAD + MAGIC_BITS / 8;
        for bit in 8 * recognised..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
            let (read, error) = decompress(&flipped);
            assert!(error.is_some() || read == expected, "bit {bit}");
        }
        let first = packed(&text, 9).len();
        for cut in (recognised..whole.len()).filter(|cut| *cut != first) {
            assert!(decompress(&whole[..cut]).1.is_some(), "{cut} bytes");
        }
        let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(decompress(&[&whole[..], &gzip].concat()).1.is_some());
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
        let mut decoded = Vec::new();
        blocks.read_to_end(&mut decoded).unwrap();
        assert!(decoded == text);
    }

    #[test]
    fn a_bomb_is_decoded_as_it_is_read() {
        let stream = packed(&vec![b' '; 40 << 20], 9);
        let bomb = stream.repeat(4);
        assert!(bomb.len() < 400);
        let mut blocks = Blocks::new(&bomb[..]);
        let (mut length, mut most) = (0, 0);
        loop {
            let arrived = blocks.fill_buf().unwrap().len();
            let held = blocks.pieces.iter().map(|piece| match piece {
                Piece::Text(bytes) | Piece::Long(bytes) => bytes.len(),
            });
            most = most.max(held.sum::<usize>() + blocks.text.len());
            length += arrived;
            if arrived == 0 {
                break;
            }
            blocks.consume(arrived);
        }
        assert_eq!(length, 4 * (40 << 20));
        assert!(most <= 2 * BUFFER, "{most} bytes");
        // The checksum of the second block.
        let mut damaged = bomb.clone();
        damaged[stream.len() + 10] ^= 1;
        let (text, error) = decompress(&damaged);
        assert!(error.is_some());
        assert!((79 << 20..=80 << 20).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn bytes_without_blocks_end_the_stream() {
        let mut endless = packed(b"text", 9);
        endless.truncate(20);
        let mut blocks = Blocks::new(io::BufReader::new(io::Cursor::new(endless).chain(io::repeat(b'A'))));
        let error = blocks.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(blocks.packed.len() <= LONGEST_BLOCK + WINDOW);
    }
}
