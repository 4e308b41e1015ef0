//! What comes after the filters that look at one position alone: removal of duplicates, the random choices, the file.
//!
//! In: samples in the order of the input, with their keys. Out: a dataset, and how many of the samples are in it or
//! are not, by reason. `extract` and `data merge` both end here, so that a merge of parts does what one run does.

use std::collections::BTreeMap;
use std::path::Path;

use super::dedupe::{Dedupe, Deduper};
use super::filter::DUPLICATES;
use super::pick::{self, Picker};
use super::{AnyWriter, Metadata, Sample};
use patzer_io::error::{Error, Result};

/// Under what names positions count that the random choices drop.
pub const PER_GAME: &str = "per_game";
/// See [`PER_GAME`].
pub const SAMPLE: &str = "sample";

/// What to do with samples on their way to the file.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// How equal positions are dropped; `None` if they are not.
    pub dedupe: Option<Dedupe>,
    /// At most this many positions a game, chosen at random among those that the filters leave.
    pub per_game: Option<usize>,
    /// This many positions of all, chosen at random after everything else.
    pub sample: Option<usize>,
    /// Seed of the random choices.
    pub seed: u64,
    /// About how much memory the removal of duplicates takes, in bytes; beyond that it goes on in files.
    pub memory: usize,
}

impl Choices {
    /// What is chosen, a line each, as a dataset's metadata keeps it.
    pub fn describe(&self) -> Vec<String> {
        let most = |name: &str, most: Option<usize>| most.map(|most| format!("{name}: {most}"));
        [most(PER_GAME, self.per_game), most(SAMPLE, self.sample)].into_iter().flatten().collect()
    }
}

/// The last stages.
pub struct Outlet {
    deduper: Option<Deduper>,
    rest: Rest,
}

/// The stages after the removal of duplicates.
struct Rest {
    per_game: Option<usize>,
    seed: u64,
    /// Samples of the last game, of which more may come; empty unless there is a bound for each game.
    unfinished: Vec<Sample>,
    picker: Option<Picker>,
    writer: Option<AnyWriter>,
    done: Done,
}

/// What became of the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Those that came.
    pub read: u64,
    /// Those in the dataset, or that would be in it.
    pub written: u64,
    /// Those that are not, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// What the user should know of facts that the format does not carry.
    pub lost: Option<String>,
}

impl Outlet {
    /// Starts with nothing taken; without a writer it only counts what would be written. Files that memory
    /// overflows to lie in `folder` and have no name.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn new(writer: Option<AnyWriter>, choices: &Choices, folder: &Path) -> Result<Outlet> {
        let deduper = choices.dedupe.map(|how| Deduper::new(how, choices.memory, folder)).transpose()?;
        let rest = Rest {
            per_game: choices.per_game,
            seed: choices.seed,
            unfinished: Vec::new(),
            picker: choices.sample.map(|most| Picker::new(most, choices.seed)),
            writer,
            done: Done::default(),
        };
        Ok(Outlet { deduper, rest })
    }

    /// Takes the next samples. Their keys are needed only if duplicates are dropped.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn take(&mut self, mut samples: Vec<Sample>, keys: &[u128]) -> Result<()> {
        self.take_from(&mut samples, keys)
    }

    /// Takes the next samples as [`Outlet::take`] does, and leaves their memory to be used again where it can.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn take_from(&mut self, samples: &mut Vec<Sample>, keys: &[u128]) -> Result<()> {
        self.rest.done.read += samples.len() as u64;
        if let Some(deduper) = &mut self.deduper {
            let dropped = deduper.take(samples, keys)?;
            self.rest.drop(DUPLICATES, dropped);
        }
        match self.rest.per_game {
            None => self.rest.choose(samples),
            Some(_) => self.rest.take(std::mem::take(samples)),
        }
    }

    /// Writes what is left, checks the account, and gives the dataset its name. `about` completes what the file says
    /// of itself, and is called without a file too.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, about: impl FnOnce(&mut Metadata, &Done)) -> Result<Done> {
        if let Some(deduper) = self.deduper.take() {
            let dropped = deduper.finish(|samples| self.rest.take(samples))?;
            self.rest.drop(DUPLICATES, dropped);
        }
        self.rest.finish(about)
    }
}

impl Rest {
    fn take(&mut self, mut samples: Vec<Sample>) -> Result<()> {
        let Some(most) = self.per_game else { return self.choose(&samples) };
        if !self.unfinished.is_empty() {
            self.unfinished.append(&mut samples);
            samples = std::mem::take(&mut self.unfinished);
        }
        let last = samples.last().map(|sample| sample.game);
        let whole = samples.iter().rposition(|sample| Some(sample.game) != last).map_or(0, |at| at + 1);
        self.unfinished = samples.split_off(whole);
        self.cap(samples, most)
    }

    fn cap(&mut self, mut samples: Vec<Sample>, most: usize) -> Result<()> {
        let before = samples.len();
        pick::per_game(&mut samples, most, self.seed);
        self.drop(PER_GAME, (before - samples.len()) as u64);
        self.choose(&samples)
    }

    fn choose(&mut self, samples: &[Sample]) -> Result<()> {
        match &mut self.picker {
            Some(picker) => {
                picker.show(samples);
                Ok(())
            }
            None => self.write(samples),
        }
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        self.done.written += samples.len() as u64;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(samples))
    }

    fn drop(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.done.dropped.entry(reason).or_default() += count;
        }
    }

    fn finish(mut self, about: impl FnOnce(&mut Metadata, &Done)) -> Result<Done> {
        if let Some(most) = self.per_game {
            let last = std::mem::take(&mut self.unfinished);
            self.cap(last, most)?;
        }
        if let Some(picker) = self.picker.take() {
            let (samples, dropped) = picker.finish();
            self.drop(SAMPLE, dropped);
            self.write(&samples)?;
        }
        let mut done = self.done;
        let accounted = done.written + done.dropped.values().sum::<u64>();
        if accounted != done.read {
            return Err(Error::internal(format!("{accounted} of {} positions are accounted for", done.read)));
        }
        let Some(mut writer) = self.writer else {
            about(&mut Metadata::default(), &done);
            return Ok(done);
        };
        let mut unwritten = Metadata::default();
        about(writer.metadata().unwrap_or(&mut unwritten), &done);
        let (path, format) = (writer.path().to_path_buf(), writer.format());
        let written = writer.finish()?;
        done.lost = written.warning(&path, format);
        if written.positions + written.dropped.values().sum::<u64>() != done.written {
            let rows = written.positions;
            return Err(Error::internal(format!("{rows} rows for {} positions", done.written)));
        }
        done.written = written.positions;
        for (reason, count) in written.dropped {
            *done.dropped.entry(reason).or_default() += count;
        }
        Ok(done)
    }
}
