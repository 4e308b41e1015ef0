//! From games to a dataset: reads, parses, filters, chooses, writes.
//!
//! In: files of games and a [`Pipeline`]. Out: a dataset, and a [`Summary`] in which every game and every position
//! that was read is accounted for. One thread reads and cuts; all threads parse and filter batches of chunks while
//! one of them takes over the batch before, in the order of the input: removes duplicates, chooses, writes. So
//! the dataset depends on the input, the filters and the seed, and on nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::filter::{DUPLICATES, Judge, Pipeline};
use super::key_set::KeySet;
use super::pick::{self, Picker};
use super::{Metadata, Sample, Source, Writer};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::pgn::{Chunk, EvalSide, Event, Parser, Reader};

/// Under what name positions count that no filter drops.
const BAD_GAME: &str = "bad_game";
const NO_RESULT: &str = "no_result";
const PER_GAME: &str = "per_game";
const SAMPLE: &str = "sample";

/// What to do beside filtering.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// At most this many positions a game, chosen at random among those that the filters leave.
    pub per_game: Option<usize>,
    /// This many positions of all, chosen at random after everything else.
    pub sample: Option<usize>,
    /// Seed of the random choices.
    pub seed: u64,
    /// Keep the positions of a broken game before its fault, and the games before a file's damage.
    pub keep_partial: bool,
    /// For whom the scores in comments speak.
    pub eval_side: EvalSide,
}

/// What was read, kept and dropped.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Games that were read, bad ones and skipped ones included.
    pub games: u64,
    /// Games with a fault.
    pub games_bad: u64,
    /// Games without a fault that give nothing, by reason: `no_result`, `variant`.
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Games whose results disagree, by what was believed instead: the board's `checkmate` or `stalemate`, or the Result
    /// tag rather than the end of the `movetext`.
    pub results_conflicting: BTreeMap<&'static str, u64>,
    /// Positions from which a move was played, those of bad games before the fault included.
    pub positions_read: u64,
    /// Positions in the dataset, or that would be in it.
    pub positions_written: u64,
    /// Positions that are not, by reason: a filter, `bad_game`, `no_result`, `per_game` or `sample`.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Positions read in a second.
    pub positions_per_second: f64,
}

/// What is worth telling while it goes on.
#[derive(Debug)]
pub enum Notice {
    /// How many bytes of the files have been read.
    Bytes(u64),
    /// A broken game, as `file: game N, line L: reason`.
    BadGame(String),
    /// A damaged file whose readable part is kept.
    Damage(String),
}

/// Makes a dataset at `output`, or only counts what would be in it.
///
/// # Errors
/// If a file cannot be read, holds no games or is damaged, if no game at all can be read, if the dataset cannot be
/// written, or if the user interrupts. Nothing is written then.
pub fn extract(
    files: &[PathBuf],
    output: Option<&Path>,
    mut pipeline: Pipeline,
    settings: &Settings,
    notice: &mut (dyn FnMut(Notice) + Send),
) -> Result<Summary> {
    let started = Instant::now();
    let mut applied = pipeline.describe();
    applied.extend(settings.per_game.map(|most| format!("{PER_GAME}: {most}")));
    applied.extend(settings.sample.map(|most| format!("{SAMPLE}: {most}")));
    let metadata = Metadata::new(Vec::new(), applied, settings.seed);
    let writer = output.map(|path| Writer::create(path, metadata)).transpose()?;
    let (judge, seen) = pipeline.halves();
    let wants_keys = seen.is_some();
    let mut sink = Sink {
        files,
        settings,
        seen,
        picker: settings.sample.map(|most| Picker::new(most, settings.seed)),
        writer,
        sources: Vec::new(),
        plausible: false,
        first_bad: None,
        summary: Summary::default(),
        notice,
    };
    let reader = Reader::start(files.to_vec())?;
    let mut parsed = Vec::new();
    loop {
        let batch: Vec<Event> =
            std::iter::from_fn(|| reader.next_event()).take(4 * rayon::current_num_threads()).collect();
        if interrupt::requested() {
            return Err(Error::usage("interrupted; nothing was written"));
        }
        let last = batch.is_empty();
        (sink.notice)(Notice::Bytes(reader.bytes()));
        let (taken, next) = rayon::join(
            || std::mem::take(&mut parsed).into_iter().try_for_each(|parsed| sink.take(parsed)),
            || batch.into_par_iter().map(|event| parse(event, judge, wants_keys, settings)).collect(),
        );
        taken?;
        parsed = next;
        if last {
            break;
        }
    }
    let mut summary = sink.finish()?;
    summary.seconds = started.elapsed().as_secs_f64();
    summary.positions_per_second = summary.positions_read as f64 / summary.seconds.max(1e-9);
    Ok(summary)
}

