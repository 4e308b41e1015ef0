//! Sizes of memory on the command line.

use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};

/// Default where the system does not report its memory.
const UNKNOWN: usize = 2 << 30;

/// Approximate memory of the games in work and of the output.
const BESIDE: usize = 256 << 20;

const LEAST: usize = 32 << 20;

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

/// Half of the machine's memory, or of what the limits of the process and of its control groups leave.
pub fn default() -> usize {
    let machine =
        std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| kilobytes(&text, "MemTotal:"));
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let used = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = rest(&limits, "Max address space", &used, "VmSize:")
        .into_iter()
        .chain(rest(&limits, "Max data size", &used, "VmData:"))
        .chain(group_files(&groups).into_iter().filter_map(|path| {
            // Without a limit the file says `max`, or a number beyond any memory.
            std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok()
        }));
    machine.into_iter().chain(limits).min().map_or(UNKNOWN, |bytes| bytes / 2)
}

/// Peak memory of this process in bytes, where the system reports it.
pub fn peak() -> Option<usize> {
    kilobytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// A value such as `VmSize:  3896 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

/// Memory in bytes that a limit of the process leaves beside the memory in use.
fn rest(limits: &str, limit: &str, status: &str, used: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix(limit))?;
    let limit = line.split_whitespace().next()?.parse::<usize>().ok()?;
    let used = kilobytes(status, used).unwrap_or(0);
    // Half, since freed memory stays in the address space.
    Some((limit.saturating_sub(used + BESIDE) / 2).max(LEAST))
}

/// The files with the limits of the process's control groups: its own, its parents' and the container's; version 2 has
/// one line `0::/path`, version 1 a line `4:memory:/path`.
fn group_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let (root, file, path) = match line.splitn(3, ':').collect::<Vec<_>>()[..] {
            ["0", "", path] => ("/sys/fs/cgroup", "memory.max", path),
            [_, names, path] if names.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", path)
            }
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        files.extend(path.ancestors().map(|group| Path::new(root).join(group).join(file)));
    }
    files
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

    #[test]
    fn limits_of_the_process_and_of_its_groups_count() {
        let limits = "Limit   Soft Limit  Hard Limit  Units\n\
                      Max data size  unlimited  unlimited  bytes\n\
                      Max address space  1024000000  2048000000  bytes\n";
        let status = "Name:\tpatzer\nVmSize:\t    1000 kB\nVmData:\t 10 kB\n";
        assert_eq!(
            rest(limits, "Max address space", status, "VmSize:"),
            Some((1_024_000_000 - 1_024_000 - BESIDE) / 2)
        );
        assert_eq!(rest(limits, "Max data size", status, "VmData:"), None);
        let files = group_files("12:cpu:/a\n4:cpuset,memory:/b/c\n0::/user/run\n");
        let expected = [
            "/sys/fs/cgroup/memory/b/c/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/b/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/user/run/memory.max",
            "/sys/fs/cgroup/user/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files, expected.map(PathBuf::from));
    }
}
