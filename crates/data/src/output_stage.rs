//! The stages after the filters: removal of duplicates, random sampling, writing. `extract` and `data merge` share
//! them, so that a merge of shards gives what one run gives.

use std::collections::BTreeMap;
use std::path::Path;

use super::dedupe::{Dedupe, Deduper};
use super::filter::DUPLICATES;
use super::sampling::{self, Sampler};
use super::{AnyWriter, Metadata, Record};
use patzer_chess::rng::mix;
use patzer_formats::extra::ExtraRow;
use patzer_io::error::{Error, Result};

/// Reason of positions dropped by the limit of positions a game.
pub const PER_GAME: &str = "per_game";
/// Reason of positions dropped by sampling the whole.
pub const SAMPLE: &str = "sample";

/// Deduplication and sampling of records on their way to the file.
#[derive(Debug, Clone, Default)]
pub struct OutputSettings {
    /// Rule for equal positions to drop; `None` keeps all.
    pub dedupe: Option<Dedupe>,
    /// Random sample of at most this many positions of each game, after the filters.
    pub per_game: Option<usize>,
    pub sample: Option<usize>,
    pub seed: u64,
    /// Approximate bytes of memory for the removal of duplicates; the rest goes to temporary files.
    pub memory: usize,
}

impl OutputSettings {
    pub fn describe(&self) -> Vec<String> {
        let most = |name: &str, most: Option<usize>| most.map(|most| format!("{name}: {most}"));
        [most(PER_GAME, self.per_game), most(SAMPLE, self.sample)].into_iter().flatten().collect()
    }

    /// Tests whether the stages may drop positions.
    pub fn drops(&self) -> bool {
        self.dedupe.is_some() || self.per_game.is_some() || self.sample.is_some()
    }
}

/// Removes duplicates, samples and writes.
pub struct OutputStage {
    deduper: Option<Deduper>,
    per_game: Option<usize>,
    seed: u64,
    /// Records of the last game, which may continue; only used with a limit of positions a game.
    unfinished: Vec<Record>,
    sampler: Option<Sampler>,
    writer: Option<AnyWriter>,
    counts: OutputCounts,
}

/// Counts of records read, written and dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputCounts {
    pub read: u64,
    pub written: u64,
    pub dropped: BTreeMap<&'static str, u64>,
    pub lost: Option<String>,
}

impl OutputStage {
    /// A stage that without a writer counts the positions to write. Temporary files lie in `folder`.
    pub fn new(writer: Option<AnyWriter>, settings: &OutputSettings, folder: &Path) -> Result<OutputStage> {
        Ok(OutputStage {
            deduper: settings.dedupe.map(|how| Deduper::new(how, settings.memory, folder)).transpose()?,
            per_game: settings.per_game,
            seed: settings.seed,
            unfinished: Vec::new(),
            sampler: settings.sample.map(|most| Sampler::new(most, mix(settings.seed, sampling::OVERALL))),
            writer,
            counts: OutputCounts::default(),
        })
    }

    /// Takes the next records, with their keys if duplicates are dropped, and leaves their buffer for reuse where it
    /// can.
    pub fn take(&mut self, records: &mut Vec<Record>, keys: &[u128]) -> Result<()> {
        self.counts.read += records.len() as u64;
        if let Some(deduper) = &mut self.deduper {
            let dropped = deduper.take(records, keys)?;
            self.drop(DUPLICATES, dropped);
        }
        self.take_unique(records)
    }

    /// Writes the next records with the rows of their unknown columns; only where no stage drops any.
    pub fn take_with(&mut self, records: &[Record], extra: Vec<ExtraRow>) -> Result<()> {
        self.counts.read += records.len() as u64;
        self.counts.written += records.len() as u64;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write_with(records, Some(extra)))
    }

    fn take_unique(&mut self, records: &mut Vec<Record>) -> Result<()> {
        let Some(most) = self.per_game else { return self.sample(records) };
        let mut records = std::mem::take(records);
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
        self.sample(&records)
    }

    fn sample(&mut self, records: &[Record]) -> Result<()> {
        match &mut self.sampler {
            Some(sampler) => {
                sampler.offer_all(records);
                Ok(())
            }
            None => self.write(records),
        }
    }

    fn write(&mut self, records: &[Record]) -> Result<()> {
        self.counts.written += records.len() as u64;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(records))
    }

    fn drop(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.counts.dropped.entry(reason).or_default() += count;
        }
    }

    /// Writes the rest, checks the counts, and renames the dataset to its final name. `about` completes the metadata,
    /// also where there is no file.
    pub fn finish(mut self, about: impl FnOnce(&mut Metadata, &OutputCounts)) -> Result<OutputCounts> {
        if let Some(deduper) = self.deduper.take() {
            let dropped = deduper.finish(|mut records| self.take_unique(&mut records))?;
            self.drop(DUPLICATES, dropped);
        }
        if let Some(most) = self.per_game {
            let last = std::mem::take(&mut self.unfinished);
            self.cap(last, most)?;
        }
        if let Some(sampler) = self.sampler.take() {
            let (records, dropped) = sampler.finish();
            self.drop(SAMPLE, dropped);
            self.write(&records)?;
        }
        let mut counts = self.counts;
        let counted = counts.written + counts.dropped.values().sum::<u64>();
        if counted != counts.read {
            return Err(Error::internal(format!("{counted} of {} positions are counted", counts.read)));
        }
        let Some(mut writer) = self.writer else {
            about(&mut Metadata::default(), &counts);
            return Ok(counts);
        };
        let mut unwritten = Metadata::default();
        about(writer.metadata().unwrap_or(&mut unwritten), &counts);
        let (path, format) = (writer.path().to_path_buf(), writer.format());
        let written = writer.finish()?;
        counts.lost = written.warning(&path, format);
        if written.positions + written.dropped.values().sum::<u64>() != counts.written {
            let rows = written.positions;
            return Err(Error::internal(format!("{rows} rows for {} positions", counts.written)));
        }
        counts.written = written.positions;
        for (reason, count) in written.dropped {
            *counts.dropped.entry(reason).or_default() += count;
        }
        Ok(counts)
    }
}
