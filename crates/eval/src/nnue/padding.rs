//! Padding of raw files to a multiple of 64 bytes.

/// bullet's padding of a length.
pub fn bullets(length: usize) -> impl Iterator<Item = &'static u8> {
    b"bullet".iter().cycle().take(length)
}

/// Tests for bytes that fill a file up to a multiple of 64: zeros, or bullet's word.
pub fn is_padding(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0) || bytes.iter().eq(bullets(bytes.len()))
}

/// Says that the last bytes of a file are no padding.
pub fn not_padding(count: usize) -> String {
    format!(
        "its last {count} bytes are neither zeros nor `bullet`, which pad a network of this size: it is another"
    )
}
