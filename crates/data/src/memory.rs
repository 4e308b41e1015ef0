//! Sizes of memory on the command line.

use patzer_io::error::{Error, Result};

/// The default where the system does not say how much memory there is.
const UNKNOWN: usize = 2 << 30;

/// Parses a size such as `500M` or `2G`: a whole number of bytes, KiB, MiB, GiB or TiB.
pub fn parse(text: &str) -> Result<usize> {
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
    let invalid = || Error::usage("write it as a number and K, M, G or T, such as 2G");
    bytes.filter(|bytes| *bytes > 0).ok_or_else(invalid)
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
        for (text, bytes) in [("2G", 2 << 30), ("500MiB", 500 << 20), ("64k", 65536), ("4096", 4096)] {
            assert_eq!(parse(text).unwrap(), bytes);
        }
        for wrong in ["", "G", "-1", "2X", "0", "1.5G", "99999999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(default() > 1 << 26);
    }
}
