//! Pins each concurrent game, with its engines, to CPUs of its own.
//!
//! Child processes inherit the CPU set of the thread that starts them. The crate `core_affinity` binds a thread to
//! one CPU only, and an engine with several threads needs a set, so this module calls Linux itself.

use std::collections::HashSet;

use patzer_io::message_error;

pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

message_error!(AffinityError);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuShares(Vec<Vec<usize>>);

impl CpuShares {
    /// Assigns `threads` CPUs to each game, one hardware thread of each core first. Players take turns.
    pub fn new(games: usize, threads: usize) -> Result<CpuShares, AffinityError> {
        let unsupported = || AffinityError("this system does not bind threads to CPUs".into());
        let allowed = system::allowed().ok_or_else(unsupported)?;
        CpuShares::split(&cores_first(&allowed, sibling), games, threads)
    }

    /// Assigns the CPUs of a list to the games, in its order.
    pub fn from_list(list: &CpuList, games: usize, threads: usize) -> Result<CpuShares, AffinityError> {
        let allowed = system::allowed();
        if let (Some(allowed), cpus) = (allowed, &list.0)
            && let Some(cpu) = cpus.iter().find(|cpu| !allowed.contains(cpu))
        {
            return Err(AffinityError(format!("this process may not use CPU {cpu}")));
        }
        CpuShares::split(&list.0, games, threads)
    }

    fn split(cpus: &[usize], games: usize, threads: usize) -> Result<CpuShares, AffinityError> {
        if games * threads > cpus.len() {
            let (need, cpus) = (games * threads, cpus.len());
            return Err(AffinityError(format!(
                "{games} games of {threads} threads need {need} CPUs, and there are {cpus}"
            )));
        }
        Ok(CpuShares(cpus.chunks(threads).take(games).map(<[usize]>::to_vec).collect()))
    }

    /// Binds the current thread, and the processes that it starts, to the CPUs of a game.
    pub fn bind(&self, game: usize) {
        if let Some(share) = self.0.get(game) {
            system::bind(share);
        }
    }
}

/// CPUs as a list of numbers and ranges: `3,5,7-11`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(Vec<usize>);

impl std::str::FromStr for CpuList {
    type Err = AffinityError;

    fn from_str(text: &str) -> Result<CpuList, AffinityError> {
        let wrong = || AffinityError(format!("`{text}` is not a list of CPUs; write one such as 3,5,7-11"));
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let [first, last] =
                [first, last].map(|cpu| cpu.parse::<usize>().ok().filter(|cpu| *cpu < 65_536));
            let (first, last) = first.zip(last).filter(|(first, last)| first <= last).ok_or_else(wrong)?;
            cpus.extend(first..=last);
        }
        Ok(CpuList(cpus))
    }
}

fn cores_first(cpus: &[usize], first_sibling: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut seen = HashSet::new();
    let (firsts, seconds): (Vec<usize>, Vec<usize>) =
        cpus.iter().partition(|&&cpu| seen.insert(first_sibling(cpu)));
    [firsts, seconds].concat()
}

/// First hardware thread of the same core; the CPU itself where the system does not say.
fn sibling(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().split([',', '-']).next().and_then(|first| first.parse().ok()).unwrap_or(cpu)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    pub fn allowed() -> Option<Vec<usize>> {
        let set = sched_getaffinity(None).ok()?;
        Some((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
    }

    pub fn bind(share: &[usize]) {
        let mut set = CpuSet::new();
        share.iter().for_each(|&cpu| set.set(cpu));
        // The set was allowed when it was read; if that has changed since, the game goes on unpinned.
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    pub fn allowed() -> Option<Vec<usize>> {
        None
    }

    pub fn bind(_: &[usize]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_is_used_before_the_second_threads_of_any() {
        // CPUs 0 and 4, 1 and 5, … share a core.
        assert_eq!(cores_first(&[0, 1, 2, 4, 5, 6, 7], |p| p % 4), [0, 1, 2, 7, 4, 5, 6]);
        assert_eq!(cores_first(&[3, 5], |p| p), [3, 5]);
    }

    #[test]
    fn lists_are_numbers_and_ranges() {
        assert_eq!("3,5,7-9,0".parse(), Ok(CpuList(vec![3, 5, 7, 8, 9, 0])));
        for text in ["", "a", "5-3", "1,,2", "-1", "1-"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    #[test]
    fn games_get_cpus_of_their_own_or_none() {
        let shares = CpuShares::split(&[0, 1, 2, 3, 4], 2, 2).unwrap();
        assert_eq!(shares.0, [vec![0, 1], vec![2, 3]]);
        assert!(CpuShares::split(&[0, 1, 2], 2, 2).unwrap_err().to_string().contains("need 4"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_bound_thread_runs_where_it_was_bound() {
        std::thread::spawn(|| {
            let shares = CpuShares::new(1, 1).unwrap();
            shares.bind(0);
            assert_eq!(system::allowed().unwrap(), shares.0[0]);
        })
        .join()
        .unwrap();
    }
}
