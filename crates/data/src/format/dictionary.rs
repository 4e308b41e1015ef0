//! Decodes dictionary pages, the default of most Parquet writers. Source: apache/parquet-format, `Encodings.md`.

use super::rle::{Run, next_run};

/// Returns a page's values plainly encoded. `bytes` are the width of the indices and the indices in RLE; dictionary
/// values have `size` bytes. `None` if the page ends early or an index is out of range.
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
            Run::Repeated(number, times) => {
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

/// The number of `width` bits, at most 32, at bit `first`.
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
    fn runs_and_packed_indices_are_decoded() {
        let dictionary = b"aabbccdd";
        // Width 3: five times index 1; then, packed, 0 to 3 twice.
        let page = [3, 5 << 1, 1, 1 << 1 | 1, 0b1000_1000, 0b1000_0110, 0b0110_1000];
        assert_eq!(values(&page, 13, dictionary, 2).unwrap(), b"bbbbbbbbbbaabbccddaabbccdd");
        assert_eq!(values(&page, 2, dictionary, 2).unwrap(), b"bbbb");
        // A dictionary of one value: indices of no bits.
        assert_eq!(values(&[0, 3 << 1], 3, b"xy", 2).unwrap(), b"xyxyxy");
    }

    #[test]
    fn a_damaged_page_is_refused() {
        let page = [3, 5 << 1, 4];
        assert_eq!(values(&page, 5, b"aabbccdd", 2), None, "no such value");
        assert_eq!(values(&page, 6, b"aabbccddee", 2), None, "too few");
        assert_eq!(values(&[33, 2, 0], 1, b"aa", 2), None, "too wide");
        assert_eq!(values(&[], 1, b"aa", 2), None);
    }
}
