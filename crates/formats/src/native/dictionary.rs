//! Indices of dictionary pages, the default of most Parquet writers. Source: apache/parquet-format, `Encodings.md`.

use crate::native::rle::{Run, next_run};

/// Decodes the indices of a page: their width, then runs of them. `None` if the page ends early.
pub fn indices(bytes: &[u8], count: usize) -> Option<impl Iterator<Item = usize>> {
    let (&width, mut runs) = bytes.split_first()?;
    let width = usize::from(width);
    if width > 32 {
        return None;
    }
    let mut indices: Vec<u32> = Vec::new();
    while indices.len() < count {
        match next_run(&mut runs, width, count - indices.len())? {
            Run::Repeated(number, times) => {
                indices.resize(indices.len() + times, bits(number, 0, width) as u32);
            }
            Run::Packed(packed, times) => {
                indices.extend((0..times).map(|index| bits(packed, index * width, width) as u32));
            }
        }
    }
    Some(indices.into_iter().map(|index| index as usize))
}

/// The number of `width` bits, at most 32, at bit `first`.
pub fn bits(bytes: &[u8], first: usize, width: usize) -> usize {
    let mut word = [0; 8];
    for (to, from) in word.iter_mut().zip(&bytes[(first / 8).min(bytes.len())..]) {
        *to = *from;
    }
    (u64::from_le_bytes(word) >> (first % 8)) as usize & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(page: &[u8], count: usize) -> Option<Vec<usize>> {
        indices(page, count).map(Iterator::collect)
    }

    #[test]
    fn runs_and_packed_indices_are_decoded() {
        // Width 3: five times index 1; then, packed, 0 to 3 twice.
        let page = [3, 5 << 1, 1, 1 << 1 | 1, 0b1000_1000, 0b1000_0110, 0b0110_1000];
        assert_eq!(all(&page, 13).unwrap(), [1, 1, 1, 1, 1, 0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(all(&page, 2).unwrap(), [1, 1]);
        // A dictionary of one value: indices of no bits.
        assert_eq!(all(&[0, 3 << 1], 3).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn a_damaged_page_is_refused() {
        let page = [3, 5 << 1, 4];
        assert_eq!(all(&page, 6), None, "too few");
        assert_eq!(all(&[33, 2, 0], 1), None, "too wide");
        assert_eq!(all(&[], 1), None);
    }
}
