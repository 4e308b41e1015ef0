//! Signed LEB128 as Stockfish's files have it: a word, the number of bytes, the numbers.

/// The word before compressed numbers.
pub const MAGIC: &[u8] = b"COMPRESSED_LEB128";

/// Decodes as many numbers from bytes that hold nothing else; `None` for other bytes or a number that `of` refuses.
pub fn read<N>(bytes: &[u8], count: usize, of: impl Fn(i32) -> Option<N>) -> Option<Vec<N>> {
    let mut numbers = Vec::with_capacity(count.min(bytes.len()));
    let (mut value, mut shift) = (0i64, 0);
    for &byte in bytes {
        if shift > 28 {
            return None;
        }
        value |= i64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            let signed = if byte & 0x40 == 0 { value } else { value - (1 << shift) };
            numbers.push(of(signed.try_into().ok()?)?);
            (value, shift) = (0, 0);
        }
    }
    (numbers.len() == count && shift == 0).then_some(numbers)
}

/// Appends the word, the number of bytes and the numbers.
pub fn write(bytes: &mut Vec<u8>, numbers: &[i32]) {
    bytes.extend(MAGIC);
    let length = bytes.len();
    bytes.extend([0; 4]);
    for &number in numbers {
        let mut rest = number;
        loop {
            let byte = rest as u8 & 0x7F;
            rest >>= 7;
            let is_last = rest == if byte & 0x40 == 0 { 0 } else { -1 };
            bytes.push(if is_last { byte } else { byte | 0x80 });
            if is_last {
                break;
            }
        }
    }
    let count = (bytes.len() - length - 4) as u32;
    bytes[length..length + 4].copy_from_slice(&count.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_damage_is_noticed() {
        let numbers = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, -8193, i32::MAX, i32::MIN];
        let mut bytes = Vec::new();
        write(&mut bytes, &numbers);
        // The worked example of the DWARF standard, 4.
        assert!(bytes.ends_with(&[0x80, 0x80, 0x80, 0x80, 0x78]));
        let body = &bytes[MAGIC.len() + 4..];
        assert_eq!(read(body, numbers.len(), Some).unwrap(), numbers);
        assert!(read(body, numbers.len() - 1, Some).is_none());
        assert!(read(&body[..body.len() - 1], numbers.len(), Some).is_none());
        assert!(read(body, numbers.len(), |n| i16::try_from(n).ok()).is_none());
        assert!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0], 1, Some).is_none());
    }
}
