//! Sizes of memory on the command line.

/// The default where the system does not say how much memory there is.
const UNKNOWN: usize = 2 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeError;

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("write it as a number and K, M, G or T, such as 2G")
    }
}

impl std::error::Error for SizeError {}

/// Parses a size such as `500M` or `2G`: a whole number of bytes, KiB, MiB, GiB or TiB.
pub fn parse(text: &str) -> Result<usize, SizeError> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let shift = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => 64,
    };
    let number = digits.parse::<usize>().ok();
    let bytes = number.and_then(|n| 1usize.checked_shl(shift).and_then(|unit| n.checked_mul(unit)));
    bytes.filter(|bytes| *bytes > 0).ok_or(SizeError)
}

/// Half of the machine's memory, or of the limit of the process's control group.
pub fn default() -> usize {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    });
    // A container may have less; without a limit the file says `max`.
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse::<usize>().ok());
    total.into_iter().chain(limit).min().map_or(UNKNOWN, |bytes| bytes / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse("2G"), Ok(2 << 30));
        assert_eq!(parse("500MiB"), Ok(500 << 20));
        assert_eq!(parse("64k"), Ok(65536));
        assert_eq!(parse("4096"), Ok(4096));
        for wrong in ["", "G", "-1", "2X", "0", "1.5G", "99999999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(default() > 1 << 26);
    }
}
