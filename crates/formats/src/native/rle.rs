//! Parquet's run-length/bit-packed encoding (RLE) of definition levels and dictionary indices.
//!
//! Source: apache/parquet-format, `Encodings.md`.

/// An undecoded run and its number of values.
pub enum Run<'a> {
    /// One value, little-endian, repeated.
    Repeated(&'a [u8], usize),
    /// Bit-packed values, lowest bits first.
    Packed(&'a [u8], usize),
}

/// Splits off the next run, of at most `left` values of `width` bits; `None` if the bytes end early.
pub fn next_run<'a>(bytes: &mut &'a [u8], width: usize, left: usize) -> Option<Run<'a>> {
    let header = take_varint(bytes)?;
    let length = usize::try_from(header >> 1).ok().filter(|&length| length > 0)?;
    let packed = header & 1 == 1;
    // Bit-packed runs count in groups of eight values.
    let size = if packed { length.checked_mul(width)? } else { width.div_ceil(8) };
    let (run, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(match packed {
        true => Run::Packed(run, length.saturating_mul(8).min(left)),
        false => Run::Repeated(run, length.min(left)),
    })
}

pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}