/// An event, with its games parsed and filtered.
enum Parsed {
    Block(Block),
    Other(Event),
}

/// What a chunk's games came to.
#[derive(Default)]
struct Block {
    file: usize,
    games: u64,
    /// Number in the file, line, reason.
    bad: Vec<(u64, u64, String)>,
    skipped: Tally,
    conflicts: Tally,
    read: u64,
    dropped: Tally,
    samples: Vec<Sample>,
    /// The samples' keys, if duplicates are dropped.
    keys: Vec<u128>,
    plausible: bool,
}

impl Block {
    /// Leaves of the samples from `first` on those that the filters keep, without moving what stays where it is.
    fn filter(&mut self, first: usize, judge: &Judge) {
        let mut kept = first;
        for at in first..self.samples.len() {
            match judge.keep(&self.samples[at]) {
                Ok(()) => {
                    if kept != at {
                        self.samples[kept] = self.samples[at];
                    }
                    kept += 1;
                }
                Err(reason) => self.dropped.add(reason, 1),
            }
        }
        self.samples.truncate(kept);
    }
}

/// Counts by reason; there are few reasons.
#[derive(Default)]
struct Tally(Vec<(&'static str, u64)>);

impl Tally {
    #[inline]
    fn add(&mut self, reason: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, total)) => *total += count,
            None => self.0.push((reason, count)),
        }
    }

    fn add_to(&self, totals: &mut BTreeMap<&'static str, u64>) {
        for (reason, count) in &self.0 {
            *totals.entry(reason).or_default() += count;
        }
    }
}

fn parse(event: Event, judge: &Judge, wants_keys: bool, settings: &Settings) -> Parsed {
    match event {
        Event::Chunk(chunk) => Parsed::Block(parse_chunk(&chunk, judge, wants_keys, settings)),
        other => Parsed::Other(other),
    }
}

/// Parses and filters the games of a chunk.
fn parse_chunk(chunk: &Chunk, judge: &Judge, wants_keys: bool, settings: &Settings) -> Block {
    let mut block = Block { file: chunk.file, games: chunk.games.len() as u64, ..Block::default() };
    let mut parser = Parser::new(settings.eval_side);
    for (index, piece) in chunk.games.iter().enumerate() {
        let number = (chunk.number + index as u64) as u32;
        let game = parser.parse(&chunk.text, piece, number, &mut block.samples);
        let first = game.samples.start;
        let positions = game.samples.len() as u64;
        let cut_short = chunk.cut_short && index + 1 == chunk.games.len();
        block.plausible |= game.plausible;
        block.read += positions;
        let fault = game.fault.map(|fault| fault.reason);
        if let Some(reason) = cut_short.then(|| "the file breaks off in it".into()).or(fault) {
            block.bad.push((chunk.first + index as u64, piece.line, reason));
            if !settings.keep_partial || game.result.is_none() {
                block.dropped.add(BAD_GAME, positions);
                block.samples.truncate(first);
                continue;
            }
        } else if game.other_variant {
            block.skipped.add("variant", 1);
            continue;
        } else if game.result.is_none() {
            block.skipped.add(NO_RESULT, 1);
            block.dropped.add(NO_RESULT, positions);
            block.samples.truncate(first);
            continue;
        }
        if let Some(conflict) = game.conflict {
            block.conflicts.add(conflict.name(), 1);
        }
        block.filter(first, judge);
    }
    if wants_keys {
        block.keys = block.samples.iter().map(Sample::key).collect();
    }
    block
}

/// Takes what was parsed, in the order of the input.
struct Sink<'a> {
    files: &'a [PathBuf],
    settings: &'a Settings,
    seen: Option<&'a mut KeySet>,
    picker: Option<Picker>,
    writer: Option<Writer>,
    sources: Vec<Source>,
    /// Whether anything in the current file looks like a game.
    plausible: bool,
    /// What is wrong with the first broken game.
    first_bad: Option<String>,
    summary: Summary,
    notice: &'a mut (dyn FnMut(Notice) + Send),
}

impl Sink<'_> {
    fn take(&mut self, parsed: Parsed) -> Result<()> {
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
        block.conflicts.add_to(&mut self.summary.results_conflicting);
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
    fn finish(mut self) -> Result<Summary> {
        if let Some(picker) = self.picker.take() {
            let (samples, dropped) = picker.finish();
            self.drop(SAMPLE, dropped as usize);
            self.write(&samples)?;
        }
        let summary = self.summary;
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
            writer.metadata().sources = self.sources;
            let rows = writer.finish()?;
            if rows != summary.positions_written {
                return Err(Error::internal(format!(
                    "{rows} rows for {} positions",
                    summary.positions_written
                )));
            }
        }
        Ok(summary)
    }
}
