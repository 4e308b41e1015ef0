//! Pages that name their values by numbers in a dictionary, as most libraries write columns unless told otherwise.
//!
//! In: the bytes of such a page and the dictionary's. Out: the values one after another, as a plain page has them.
//! Source: the encodings of apache/parquet-format, `Encodings.md`.

use super::hybrid::{Run, next_run};

/// The values of a page: `bytes` are one byte that says how wide numbers are, and the numbers in the hybrid of runs and
/// packed bits. Values of the dictionary have `size` bytes each. `None` if the page ends early, or names a value that
/// the dictionary lacks.
pub fn values(bytes: &[u8], count: usize, dictionary: &[u8], size: usize) -> Option<Vec<u8>> {
    let (&width, mut runs) = bytes.split_first()?;
    let width = usize::from(width);
    if width > 32 {
        return None;
    }
    let value = |index: usize| dictionary.get(index.checked_mul(size)?..)?.get(..size);
    let mut values = Vec::new();
    let mut left = count;
    while left > 0 {
        left -= match next_run(&mut runs, width, left)? {
            Run::Same(number, times) => {
                let value = value(bits(number, 0, width))?;
                (0..times).for_each(|_| values.extend_from_slice(value));
                times
            }
            Run::Packed(packed, times) => {
                for index in 0..times {
                    values.extend_from_slice(value(bits(packed, index * width, width))?);
                }
                times
            }
        };
    }
    Some(values)
}

/// The number of this width, at most 32 bits, that begins at a bit.
fn bits(bytes: &[u8], first: usize, width: usize) -> usize {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(&bytes[(first / 8).min(bytes.len())..]) {
        *to = *from;
    }
    (u64::from_le_bytes(word) >> (first % 8)) as usize & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_numbers_stand_for_values() {
        let dictionary = b"aabbccdd";
        // Three bits wide: 5 times number 1; then, packed, 0 to 3 twice.
        let page = [3, 5 << 1, 1, 1 << 1 | 1, 0b1000_1000, 0b1000_0110, 0b0110_1000];
        assert_eq!(values(&page, 13, dictionary, 2).unwrap(), b"bbbbbbbbbbaabbccddaabbccdd");
        assert_eq!(values(&page, 2, dictionary, 2).unwrap(), b"bbbb");
        // Of one value alone, numbers need no bits.
        assert_eq!(values(&[0, 3 << 1], 3, b"xy", 2).unwrap(), b"xyxyxy");
    }

    #[test]
    fn what_is_missing_is_told() {
        let page = [3, 5 << 1, 4];
        assert_eq!(values(&page, 5, b"aabbccdd", 2), None, "no such value");
        assert_eq!(values(&page, 6, b"aabbccddee", 2), None, "too few");
        assert_eq!(values(&[33, 2, 0], 1, b"aa", 2), None, "too wide");
        assert_eq!(values(&[], 1, b"aa", 2), None);
    }
}
