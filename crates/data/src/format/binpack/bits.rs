//! Numbers of a few bits, one after another, highest bit first.

/// Bytes that must follow those of a [`Taker`], so that eight can be read at once anywhere.
pub const PADDING: usize = 8;

/// Takes numbers from bytes.
pub struct Taker<'a> {
    bytes: &'a [u8],
    bit: usize,
    /// Where the numbers end.
    end: usize,
}

impl<'a> Taker<'a> {
    /// Takes from all bytes but the last [`PADDING`].
    pub fn new(bytes: &'a [u8]) -> Taker<'a> {
        Taker { bytes, bit: 0, end: 8 * bytes.len().saturating_sub(PADDING) }
    }

    /// The next bits at the top of a number, at least 57 of them.
    #[inline]
    fn window(&self) -> Option<u64> {
        let bytes = self.bytes.get(self.bit / 8..)?.first_chunk::<8>()?;
        Some(u64::from_be_bytes(*bytes) << (self.bit % 8))
    }

    /// A number of up to 8 bits; `None` where the bytes end.
    #[inline]
    pub fn take(&mut self, count: u32) -> Option<u8> {
        let window = self.window()?;
        self.bit += count as usize;
        // In two steps, because a count of 0 shifts all 64 out.
        (self.bit <= self.end).then_some((window >> 1 >> (63 - count)) as u8)
    }

    /// A number in blocks of 4 bits, the lowest first, each with a bit before it that says whether one more follows.
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

    /// How many bytes have been begun.
    pub fn bytes(&self) -> usize {
        self.bit.div_ceil(8)
    }
}

/// Puts numbers into bytes.
#[derive(Default)]
pub struct Putter {
    pub bytes: Vec<u8>,
    /// Bits that are free in the last byte.
    free: u32,
}

impl Putter {
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

    /// Appends a number in blocks of 4 bits.
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

/// A signed number as an unsigned one that is small where the number is small: the sign in the lowest bit.
pub fn folded(value: i16) -> u16 {
    let bits = value as u16;
    (if bits & 0x8000 != 0 { bits ^ 0x7fff } else { bits }).rotate_left(1)
}

/// The way back from [`folded`].
#[inline]
pub fn unfolded(value: u16) -> i16 {
    let bits = value.rotate_right(1);
    (if bits & 0x8000 != 0 { bits ^ 0x7fff } else { bits }) as i16
}

/// The bits that a number below `count` takes.
#[inline]
pub fn width(count: u32) -> u32 {
    count.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let mut putter = Putter::default();
        for i in 0..200u16 {
            putter.put((i % 8) as u8, 3);
            putter.put(0, 0);
            putter.put_blocks(i * 327);
            putter.put((i % 256) as u8, 8);
        }
        let length = putter.bytes.len();
        putter.bytes.extend_from_slice(&[0xff; PADDING]);
        let mut taker = Taker::new(&putter.bytes);
        for i in 0..200u16 {
            assert_eq!(taker.take(3), Some((i % 8) as u8));
            assert_eq!(taker.take(0), Some(0));
            assert_eq!(taker.take_blocks(), Some(i * 327));
            assert_eq!(taker.take(8), Some((i % 256) as u8));
        }
        assert_eq!(taker.bytes(), length);
        assert_eq!(taker.take(8), None);
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
