//! What comes after the filters that look at one position alone: removal of duplicates, the random choices, the file.
//!
//! In: records in the order of the input, with their keys. Out: a dataset, and how many of the records are in it or
//! are not, by reason. `extract` and `data merge` both end here, so that a merge of parts does what one run does.

use std::collections::BTreeMap;
use std::path::Path;

use super::dedupe::{Dedupe, Deduper};
use super::filter::DUPLICATES;
use super::sampling::{self, Sampler};
use super::{AnyWriter, Metadata, Record};
use patzer_io::error::{Error, Result};

/// Under what names positions count that the random choices drop.
pub const PER_GAME: &str = "per_game";
/// See [`PER_GAME`].
pub const SAMPLE: &str = "sample";

/// What to do with records on their way to the file.
#[derive(Debug, Clone, Default)]
pub struct OutputSettings {
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

impl OutputSettings {
    /// What is chosen, a line each, as a dataset's metadata keeps it.
    pub fn describe(&self) -> Vec<String> {
        let most = |name: &str, most: Option<usize>| most.map(|most| format!("{name}: {most}"));
        [most(PER_GAME, self.per_game), most(SAMPLE, self.sample)].into_iter().flatten().collect()
    }
}

/// The last stages.
pub struct OutputStage {
    deduper: Option<Deduper>,
    after_dedupe: AfterDedupe,
}

/// The stages after the removal of duplicates.
struct AfterDedupe {
    per_game: Option<usize>,
    seed: u64,
    /// Samples of the last game, of which more may come; empty unless there is a bound for each game.
    unfinished: Vec<Record>,
    picker: Option<Sampler>,
    writer: Option<AnyWriter>,
    done: OutputCounts,
}

/// What became of the records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputCounts {
    /// Those that came.
    pub read: u64,
    /// Those in the dataset, or that would be in it.
    pub written: u64,
    /// Those that are not, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// What the user should know of facts that the format does not carry.
    pub lost: Option<String>,
}

impl OutputStage {
    /// Starts with nothing taken; without a writer it only counts what would be written. Files that memory
    /// overflows to lie in `folder` and have no name.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn new(writer: Option<AnyWriter>, choices: &OutputSettings, folder: &Path) -> Result<OutputStage> {
        let deduper = choices.dedupe.map(|how| Deduper::new(how, choices.memory, folder)).transpose()?;
        let after_dedupe = AfterDedupe {
            per_game: choices.per_game,
            seed: choices.seed,
            unfinished: Vec::new(),
            picker: choices.sample.map(|most| Sampler::new(most, choices.seed)),
            writer,
            done: OutputCounts::default(),
        };
        Ok(OutputStage { deduper, after_dedupe })
    }

    /// Takes the next records. Their keys are needed only if duplicates are dropped.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn take(&mut self, mut records: Vec<Record>, keys: &[u128]) -> Result<()> {
        self.take_from(&mut records, keys)
    }

    /// Takes the next records as [`OutputStage::take`] does, and leaves their memory to be used again where it can.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn take_from(&mut self, records: &mut Vec<Record>, keys: &[u128]) -> Result<()> {
        self.after_dedupe.done.read += records.len() as u64;
        if let Some(deduper) = &mut self.deduper {
            let dropped = deduper.take(records, keys)?;
            self.after_dedupe.drop(DUPLICATES, dropped);
        }
        match self.after_dedupe.per_game {
            None => self.after_dedupe.choose(records),
            Some(_) => self.after_dedupe.take(std::mem::take(records)),
        }
    }

    /// Writes what is left, checks the account, and gives the dataset its name. `about` completes what the file says
    /// of itself, and is called without a file too.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, about: impl FnOnce(&mut Metadata, &OutputCounts)) -> Result<OutputCounts> {
        if let Some(deduper) = self.deduper.take() {
            let dropped = deduper.finish(|records| self.after_dedupe.take(records))?;
            self.after_dedupe.drop(DUPLICATES, dropped);
        }
        self.after_dedupe.finish(about)
    }
}

impl AfterDedupe {
    fn take(&mut self, mut records: Vec<Record>) -> Result<()> {
        let Some(most) = self.per_game else { return self.choose(&records) };
        if !self.unfinished.is_empty() {
            self.unfinished.append(&mut records);
            records = std::mem::take(&mut self.unfinished);
        }
        let last = records.last().map(|record| record.game);
        let whole = records.iter().rposition(|record| Some(record.game) != last).map_or(0, |at| at + 1);
        self.unfinished = records.split_off(whole);
        self.cap(records, most)
    }

    fn cap(&mut self, mut records: Vec<Record>, most: usize) -> Result<()> {
        let before = records.len();
        sampling::per_game(&mut records, most, self.seed);
        self.drop(PER_GAME, (before - records.len()) as u64);
        self.choose(&records)
    }

    fn choose(&mut self, records: &[Record]) -> Result<()> {
        match &mut self.picker {
            Some(picker) => {
                picker.show(records);
                Ok(())
            }
            None => self.write(records),
        }
    }

    fn write(&mut self, records: &[Record]) -> Result<()> {
        self.done.written += records.len() as u64;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(records))
    }

    fn drop(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.done.dropped.entry(reason).or_default() += count;
        }
    }

    fn finish(mut self, about: impl FnOnce(&mut Metadata, &OutputCounts)) -> Result<OutputCounts> {
        if let Some(most) = self.per_game {
            let last = std::mem::take(&mut self.unfinished);
            self.cap(last, most)?;
        }
        if let Some(picker) = self.picker.take() {
            let (records, dropped) = picker.finish();
            self.drop(SAMPLE, dropped);
            self.write(&records)?;
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
