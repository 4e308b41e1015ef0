//! Survey of a book: its positions, duplicates, plies and scores.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use shakmaty::{Chess, Position};

use super::scoring::{Scorer, score_all};
use patzer_chess::score::Score;
use patzer_io::error::Result;
use patzer_match::openings::Entry;

/// Width of a bar of the distribution of scores, in centipawns.
pub const SCORE_BIN: i32 = 25;
/// Bounds of the first and last bar, in centipawns; they hold all beyond.
pub const SCORE_ENDS: i32 = 400;

/// An entry that cannot be played.
#[derive(Debug, Clone, Serialize)]
pub struct BadEntry {
    pub place: String,
    pub reason: String,
}

/// Counts of a book's entries, and the scores of a sample of its positions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BookSurvey {
    pub entries: usize,
    pub positions: usize,
    pub duplicates: usize,
    pub bad: Vec<BadEntry>,
    /// Share of the positions with White to move.
    pub white_to_move: f64,
    /// Positions by plies from the start of the game, where the entries say.
    pub plies: BTreeMap<u32, u64>,
    /// Description of the engine that scored.
    pub engine: String,
    pub scored: usize,
    pub failed: u64,
    /// Crashes and hangs of a UCI engine, after which it was started again.
    pub restarts: u64,
    /// Scores from White's side at these percentages of the scored positions.
    pub percentiles: BTreeMap<u8, i32>,
    /// Scored positions by centipawns, from each number on, 25 wide; the first and the last bar hold all beyond.
    pub scores: BTreeMap<i32, u64>,
    /// Reasons for which positions have no score, with their counts.
    #[serde(skip)]
    pub failures: BTreeMap<String, u64>,
}

/// Counts the entries of a book.
pub fn survey(entries: Vec<Entry>) -> (BookSurvey, Vec<Chess>) {
    let mut survey = BookSurvey { entries: entries.len(), ..BookSurvey::default() };
    let mut positions = Vec::<Chess>::new();
    for Entry { place, opening, plies } in entries {
        match opening {
            Ok(opening) => {
                positions.push(opening.position);
                plies.into_iter().for_each(|plies| *survey.plies.entry(plies).or_default() += 1);
            }
            Err(reason) => survey.bad.push(BadEntry { place, reason }),
        }
    }
    survey.positions = positions.len();
    survey.duplicates = positions.len() - positions.iter().collect::<HashSet<_>>().len();
    let white = positions.iter().filter(|position| position.turn().is_white()).count();
    survey.white_to_move = white as f64 / positions.len().max(1) as f64;
    (survey, positions)
}

impl BookSurvey {
    /// Scores `sample` of the positions, evenly spread over them, calling `done` after each.
    pub fn score(
        &mut self,
        positions: &[Chess],
        sample: usize,
        scorer: &Scorer,
        stop: &AtomicBool,
        done: &mut dyn FnMut(),
    ) -> Result<()> {
        let item = |number: usize| Some(((), positions[number * positions.len() / sample.max(1)].clone()));
        let mut scores = Vec::with_capacity(sample);
        score_all(scorer, 0..sample, &item, stop, &mut |scored| {
            done();
            match scored.score {
                Ok(score) => scores.push(score),
                Err(reason) => *self.failures.entry(reason).or_default() += 1,
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.scored = scores.len();
        self.failed = self.failures.values().sum();
        self.restarts = scorer.participant.restarts.count();
        self.distribute(scores);
        Ok(())
    }

    fn distribute(&mut self, mut scores: Vec<Score>) {
        scores.sort_unstable();
        for score in &scores {
            let from = score.div_euclid(SCORE_BIN) * SCORE_BIN;
            *self.scores.entry(from.clamp(-SCORE_ENDS, SCORE_ENDS)).or_default() += 1;
        }
        let at = |share: u8| {
            let place = (scores.len().saturating_sub(1)) * usize::from(share) / 100;
            scores.get(place).map(|score| (share, *score))
        };
        self.percentiles = [0, 5, 25, 50, 75, 95, 100].into_iter().filter_map(at).collect();
    }
}
