//! Selection of whole games: PGN in, PGN out.
//!
//! A game stays if the filters of games keep it and, where there are filters of positions, enough of its positions
//! pass them. As in [`crate::extract`], one thread reads and splits games, all threads judge a batch of chunks while
//! one of them writes the batch before, in the order of the input: the output depends on the input and the settings
//! alone. Every game is written or counted under the reason that dropped it.

mod chunk;
mod files;
mod restore;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::extract::scores::ScoreCounts;
use super::extract::{BadGame, FileEnd, Notice, ScoreSummary, each_batch};
use super::filter::{DUPLICATES, Pipeline};
use super::key_set::KeySet;
use super::rejects;
use chunk::{SelectedChunk, SelectedEvent, Selector};
use files::GameFiles;
use patzer_formats::recognise::no_games;
use patzer_formats::stream::CompressedOutput;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;
use patzer_pgn::{ScoreOptions, SurveyedReader};
pub use restore::{Restored, restore};
pub use settings::{Settings, Unique};

/// Chunks of 64 KiB for each thread in a batch.
const CHUNKS: usize = 8;

#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    pub games: u64,
    pub games_bad: u64,
    /// Every broken game.
    pub bad_games: Vec<BadGame>,
    pub games_written: u64,
    /// Dropped games by reason: a filter, `bad_game`, `no_result`, `variant`, `positions` (too few pass the filters) or
    /// `duplicates`.
    pub dropped: BTreeMap<String, u64>,
    /// Games with conflicting results, by the source that won; see [`crate::extract::Summary`].
    pub results_conflicting: BTreeMap<String, u64>,
    /// Variations that could not be read and became comments, unless comments go.
    pub variations_unread: u64,
    /// Number of games written by value of the tags to count; empty if they lack the tag.
    pub counts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Files written.
    #[serde(serialize_with = "patzer_io::path_text")]
    pub files: Vec<PathBuf>,
    /// Reading of scores in comments, if filters of positions may have used them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreSummary>,
    pub seconds: f64,
    /// Bytes of the files on disk.
    pub bytes_read: u64,
    pub bytes_per_second: f64,
}

/// Writes the games that stay to `output`, or without one counts them.
pub fn select(
    files: &[PathBuf],
    output: Option<&Path>,
    mut pipeline: Pipeline,
    settings: &Settings,
    notice: &mut (dyn FnMut(Notice) + Send),
) -> Result<Summary> {
    let started = Instant::now();
    let (filters, seen) = pipeline.halves();
    if seen.is_some() {
        let reason =
            "filter `duplicates`, or a preset with it, drops positions that have come before, not games";
        return Err(Error::usage(reason).hint(Hint::UniqueGames));
    }
    let mut collector = Collector {
        files,
        settings,
        seen: settings.unique.map(|_| KeySet::new()),
        output: output.map(|path| GameFiles::create(path, settings.per_file, files)).transpose()?,
        rejects: settings.rejects.as_deref().map(rejects::create).transpose()?,
        scores: ScoreCounts::default(),
        plausible: false,
        summary: Summary::default(),
        notice,
    };
    let selector = Selector { filters, settings };
    let mut reader = SurveyedReader::start(files.to_vec(), ScoreOptions::default(), false)?;
    let most = CHUNKS * rayon::current_num_threads();
    let whole = each_batch(
        &mut reader,
        most,
        |event| selector.select(event),
        |selected, bytes| {
            (collector.notice)(Notice::Bytes(bytes));
            selected.into_iter().try_for_each(|event| collector.take(event))
        },
    )?;
    if !whole {
        return Err(match settings.per_file {
            Some(_) => Error::Interrupted(settings.left()),
            None => interrupt::error(),
        });
    }
    let mut summary = collector.finish(filters.judges_positions())?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.bytes_per_second = summary.bytes_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}

/// Takes selected chunks in the order of the input.
struct Collector<'a> {
    files: &'a [PathBuf],
    settings: &'a Settings,
    seen: Option<KeySet>,
    output: Option<GameFiles>,
    rejects: Option<CompressedOutput>,
    scores: ScoreCounts,
    plausible: bool,
    summary: Summary,
    notice: &'a mut (dyn FnMut(Notice) + Send),
}

impl Collector<'_> {
    fn take(&mut self, event: SelectedEvent) -> Result<()> {
        match event {
            SelectedEvent::Chunk(chunk) => self.take_chunk(*chunk),
            SelectedEvent::Other(event) => {
                let end = FileEnd::of(
                    event,
                    self.files,
                    self.settings.keep_partial,
                    self.settings.left(),
                    self.notice,
                )?;
                if !std::mem::take(&mut self.plausible) {
                    return Err(no_games(&self.files[end.file]));
                }
                self.summary.bytes_read += end.bytes;
                Ok(())
            }
        }
    }

    fn take_chunk(&mut self, mut chunk: SelectedChunk) -> Result<()> {
        self.plausible |= chunk.plausible;
        self.scores.add(chunk.file, chunk.survey.take(), &chunk.scores);
        self.summary.games += chunk.games;
        self.summary.games_bad += chunk.bad.len() as u64;
        self.summary.variations_unread += chunk.variations_unread;
        chunk.dropped.add_to(&mut self.summary.dropped);
        chunk.conflicts.add_to(&mut self.summary.results_conflicting);
        for (game, error) in std::mem::take(&mut chunk.bad) {
            let bad = BadGame::of(&self.files[chunk.file], game, error);
            (self.notice)(Notice::BadGame(bad.to_string()));
            self.summary.bad_games.push(bad);
        }
        let mut start = 0;
        for kept in &chunk.kept {
            let text = &chunk.text[start..kept.end];
            start = kept.end;
            let repeated = kept.key.zip(self.seen.as_mut()).is_some_and(|(key, seen)| !seen.insert(key));
            if repeated {
                *self.summary.dropped.entry(DUPLICATES.to_string()).or_default() += 1;
                if self.rejects.is_some() {
                    rejects::push(&mut chunk.rejects, text, DUPLICATES, kept.tagged);
                }
                continue;
            }
            self.summary.games_written += 1;
            for (tag, value) in self.settings.count.iter().zip(&kept.values) {
                let values = self.summary.counts.entry(tag.clone()).or_default();
                *values.entry(value.clone()).or_default() += 1;
            }
            if let Some(output) = &mut self.output {
                output.write(text, kept.tagged)?;
            }
        }
        self.rejects.as_mut().map_or(Ok(()), |rejects| rejects.put(&chunk.rejects))
    }

    fn finish(self, scored: bool) -> Result<Summary> {
        let mut summary = self.summary;
        let counted = summary.games_written + summary.dropped.values().sum::<u64>();
        if counted != summary.games {
            return Err(Error::internal(format!("{} games were read, {counted} are counted", summary.games)));
        }
        if summary.games > 0 && summary.games_bad == summary.games {
            return Err(BadGame::all(&summary.bad_games));
        }
        let names = |file: usize| self.files[file].display().to_string();
        summary.scores = scored.then(|| self.scores.summary(names));
        if let Some(output) = self.output {
            summary.files = output.finish(self.notice)?;
        }
        self.rejects.map_or(Ok(()), CompressedOutput::commit)?;
        Ok(summary)
    }
}
