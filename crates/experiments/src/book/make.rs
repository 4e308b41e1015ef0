//! Makes a book: candidates in the order of a seed, without repeated positions, scored, in a window of scores.

use std::collections::{BTreeMap, HashSet};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use shakmaty::Chess;

use super::scoring::{Scorer, score_all};
use patzer_chess::score::Score;
use patzer_io::error::Result;
use patzer_match::openings::Opening;

/// Source of candidates.
pub enum Source<'a> {
    /// In this order.
    Openings(Vec<Opening>),
    /// Random play: the candidate of each number; `None` if it comes to an end.
    Random(&'a (dyn Fn(usize) -> Option<Opening> + Sync)),
}

pub struct MakeOptions {
    /// Scores from White's side, in centipawns.
    pub window: RangeInclusive<Score>,
    /// Take the absolute score: the advantage may be of either side.
    pub either_side: bool,
    /// Openings at most.
    pub count: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BookCounts {
    pub candidates: usize,
    pub kept: usize,
    /// Candidates whose position an earlier one had, by any moves.
    pub repeated: usize,
    pub below: usize,
    pub above: usize,
    pub failed: usize,
}

pub struct MadeBook {
    /// Openings with their scores from White's side.
    pub openings: Vec<(Opening, Score)>,
    pub counts: BookCounts,
    /// Number of positions without a score, by reason.
    pub failures: BTreeMap<String, u64>,
}

/// Candidates of random play in a row without an opening, after which no more are tried.
const TRIES: usize = 10_000;

/// Scores candidates until there are enough, or random play finds no more; `report` hears of each.
pub fn make(
    source: Source,
    options: &MakeOptions,
    scorer: &Scorer,
    stop: &AtomicBool,
    report: &mut dyn FnMut(&BookCounts),
) -> Result<MadeBook> {
    let mut counts = BookCounts::default();
    let (mut openings, mut failures, mut seen) = (Vec::new(), BTreeMap::new(), HashSet::<Chess>::new());
    let (mut distinct, mut last_kept) = (Vec::new(), 0);
    if let Source::Openings(all) = &source {
        for opening in all {
            if seen.insert(opening.position.clone()) {
                distinct.push(opening);
            } else {
                counts.repeated += 1;
                counts.candidates += 1;
            }
        }
        seen.clear();
    }
    let item = |number: usize| {
        let opening = match &source {
            Source::Openings(_) => distinct.get(number).map(|&opening| opening.clone()),
            Source::Random(candidate) => candidate(number),
        }?;
        let position = opening.position.clone();
        Some((opening, position))
    };
    let numbers = match &source {
        Source::Openings(_) => 0..distinct.len(),
        Source::Random(_) => 0..options.count.saturating_mul(TRIES),
    };
    score_all(scorer, numbers, &item, stop, &mut |candidate| {
        counts.candidates += 1;
        let opening: Opening = candidate.item;
        match candidate.score {
            _ if !seen.insert(opening.position.clone()) => counts.repeated += 1,
            Err(reason) => {
                counts.failed += 1;
                *failures.entry(reason).or_default() += 1;
            }
            Ok(score) => {
                let value = if options.either_side { score.abs() } else { score };
                if value < *options.window.start() {
                    counts.below += 1;
                } else if value > *options.window.end() {
                    counts.above += 1;
                } else {
                    counts.kept += 1;
                    last_kept = counts.candidates;
                    openings.push((opening, score));
                }
            }
        }
        report(&counts);
        let is_random = matches!(source, Source::Random(_));
        let in_vain = is_random && counts.candidates - last_kept >= TRIES;
        Ok(match counts.kept >= options.count || in_vain {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    Ok(MadeBook { openings, counts, failures })
}
