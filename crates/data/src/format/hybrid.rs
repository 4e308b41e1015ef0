//! Small numbers in runs and packed bits, as Parquet stores definition levels and numbers of a dictionary.
//!
//! In: bytes, and how many bits a number has. Out: one run after another, undecoded. Source: the encoding RLE of
//! apache/parquet-format, `Encodings.md`.

/// Some numbers, and how many of them count.
pub enum Run<'a> {
    /// The same number so many times, in as few bytes as hold it.
    Same(&'a [u8], usize),
    /// Numbers packed bit by bit, the lowest first.
    Packed(&'a [u8], usize),
}

/// Takes the next run of numbers of `width` bits, of which `left` are still wanted; `None` if the bytes end early.
pub fn next_run<'a>(bytes: &mut &'a [u8], width: usize, left: usize) -> Option<Run<'a>> {
    let header = take_varint(bytes)?;
    let length = usize::try_from(header >> 1).ok().filter(|&length| length > 0)?;
    let packed = header & 1 == 1;
    // Packed are eight at a time, so that they fill whole bytes.
    let size = if packed { length.checked_mul(width)? } else { width.div_ceil(8) };
    let (run, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(match packed {
        true => Run::Packed(run, length.saturating_mul(8).min(left)),
        false => Run::Same(run, length.min(left)),
    })
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
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
