//! Takes blocks over in the order of the input: removes duplicates, chooses, writes, and keeps the account.
//!
//! In: what the parsing threads made, in order. Out: a dataset, and the summary of what is in it and what is not.

use std::path::PathBuf;

use super::super::filter::DUPLICATES;
use super::super::key_set::KeySet;
use super::super::pick::{self, Picker};
use super::super::{AnyWriter, Sample, Source};
use super::parse::{Block, Parsed};
use super::{Notice, PER_GAME, SAMPLE, Settings, Summary};
use crate::error::{Error, Result};
use crate::pgn::Event;

/// Takes what was parsed, in the order of the input.
pub(super) struct Sink<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) settings: &'a Settings,
    pub(super) seen: Option<&'a mut KeySet>,
    pub(super) picker: Option<Picker>,
    pub(super) writer: Option<AnyWriter>,
    pub(super) sources: Vec<Source>,
    /// Whether anything in the current file looks like a game.
    pub(super) plausible: bool,
    /// What is wrong with the first broken game.
    pub(super) first_bad: Option<String>,
    pub(super) summary: Summary,
    pub(super) notice: &'a mut (dyn FnMut(Notice) + Send),
}

impl Sink<'_> {
    pub(super) fn take(&mut self, parsed: Parsed) -> Result<()> {
        match parsed {
            Parsed::Block(block) => self.take_block(block),
            Parsed::Other(Event::End { file, sha256 }) => self.end_file(file, sha256),
            Parsed::Other(Event::Broken { file, error, sha256 }) if self.settings.keep_partial => {
                (self.notice)(Notice::Damage(format!("{error}; what could be read is kept")));
                self.end_file(file, sha256)
            }
            Parsed::Other(Event::Broken { error, .. }) => Err(Error::usage(format!(
                "{error}; nothing was written; --keep-partial keeps what could be read"
            ))),
            Parsed::Other(Event::Failed(error)) => Err(error),
            Parsed::Other(Event::Chunk(_)) => Err(Error::internal("a chunk was not parsed")),
        }
    }

    fn take_block(&mut self, mut block: Block) -> Result<()> {
        self.plausible |= block.plausible;
        self.summary.games += block.games;
        self.summary.games_bad += block.bad.len() as u64;
        self.summary.positions_read += block.read;
        block.skipped.add_to(&mut self.summary.games_skipped);
        block.dropped.add_to(&mut self.summary.dropped);
        for (game, line, reason) in block.bad {
            let path = self.files[block.file].display();
            let text = format!("{path}: game {game}, line {line}: {reason}");
            self.first_bad.get_or_insert_with(|| text.clone());
            (self.notice)(Notice::BadGame(text));
        }
        if let Some(seen) = &mut self.seen {
            let mut keys = block.keys.iter();
            let before = block.samples.len();
            block.samples.retain(|_| keys.next().is_none_or(|key| seen.insert(*key)));
            self.drop(DUPLICATES, before - block.samples.len());
        }
        if let Some(most) = self.settings.per_game {
            let before = block.samples.len();
            pick::per_game(&mut block.samples, most, self.settings.seed);
            self.drop(PER_GAME, before - block.samples.len());
        }
        match &mut self.picker {
            Some(picker) => picker.show(&block.samples),
            None => self.write(&block.samples)?,
        }
        Ok(())
    }

    fn drop(&mut self, reason: &'static str, count: usize) {
        if count > 0 {
            *self.summary.dropped.entry(reason).or_default() += count as u64;
        }
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        self.summary.positions_written += samples.len() as u64;
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(samples))
    }

    fn end_file(&mut self, file: usize, sha256: String) -> Result<()> {
        let path = &self.files[file];
        if !std::mem::take(&mut self.plausible) {
            return Err(Error::data(path, "holds no games in PGN"));
        }
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
        self.sources.push(Source { name, sha256 });
        Ok(())
    }

    /// Checks the account and gives the dataset its name.
    pub(super) fn finish(mut self) -> Result<Summary> {
        if let Some(picker) = self.picker.take() {
            let (samples, dropped) = picker.finish();
            self.drop(SAMPLE, dropped as usize);
            self.write(&samples)?;
        }
        let mut summary = self.summary;
        let accounted = summary.positions_written + summary.dropped.values().sum::<u64>();
        if accounted != summary.positions_read || self.sources.len() != self.files.len() {
            return Err(Error::internal(format!(
                "{} positions and {} files were read, but {accounted} and {} are accounted for",
                summary.positions_read,
                self.files.len(),
                self.sources.len()
            )));
        }
        if summary.games_bad == summary.games && summary.positions_written == 0 {
            let (games, first) = (summary.games, self.first_bad.unwrap_or_default());
            return Err(Error::usage(format!("{first}; none of the {games} games could be read")));
        }
        if let Some(mut writer) = self.writer {
            if let Some(metadata) = writer.metadata() {
                metadata.sources = self.sources;
            }
            let (path, format) = (writer.path().to_path_buf(), writer.format());
            let written = writer.finish()?;
            if let Some(warning) = written.warning(&path, format) {
                (self.notice)(Notice::Lost(warning));
            }
            let left_out: u64 = written.dropped.values().sum();
            if written.positions + left_out != summary.positions_written {
                let rows = written.positions;
                return Err(Error::internal(format!(
                    "{rows} rows for {} positions",
                    summary.positions_written
                )));
            }
            summary.positions_written = written.positions;
            for (reason, count) in written.dropped {
                *summary.dropped.entry(reason).or_default() += count;
            }
        }
        Ok(summary)
    }
}
