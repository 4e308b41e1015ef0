//! Pins each concurrent game, with its engines, to CPUs of its own.
//!
//! Child processes inherit the CPU set of the thread that starts them. The crate `core_affinity` binds a
//! thread to one CPU only, and an engine with several threads needs a set, so this module calls Linux itself.

/// CPUs available to this process.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A CPU set for each concurrent game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuShares {
    shares: Vec<Vec<usize>>,
}

impl CpuShares {
    /// Assigns `threads` CPUs to each of `games`, one hardware thread of each core first. Players take turns,
    /// so a game needs as many CPUs as its player with the most threads.
    pub fn new(boards: usize, threads: usize) -> Result<CpuShares, String> {
        let allowed = allowed()?;
        let order = cores_first(&allowed, sibling);
        share(&order, boards, threads).map(|shares| CpuShares { shares })
    }

    /// Binds the current thread, and the processes that it starts, to the CPUs of a game.
    pub fn bind(&self, board: usize) {
        if let Some(share) = self.shares.get(board) {
            bind(share);
        }
    }
}

fn share(processors: &[usize], boards: usize, threads: usize) -> Result<Vec<Vec<usize>>, String> {
    if boards * threads > processors.len() {
        let (need, have) = (boards * threads, processors.len());
        return Err(format!(
            "{boards} boards of {threads} threads need {need} processors, and there are {have}"
        ));
    }
    Ok(processors.chunks(threads).take(boards).map(<[usize]>::to_vec).collect())
}

/// Orders the first hardware thread of each core before its siblings.
fn cores_first(processors: &[usize], first_sibling: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut seen = std::collections::HashSet::new();
    let (mut firsts, seconds): (Vec<usize>, Vec<usize>) =
        processors.iter().partition(|&&processor| seen.insert(first_sibling(processor)));
    firsts.extend(seconds);
    firsts
}

/// First hardware thread of the same core; the CPU itself where the system does not say.
fn sibling(processor: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().split([',', '-']).next().and_then(|first| first.parse().ok()).unwrap_or(processor)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn allowed() -> Result<Vec<usize>, String> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None).map_err(|e| format!("the system does not tell the processors: {e}"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bind(share: &[usize]) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    share.iter().for_each(|&processor| set.set(processor));
    // The set was allowed when it was read; if that has changed since, the game goes on unpinned.
    let _ = sched_setaffinity(None, &set);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn allowed() -> Result<Vec<usize>, String> {
    Err("this system does not bind threads to processors".to_string())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bind(_: &[usize]) {}

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
    fn boards_get_shares_of_their_own_or_none() {
        assert_eq!(share(&[0, 1, 2, 3, 4], 2, 2), Ok(vec![vec![0, 1], vec![2, 3]]));
        assert!(share(&[0, 1, 2], 2, 2).unwrap_err().contains("need 4"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_bound_thread_runs_where_it_was_bound() {
        std::thread::spawn(|| {
            let boards = CpuShares::new(1, 1).unwrap();
            boards.bind(0);
            assert_eq!(allowed().unwrap(), boards.shares[0]);
        })
        .join()
        .unwrap();
    }
}
