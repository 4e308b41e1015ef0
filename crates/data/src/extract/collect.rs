//! Collects parsed chunks in the order of the input and passes their records to the output stage.
//!
//! With a journal, records also go to a file, from which a later run makes up for a killed one.

use std::path::PathBuf;

use rayon::prelude::*;

use super::file_end::FileEnd;
use super::journal::{Checkpoint, Journal};
use super::parse::{BufferPool, ParsedChunk, ParsedEvent};
use super::scores::ScoreCounts;
use super::settings::{BAD_GAME, NO_RESULT, Settings};
use super::summary::{BadGame, Notice, Summary};
use crate::dedupe::Dedupe;
use crate::filter::{DUPLICATES, FilterSet};
use crate::funnel::FunnelCounts;
use crate::output_stage::{OutputCounts, OutputStage, PER_GAME, SAMPLE};
use crate::{Metadata, Record, Source};
use patzer_formats::recognise::no_games;
use patzer_formats::stream::CompressedOutput;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

pub(super) struct Collector<'a> {
    files: &'a [PathBuf],
    settings: &'a Settings,
    output: OutputStage,
    dedupe: Option<Dedupe>,
    journal: Option<Journal>,
    passed: u64,
    next_game: u64,
    numbered: u64,
    sources: Vec<Source>,
    plausible: bool,
    bad: Vec<BadGame>,
    /// Broken games in the journal.
    journaled: usize,
    damage: Vec<String>,
    pub(super) funnel: Option<FunnelCounts>,
    pub(super) rejects: Option<CompressedOutput>,
    summary: Summary,
    scores: ScoreCounts,
    notice: &'a mut (dyn FnMut(Notice) + Send),
    pool: &'a BufferPool,
}

