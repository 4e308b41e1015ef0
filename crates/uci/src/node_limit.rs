//! Compares the nodes that an engine reports with its limit: some engines ignore `go nodes`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use patzer_chess::score::MATE_IN_MAX;
use patzer_io::number::grouped;

use crate::{Control, SearchInfo};

/// Searches of a program that are compared with their limit.
const SEARCHES: u32 = 8;

/// Limit below which an engine may look at it too seldom.
const GRAIN: u64 = 1_000;

/// Depth that engines reach with few nodes only where nothing is left to search.
const DEEPEST: i32 = 50;

/// The first searches of all processes of a program.
#[derive(Debug, Default)]
pub struct NodeLimit {
    done: AtomicBool,
    missed: Mutex<Missed>,
}

#[derive(Debug, Default)]
struct Missed {
    searches: u32,
    /// Fewest and most nodes.
    range: Option<[u64; 2]>,
}

impl NodeLimit {
    /// Notes a search; `legal` counts the legal moves, where that decides. Returns a warning, once, if each of the
    /// first searches ends below a tenth of the limit or beyond ten times of it.
    pub fn note(
        &self,
        control: &Control,
        legal: impl FnOnce() -> usize,
        info: &SearchInfo,
    ) -> Option<String> {
        let limit = control.nodes?;
        if self.done.load(Ordering::Relaxed) || is_short(control, legal, info) {
            return None;
        }
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = info.nodes;
        let kept = nodes >= limit / 10 && nodes <= 10 * limit.max(GRAIN);
        missed.searches += 1;
        let [fewest, most] = missed.range.unwrap_or([nodes; 2]);
        let [fewest, most] = [fewest.min(nodes), most.max(nodes)];
        missed.range = Some([fewest, most]);
        if kept || missed.searches >= SEARCHES {
            self.done.store(true, Ordering::Relaxed);
        }
        (!kept && missed.searches == SEARCHES).then(|| {
            let [fewest, most, limit] = [fewest, most, limit].map(grouped);
            format!(
                "does not keep its limit of {limit} nodes: its first {SEARCHES} searches report {fewest} to {most}; \
                 limit it by depth= or st= instead"
            )
        })
    }
}

/// Tests whether a search may end early by nature, or reports no nodes.
fn is_short(control: &Control, legal: impl FnOnce() -> usize, info: &SearchInfo) -> bool {
    let mate = info.score.is_some_and(|score| score.abs() >= MATE_IN_MAX);
    let other_limit = control.time.is_some() || control.soft_nodes.is_some() || control.depth.is_some();
    info.nodes == 0 || info.tbhits > 0 || info.depth >= DEEPEST || mate || other_limit || legal() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searches(nodes: &[u64]) -> Vec<String> {
        let check = NodeLimit::default();
        let search = |&nodes: &u64| {
            check.note(&Control::nodes(5000), || 20, &SearchInfo { nodes, ..SearchInfo::default() })
        };
        nodes.iter().filter_map(search).collect()
    }

    #[test]
    fn a_limit_that_is_never_kept_is_named_once() {
        let says = "does not keep its limit of 5,000 nodes: its first 8 searches report 20 to 499; limit it by depth= \
                    or st= instead";
        assert_eq!(searches(&[20, 21, 22, 499, 24, 25, 26, 27, 28, 29]), [says]);
        assert!(searches(&[50_001; 20])[0].contains("report 50,001 to 50,001"));
        let kept: [&[u64]; 3] =
            [&[20; 7], &[20, 20, 20, 5000, 20, 20, 20, 20, 20], &[500, 50_000, 1, 1, 1, 1, 1, 1, 1]];
        assert!(kept.iter().all(|nodes| searches(nodes).is_empty()));
    }

    #[test]
    fn searches_that_are_short_by_nature_do_not_count() {
        let (check, control) = (NodeLimit::default(), Control::nodes(5000));
        let few = SearchInfo { nodes: 9, ..SearchInfo::default() };
        let short = [
            SearchInfo { score: Some(MATE_IN_MAX), ..few },
            SearchInfo { depth: DEEPEST, ..few },
            SearchInfo { tbhits: 1, ..few },
            SearchInfo { nodes: 0, ..few },
        ];
        for info in short.iter().cycle().take(40) {
            assert_eq!(check.note(&control, || 20, info), None);
        }
        for control in [Control { depth: Some(1), ..control }, Control::depth(1)] {
            assert!((0..20).all(|_| check.note(&control, || 20, &few).is_none()));
        }
        assert!((0..20).all(|_| check.note(&control, || 1, &few).is_none()));
        assert_eq!((0..20).filter_map(|_| check.note(&control, || 2, &few)).count(), 1);
        // Many engines look at the clock and the nodes each 2,048 nodes.
        let (check, coarse) = (NodeLimit::default(), SearchInfo { nodes: 2048, ..few });
        assert!((0..20).all(|_| check.note(&Control::nodes(100), || 20, &coarse).is_none()));
    }
}
