mod games;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::memory;
use patzer_eval::nnue::Kernel;
use patzer_io::number::counted;
use patzer_match::journal::Key;
use patzer_match::{Syzygy, damaged_tables};
use patzer_train::{Compute, Device};

/// Show what of this machine patzer uses, and what would make it faster or fairer
///
/// Nothing is changed. Advice says what to do; a line without it is as it should be.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer doctor\n  \
    patzer doctor --games 1000                 do two machines play alike? they print the same checksum\n  \
    patzer doctor --tb /data/syzygy --json     are these tables what they should be?")]
pub struct DoctorArgs {
    /// Folder of Syzygy tables to look at; may be given several times
    #[arg(long, value_name = "DIR")]
    tb: Vec<PathBuf>,

    /// Games of the bundled engine to play; machines that play alike print the same checksum of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    games: Option<u64>,
}

pub fn run(args: &DoctorArgs, ui: &Ui) -> Result<Status> {
    let mut findings = vec![
        Finding::new("patzer", crate::VERSION),
        Finding::new("networks play with", Kernel::best().to_string()),
        Finding::new("networks train with", patzer_train::Vectors::best().to_string()),
        gpu(),
        threads(),
        memory_for_data(),
        key(),
        space(Path::new("."), "free here"),
        space(&std::env::temp_dir(), "free for spilled data"),
    ];
    if cfg!(target_os = "linux") {
        findings.extend([large_pages(), open_files(), load(), frequency()].into_iter().flatten());
    }
    findings.extend(args.tb.iter().map(|folder| tables(folder, ui)));
    if let Some(games) = args.games {
        interrupt::listen()?;
        let pairs = games.div_ceil(2);
        let digest = ui.with_progress("playing", 2 * pairs, |bar| {
            games::digest(pairs as usize, rayon::current_num_threads(), &|games| bar.inc(games))
        })?;
        let digest = digest.ok_or(Error::Interrupted("no games were compared"))?;
        findings.push(Finding::new("games play to", format!("{digest} ({})", counted(2 * pairs, "game"))));
    }
    ui.result(&Findings { findings })
}

#[derive(Serialize)]
struct Findings {
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    name: &'static str,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'static str>,
}

impl Finding {
    fn new(name: &'static str, value: impl Into<String>) -> Finding {
        Finding { name, value: value.into(), advice: None }
    }

    fn advise(self, needed: bool, advice: &'static str) -> Finding {
        Finding { advice: needed.then_some(advice), ..self }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
        for Finding { name, value, advice } in &self.findings {
            writeln!(f, "{name:width$}  {value}")?;
            if let Some(advice) = advice {
                writeln!(f, "{:width$}  → {advice}", "")?;
            }
        }
        Ok(())
    }
}

fn gpu() -> Finding {
    let found = match Compute::open(Device::Gpu(0)) {
        Ok(compute) => compute.about().to_string(),
        Err(reason) => reason.to_string().replace("--device gpu:0: ", "none: "),
    };
    Finding::new("GPU", found)
}

fn threads() -> Finding {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Finding::new("threads", count.to_string())
        .advise(count == 1, "engines of a timed match would share one core with the match itself")
}

fn memory_for_data() -> Finding {
    Finding::new(
        "memory for data",
        format!("{} by default; --memory sets another", size(memory::default() as u64)),
    )
}

/// The key that signs journals.
fn key() -> Finding {
    match Key::of_user() {
        Ok(_) => Finding::new("key of journals", "there"),
        Err(reason) => Finding::new("key of journals", reason.to_string())
            .advise(true, "without it every --resume needs --trust"),
    }
}

fn space(folder: &Path, name: &'static str) -> Finding {
    let shown = folder.canonicalize().unwrap_or(folder.to_path_buf());
    match free_bytes(folder) {
        Some(free) => Finding::new(name, format!("{} in {}", size(free), shown.display()))
            .advise(free < 2 << 30, "less than 2 GiB; runs on large data end there"),
        None => Finding::new(name, format!("unknown in {}", shown.display())),
    }
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

fn large_pages() -> Option<Finding> {
    let text = read("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let mode = text.split_once('[')?.1.split_once(']')?.0.to_string();
    let off = mode == "never";
    let advice = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    Some(Finding::new("large pages", mode).advise(off, advice))
}

fn open_files() -> Option<Finding> {
    let text = read("/proc/self/limits")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let limit = line.split_whitespace().next()?.to_string();
    let few = limit.parse::<u64>().is_ok_and(|limit| limit < 1024);
    Some(Finding::new("open files", limit).advise(few, "ulimit -n 4096 lets more engines play at once"))
}

/// Processes that wanted a core in the last minute, on average.
fn load() -> Option<Finding> {
    let text = read("/proc/loadavg")?;
    let load = text.split_whitespace().next()?.to_string();
    let busy = load.parse::<f64>().is_ok_and(|load| load > 0.5);
    let advice = "other programs are at work; matches by time are fair only without them";
    Some(Finding::new("load", load).advise(busy, advice))
}

fn frequency() -> Option<Finding> {
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?.trim().to_string();
    let slow = governor == "powersave";
    let advice = "cores change their speed with the load; `performance` suits matches by time";
    Some(Finding::new("frequency", governor).advise(slow, advice))
}

/// Tables of a folder, with their checksums compared.
fn tables(folder: &Path, ui: &Ui) -> Finding {
    let checked = Syzygy::load(folder, None, false).and_then(|tables| {
        let total = tables.files() as u64;
        let damaged = ui.with_progress("checking", total, |bar| damaged_tables(folder, &|| bar.inc(1)))?;
        Ok((tables, damaged))
    });
    match checked {
        Ok((tables, damaged)) if damaged.is_empty() => {
            Finding::new("tables", format!("{tables} in {}, all checksums right", folder.display()))
        }
        Ok((tables, damaged)) => {
            let names: Vec<String> = damaged.iter().take(5).map(|path| path.display().to_string()).collect();
            let value = format!("{tables}, {} damaged: {}", damaged.len(), names.join(", "));
            Finding::new("tables", value).advise(true, "fetch these files again; their checksums differ")
        }
        Err(reason) => Finding::new("tables", reason.to_string())
            .advise(true, "name the folder of the .rtbw and .rtbz files itself"),
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// A size in the largest unit of which it has one.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (units.len() - 1).min(bytes.max(1).ilog2() as usize / 10);
    format!("{:.1} {}", bytes as f64 / (1u64 << (10 * unit)) as f64, units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_they_fill() {
        for (bytes, shown) in [
            (0, "0.0 B"),
            (1023, "1023.0 B"),
            (1536, "1.5 KiB"),
            (5 << 40, "5.0 TiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