impl<'a> Collector<'a> {
    /// Starts from the last checkpoint of the journal, if there is one.
    pub(super) fn new(
        files: &'a [PathBuf],
        settings: &'a Settings,
        output: OutputStage,
        dedupe: Option<Dedupe>,
        journal: Option<Journal>,
        notice: &'a mut (dyn FnMut(Notice) + Send),
        pool: &'a BufferPool,
    ) -> Collector<'a> {
        let last = journal.as_ref().and_then(|journal| journal.last().cloned()).unwrap_or_default();
        let passed = journal.as_ref().map_or(0, Journal::rows);
        let sources = last.sources.unwrap_or_default();
        last.bad.iter().for_each(|bad| notice(Notice::BadGame(bad.to_string())));
        if !sources.is_empty() {
            last.damage.iter().for_each(|text| notice(Notice::Damage(text.clone())));
        }
        Collector {
            files,
            settings,
            output,
            dedupe,
            journal,
            passed,
            next_game: last.next_game,
            numbered: 0,
            sources,
            plausible: false,
            journaled: last.bad.len(),
            bad: last.bad,
            rejects: None,
            damage: Vec::new(),
            funnel: None,
            summary: last.summary,
            scores: last.scores,
            notice,
            pool,
        }
    }

    /// The first game still to be parsed; `None` if all files have been read.
    pub(super) fn next_game(&self) -> Option<u64> {
        (self.sources.len() < self.files.len()).then_some(self.next_game)
    }

    pub(super) fn progress(&mut self, bytes: u64) {
        (self.notice)(Notice::Bytes(bytes));
    }

    pub(super) fn take(&mut self, parsed: ParsedEvent) -> Result<()> {
        match parsed {
            ParsedEvent::Chunk(block) => self.take_block(*block),
            ParsedEvent::Other(event) => {
                let end = FileEnd::of(
                    event,
                    self.files,
                    self.settings.keep_partial,
                    "nothing was written",
                    self.notice,
                )?;
                self.damage.extend(end.damage.clone());
                self.end_file(end)
            }
        }
    }

    fn take_block(&mut self, mut block: ParsedChunk) -> Result<()> {
        self.plausible |= block.plausible;
        self.next_game = self.next_game.max(block.next_game);
        self.numbered = block.next_game;
        self.summary.games += block.games;
        self.summary.games_bad += block.bad.len() as u64;
        self.summary.positions_read += block.read;
        self.summary.null_moves += block.null_moves;
        self.scores.add(block.file, block.survey.take(), &block.scores);
        block.skipped.add_to(&mut self.summary.games_skipped);
        block.conflicts.add_to(&mut self.summary.results_conflicting);
        block.dropped.add_to(&mut self.summary.dropped);
        for (game, error) in std::mem::take(&mut block.bad) {
            let bad = BadGame::of(&self.files[block.file], game, error);
            (self.notice)(Notice::BadGame(bad.to_string()));
            self.bad.push(bad);
        }
        if let Some(rejects) = &mut self.rejects {
            rejects.put(&block.rejects)?;
        }
        if let (Some(funnel), Some(counted)) = (&mut self.funnel, block.funnel) {
            funnel.merge(counted);
        }
        self.passed += block.records.len() as u64;
        if let Some(journal) = &mut self.journal {
            journal.push(&block.records)?;
            if journal.is_due(self.summary.positions_read) {
                self.checkpoint()?;
            }
        }
        match self.settings.visits {
            true => self.output.take_with(&block.records, std::mem::take(&mut block.visits))?,
            false => self.output.take(&mut block.records, &block.keys)?,
        }
        self.pool.put(block.records, block.keys);
        Ok(())
    }

    fn end_file(&mut self, FileEnd { file, sha256, bytes, .. }: FileEnd) -> Result<()> {
        let path = &self.files[file];
        if !std::mem::take(&mut self.plausible) {
            return Err(no_games(path));
        }
        let before: u64 = self.sources.iter().filter_map(|source| source.games).sum();
        let games = self.numbered.saturating_sub(before);
        self.sources.push(Source {
            sha256,
            bytes: Some(bytes),
            licence: self.settings.licence.clone(),
            scores: self.scores.survey(file).cloned(),
            games: Some(games),
            ..Source::of(path)
        });
        Ok(())
    }

    pub(super) fn checkpoint(&mut self) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let done = self.sources.len() == self.files.len();
        let written = journal.write(Checkpoint {
            length: 0,
            next_game: self.next_game,
            summary: self.summary.clone(),
            bad: self.bad[self.journaled..].to_vec(),
            damage: self.damage.clone(),
            scores: self.scores.clone(),
            sources: done.then(|| self.sources.clone()),
        });
        self.journaled = self.bad.len();
        written
    }

    pub(super) fn finish(mut self, filters: &FilterSet) -> Result<Summary> {
        if self.sources.len() != self.files.len() {
            let (read, files) = (self.sources.len(), self.files.len());
            return Err(Error::internal(format!("{read} of {files} files were read to their end")));
        }
        let mut summary = self.summary.clone();
        summary.bad_games = self.bad.clone();
        summary.bytes_read = self.sources.iter().filter_map(|source| source.bytes).sum();
        summary.scores = Some(self.scores.summary(|file| self.files[file].display().to_string()));
        if summary.games_bad == summary.games && self.passed == 0 && self.settings.shard.is_none() {
            return Err(BadGame::all(&self.bad));
        }
        // A run that resumes from a complete checkpoint has nothing to add.
        if self.keeps() && self.journal.as_ref().is_some_and(|journal| !journal.is_complete()) {
            self.checkpoint()?;
        }
        let about = |metadata: &mut Metadata, done: &OutputCounts| {
            let mut whole = summary.clone();
            whole.add(done);
            metadata.sources = self.sources;
            metadata.account = Some(whole.account());
        };
        let done = self.output.finish(about)?;
        summary.add(&done);
        summary.check(self.passed, &done)?;
        if let Some(warning) = &done.lost {
            (self.notice)(Notice::Lost(warning.clone()));
        }
        if let Some(funnel) = self.funnel {
            let before = [BAD_GAME, NO_RESULT];
            let after = [
                (DUPLICATES, self.dedupe.map(|_| funnel.duplicates())),
                (PER_GAME, self.settings.per_game.map(|_| funnel.over_cap)),
                (SAMPLE, self.settings.sample.map(|most| funnel.records.saturating_sub(most as u64))),
            ];
            let (read, dropped) = (summary.positions_read, &summary.dropped);
            summary.funnel = Some(funnel.steps(filters, read, dropped, &before, &after)?);
        }
        self.journal.map_or(Ok(()), Journal::finish)?;
        self.rejects.take().map_or(Ok(()), CompressedOutput::commit)?;
        Ok(summary)
    }

    /// Takes the positions of the run that is resumed.
    pub(super) fn replay(&mut self) -> Result<()> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let (dedupe, output) = (self.dedupe, &mut self.output);
        journal.replay(|mut records| {
            interrupt::check()?;
            let keys = dedupe.map(|how| records.par_iter().map(|s: &Record| how.key(s)).collect::<Vec<_>>());
            output.take(&mut records, &keys.unwrap_or_default())
        })
    }

    /// Tests whether the journal is in files.
    pub(super) fn keeps(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::is_in_files)
    }

    /// Keeps the state of an interrupted run; false where there is none.
    pub(super) fn interrupt(&mut self) -> Result<bool> {
        if self.keeps() { self.checkpoint().map(|()| true) } else { Ok(false) }
    }
}
