//! Settings of an extraction.

use std::path::PathBuf;

use crate::dedupe::{Dedupe, Keep};
use crate::output_stage::OutputSettings;
use crate::{Target, memory};
use patzer_io::Earlier;
use patzer_io::Shard;
use patzer_io::error::{Error, Hint, Result};
use patzer_pgn::ScoreOptions;
use serde_json::Value;

pub(crate) const BAD_GAME: &str = "bad_game";
pub(crate) const NO_RESULT: &str = "no_result";

#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Random sample of at most this many positions of each game, after the filters.
    pub per_game: Option<usize>,
    pub sample: Option<usize>,
    pub seed: u64,
    pub target: Target,
    /// Keep the positions of a broken game before its fault, and the games before a file's damage.
    pub keep_partial: bool,
    pub scores: ScoreOptions,
    /// Rule for equal positions; `None` leaves it to the presets, some of which keep the first.
    pub duplicates: Option<Keep>,
    pub mirror: bool,
    pub shard: Option<Shard>,
    /// Approximate bytes of memory for the removal of duplicates; `None` for half of the machine's.
    pub memory: Option<usize>,
    /// Keeps progress beside the output; `None` keeps none.
    pub journal: Option<Journaling>,
    pub funnel: bool,
    /// Licence of the games, for the dataset's metadata.
    pub licence: Option<String>,
    /// Read the visits of moves in comments, into the column [`visits`](patzer_formats::visits).
    pub visits: bool,
    /// File for the games that are refused or have no position, each with its reason in a tag.
    pub rejects: Option<PathBuf>,
}

impl Settings {
    pub(super) fn memory(&self) -> usize {
        self.memory.unwrap_or_else(memory::default)
    }

    pub(super) fn output(&self, filters_dedupe: bool) -> Result<OutputSettings> {
        let keep = self.duplicates.or(filters_dedupe.then_some(Keep::First));
        if self.mirror && keep.is_none() {
            let reason = "says what counts as a duplicate, but none are dropped";
            return Err(Error::setting("mirrored_duplicates", "", reason).hint(Hint::Duplicates));
        }
        let dedupe = keep.map(|keep| Dedupe { keep, mirror: self.mirror });
        if self.visits && (dedupe.is_some() || self.per_game.is_some() || self.sample.is_some()) {
            let reason = "goes with filters of single positions and games; sample and drop duplicates later";
            return Err(Error::setting("visits", "", reason));
        }
        if self.shard.is_some() && (self.sample.is_some() || (self.per_game.is_some() && dedupe.is_some())) {
            return Err(Error::usage("a shard cannot choose for the whole").hint(Hint::SampleLater));
        }
        let (per_game, sample, seed) = (self.per_game, self.sample, self.seed);
        Ok(OutputSettings { dedupe, per_game, sample, seed, memory: self.memory() })
    }
}

/// Keeping of the progress of a run beside its output: where [`Earlier::Protect`] starts a run it keeps none, since
/// writing every position twice takes half as much time again.
#[derive(Debug, Clone)]
pub struct Journaling {
    pub earlier: Earlier,
    /// Arguments of the run in the caller's form, which [`stored`](super::stored) gives back.
    pub arguments: Value,
}
