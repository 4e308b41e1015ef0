//! Parquet's delta encoding of integers (DELTA_BINARY_PACKED): a first value, then blocks of bit-packed differences.
//!
//! Source: apache/parquet-format, `Encodings.md`.

use crate::native::dictionary::bits;
use crate::native::rle::take_varint;

/// Number of integers by the bytes' header.
pub fn count(mut bytes: &[u8]) -> Option<usize> {
    header(&mut bytes).map(|[.., count]| count)
}

/// Takes the integers of a block, its miniblocks, and the number of integers.
fn header(bytes: &mut &[u8]) -> Option<[usize; 3]> {
    let mut next = || usize::try_from(take_varint(bytes)?).ok();
    Some([next()?, next()?, next()?])
}

/// Decodes at most `most` integers of 64 bits and takes their bytes; `None` if they end early. Integers of 32 bits wrap
/// around at 2^32, so the caller truncates them.
pub fn integers(bytes: &mut &[u8], most: usize) -> Option<Vec<i64>> {
    let [block, miniblocks, count] = header(bytes)?;
    if count > most {
        return None;
    }
    let mut value = zigzag(take_varint(bytes)?);
    if miniblocks == 0 || block % miniblocks != 0 || block / miniblocks % 32 != 0 || block / miniblocks == 0 {
        return None;
    }
    let each = block / miniblocks;
    let mut values = Vec::with_capacity(count.min(1 << 20));
    if count > 0 {
        values.push(value);
    }
    while values.len() < count {
        let least = zigzag(take_varint(bytes)?);
        let (widths, rest) = bytes.split_at_checked(miniblocks)?;
        *bytes = rest;
        for &width in widths {
            // Miniblocks without values have no bytes, whatever their width.
            if values.len() == count {
                break;
            }
            let width = usize::from(width);
            let (packed, rest) = bytes.split_at_checked(each.checked_mul(width)?.div_ceil(8))?;
            *bytes = rest;
            if width > 64 {
                return None;
            }
            for index in 0..each.min(count - values.len()) {
                value = value.wrapping_add(least).wrapping_add(wide(packed, index * width, width) as i64);
                values.push(value);
            }
        }
    }
    Some(values)
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The number of `width` bits, at most 64, at bit `first`.
fn wide(bytes: &[u8], first: usize, width: usize) -> u64 {
    let low = bits(bytes, first, width.min(32)) as u64;
    if width > 32 { low | (bits(bytes, first + 32, width - 32) as u64) << 32 } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification: 1 to 5, and 7 5 3 1 2 3 4 5.
    #[test]
    fn the_examples_of_the_specification_are_decoded() {
        let mut page: &[u8] = &[0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0, 9];
        assert_eq!(integers(&mut page, 5).unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(page, [9]);
        // Differences -2 -2 -2 1 1 1 1: the least is -2, the rest 0 0 0 3 3 3 3 in two bits.
        let packed = [0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let mut page: &[u8] = &[&[0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0][..], &packed].concat();
        assert_eq!(integers(&mut page, 8).unwrap(), [7, 5, 3, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_damaged_page_is_refused() {
        for page in [
            &[0x80, 1, 4, 5, 2][..],
            &[0x80, 1, 0, 5, 2, 2],
            &[3, 1, 5, 2, 2, 0],
            &[0x80, 1, 4, 5, 2, 2, 8, 0, 0, 0, 1],
        ] {
            assert_eq!(integers(&mut &*page, 5), None, "{page:?}");
        }
        assert_eq!(integers(&mut &[0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0][..], 4), None, "more than the page has");
    }
}
