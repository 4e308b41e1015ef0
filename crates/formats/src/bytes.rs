//! Fixed-size fields and numbers of variable length in bytes.

/// Copies a fixed-size field.
#[inline]
pub fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

/// Appends a number in base 128, the lowest digit first.
pub fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 128 {
        to.push(value as u8 | 128);
        value >>= 7;
    }
    to.push(value as u8);
}
