//! Bit streams, highest bit first.

/// Bytes after a [`BitReader`]'s data, so that eight can be read at once anywhere.
pub const PADDING: usize = 8;

pub struct BitReader<'a> {
    bytes: &'a [u8],
    bit: usize,
    end: usize,
}

impl<'a> BitReader<'a> {
    /// The last [`PADDING`] bytes are no data.
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, bit: 0, end: 8 * bytes.len().saturating_sub(PADDING) }
    }

    /// At least 57 next bits, left-aligned.
    #[inline]
    fn window(&self) -> Option<u64> {
        let bytes = self.bytes.get(self.bit / 8..)?.first_chunk::<8>()?;
        Some(u64::from_be_bytes(*bytes) << (self.bit % 8))
    }

    /// Reads up to 8 bits; `None` at the end.
    #[inline]
    pub fn take(&mut self, count: u32) -> Option<u8> {
        let window = self.window()?;
        self.bit += count as usize;
        // Two shifts, because a count of 0 would shift by 64.
        (self.bit <= self.end).then_some((window >> 1 >> (63 - count)) as u8)
    }

    /// Reads a number in blocks of 4 bits, lowest first, each after a bit that announces another block.
    #[inline]
    pub fn take_blocks(&mut self) -> Option<u16> {
        let mut window = self.window()?;
        let mut value = 0;
        for shift in (0..16).step_by(4) {
            let block = (window >> 59) as u16;
            window <<= 5;
            self.bit += 5;
            value |= (block & 15) << shift;
            if block & 16 == 0 {
                return (self.bit <= self.end).then_some(value);
            }
        }
        None
    }

    /// Number of bytes read from, including a partial one.
    pub fn bytes(&self) -> usize {
        self.bit.div_ceil(8)
    }
}

#[derive(Default)]
pub struct BitWriter {
    pub bytes: Vec<u8>,
    free: u32,
}

impl BitWriter {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.free = 0;
    }

    /// Appends the lowest `count` bits, at most 8.
    pub fn put(&mut self, value: u8, count: u32) {
        if count > self.free {
            self.bytes.push(0);
            self.free += 8;
        }
        self.free -= count;
        let window = u16::from(value) << self.free;
        if let [.., before, last] = &mut self.bytes[..] {
            *before |= (window >> 8) as u8;
            *last |= window as u8;
        } else if let [last] = &mut self.bytes[..] {
            *last |= window as u8;
        }
    }

    /// Appends a number in blocks of 4 bits; see [`BitReader::take_blocks`].
    pub fn put_blocks(&mut self, mut value: u16) {
        loop {
            let more = value > 15;
            self.put((value & 15) as u8 | if more { 16 } else { 0 }, 5);
            value >>= 4;
            if !more {
                return;
            }
        }
    }
}

/// Zigzag-like code of a score: sign in the lowest bit.
pub fn folded(value: i16) -> u16 {
    let bits = value as u16;
    (if bits & 0x8000 != 0 { bits ^ 0x7fff } else { bits }).rotate_left(1)
}

/// Inverse of [`folded`].
#[inline]
pub fn unfolded(value: u16) -> i16 {
    let bits = value.rotate_right(1);
    (if bits & 0x8000 != 0 { bits ^ 0x7fff } else { bits }) as i16
}

#[inline]
pub fn width(count: u32) -> u32 {
    count.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bits_are_read_back() {
        let mut writer = BitWriter::default();
        for i in 0..200u16 {
            writer.put((i % 8) as u8, 3);
            writer.put(0, 0);
            writer.put_blocks(i * 327);
            writer.put((i % 256) as u8, 8);
        }
        let length = writer.bytes.len();
        writer.bytes.extend_from_slice(&[0xff; PADDING]);
        let mut reader = BitReader::new(&writer.bytes);
        for i in 0..200u16 {
            assert_eq!(reader.take(3), Some((i % 8) as u8));
            assert_eq!(reader.take(0), Some(0));
            assert_eq!(reader.take_blocks(), Some(i * 327));
            assert_eq!(reader.take(8), Some((i % 256) as u8));
        }
        assert_eq!(reader.bytes(), length);
        assert_eq!(reader.take(8), None);
    }

    /// Values from the tests of the crate `sfbinpack`.
    #[test]
    fn numbers_fold_as_in_stockfish() {
        for (value, bits) in [(-32705, 65409), (12, 24), (0, 0), (-1, 1), (1, 2), (-2, 3)] {
            assert_eq!((folded(value), unfolded(bits)), (bits, value));
        }
        for (count, bits) in [(0, 0), (1, 0), (2, 1), (3, 2), (7, 3), (8, 3), (9, 4), (255, 8)] {
            assert_eq!(width(count), bits, "{count}");
        }
    }
}
