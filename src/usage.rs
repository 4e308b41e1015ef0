//! Version, threads and processor of a run, then its time and memory, for `--verbose`.

use std::time::{Duration, Instant};

use crate::Ui;
use patzer_data::memory;
use patzer_eval::nnue::Kernel;

pub struct Usage {
    begin: Instant,
}

impl Usage {
    /// Notes version, threads and processor features.
    pub fn begin(ui: &Ui) -> Usage {
        let (version, threads, kernel) = (crate::VERSION, rayon::current_num_threads(), Kernel::best());
        ui.note(format_args!("patzer {version}, threads: {threads}, networks by {kernel}"));
        Usage { begin: Instant::now() }
    }

    /// Notes time, processor time of all threads, and peak memory, as far as the system has them.
    pub fn end(self, ui: &Ui) {
        let mut text = format!("took {:.2} s", self.begin.elapsed().as_secs_f64());
        if let Some(time) = processor_time() {
            text += &format!(", {:.2} s of processor time", time.as_secs_f64());
        }
        if let Some(bytes) = memory::peak() {
            text += &format!(", {:.0} MiB of memory at most", bytes as f64 / f64::from(1 << 20));
        }
        ui.note(text);
    }
}

/// Processor time of this process with all its threads, without engines that it started.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}
