//! Parses and filters chunks of games, on any thread: a [`ParsedChunk`] depends on its chunk alone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::settings::{BAD_GAME, NO_RESULT, Settings};
use crate::Record;
use crate::dedupe::Dedupe;
use crate::filter::{FilterSet, GameTags};
use crate::funnel::FunnelCounts;
use crate::rejects;
use patzer_formats::extra::ExtraRow;
use patzer_pgn::{Chunk, Event, GameError, GameSpan, Parser, ScoreTally, Scoring, Survey, Surveyed};

pub(super) enum ParsedEvent {
    Chunk(Box<ParsedChunk>),
    Other(Event),
}

#[derive(Default)]
pub(super) struct ParsedChunk {
    pub(super) file: usize,
    pub(super) next_game: u64,
    pub(super) games: u64,
    /// Broken games, their numbers counted in the file.
    pub(super) bad: Vec<(u64, GameError)>,
    pub(super) skipped: ReasonCounts,
    pub(super) conflicts: ReasonCounts,
    pub(super) read: u64,
    pub(super) dropped: ReasonCounts,
    pub(super) records: Vec<Record>,
    /// Rows of the records' visits, if they are wanted.
    pub(super) visits: Vec<ExtraRow>,
    pub(super) keys: Vec<u128>,
    pub(super) plausible: bool,
    pub(super) funnel: Option<FunnelCounts>,
    pub(super) survey: Option<Survey>,
    pub(super) scores: ScoreTally,
    pub(super) null_moves: u64,
    /// Text of the refused games, if a file wants it.
    pub(super) rejects: Vec<u8>,
}

impl ParsedChunk {
    fn filter(&mut self, first: usize, filters: &FilterSet, tags: &GameTags) {
        let in_game = filters.in_game(tags);
        let mut kept = first;
        for at in first..self.records.len() {
            let record = &self.records[at];
            let by_game = in_game.iter().find(|(_, keeps)| !keeps(record)).map(|(name, _)| *name);
            match by_game.map_or_else(|| filters.keep(record), Err) {
                Ok(()) => {
                    if kept != at {
                        self.records[kept] = self.records[at];
                        if !self.visits.is_empty() {
                            self.visits.swap(kept, at);
                        }
                    }
                    kept += 1;
                }
                Err(reason) => self.dropped.add(reason, 1),
            }
        }
        self.truncate(kept);
    }

    fn truncate(&mut self, count: usize) {
        self.records.truncate(count);
        self.visits.truncate(count);
    }
}

/// Buffers of finished chunks for reuse: getting the memory from the system, page by page, costs as much as parsing.
#[derive(Default)]
pub(super) struct BufferPool(Mutex<Vec<(Vec<Record>, Vec<u128>)>>);

impl BufferPool {
    pub(super) fn put(&self, mut records: Vec<Record>, mut keys: Vec<u128>) {
        records.clear();
        keys.clear();
        if let Ok(mut pool) = self.0.lock() {
            pool.push((records, keys));
        }
    }

    fn get(&self) -> (Vec<Record>, Vec<u128>) {
        self.0.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default()
    }
}

/// Counts by reason, in a list since there are few reasons.
#[derive(Default)]
pub(crate) struct ReasonCounts(Vec<(&'static str, u64)>);

impl ReasonCounts {
    #[inline]
    pub(crate) fn add(&mut self, reason: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, total)) => *total += count,
            None => self.0.push((reason, count)),
        }
    }

    pub(crate) fn add_to(&self, totals: &mut BTreeMap<String, u64>) {
        for (reason, count) in &self.0 {
            *totals.entry(reason.to_string()).or_default() += count;
        }
    }
}

/// Tests whether a game that is not selected shows that its file holds games: it has tags, or else a first ply.
pub(crate) fn is_game(chunk: &Chunk, span: &GameSpan) -> bool {
    let parses = || Parser::default().parse(&chunk.text, span, 0, &mut Vec::new()).plausible;
    span.movetext > span.start || parses()
}

pub(super) struct ChunkParser<'a> {
    pub(super) filters: &'a FilterSet,
    pub(super) settings: &'a Settings,
    pub(super) key: Option<Dedupe>,
    pub(super) next_game: u64,
    pub(super) pool: &'a BufferPool,
}

impl ChunkParser<'_> {
    pub(super) fn parse(&self, surveyed: Surveyed) -> ParsedEvent {
        match surveyed.event {
            Event::Chunk(chunk) => {
                let mut block = self.parse_chunk(&chunk, surveyed.scoring);
                block.survey = surveyed.survey;
                ParsedEvent::Chunk(Box::new(block))
            }
            other => ParsedEvent::Other(other),
        }
    }

    #[inline]
    fn selects(&self, game: u64) -> bool {
        game >= self.next_game && self.settings.shard.is_none_or(|shard| shard.has(game))
    }

    fn reject(&self, block: &mut ParsedChunk, chunk: &Chunk, span: &GameSpan, reason: &str) {
        if self.settings.rejects.is_some() {
            let tagged = span.movetext > span.start;
            rejects::push(&mut block.rejects, &chunk.text[span.start..span.end], reason, tagged);
        }
    }

    fn parse_chunk(&self, chunk: &Chunk, scoring: Arc<Scoring>) -> ParsedChunk {
        let (filters, settings) = (self.filters, self.settings);
        let next_game = chunk.number + chunk.games.len() as u64;
        let (records, keys) = self.pool.get();
        let mut block = ParsedChunk { file: chunk.file, next_game, records, keys, ..ParsedChunk::default() };
        block.funnel = settings.funnel.then(|| FunnelCounts::new(filters));
        // A ply rarely takes fewer than six bytes of text; untouched memory costs nothing. A game of many megabytes is
        // hardly one.
        block.records.reserve((chunk.text.len() / 6).min(1 << 16));
        let mut parser = Parser::new(scoring);
        parser.clocks = filters.reads_clocks().then(Vec::new);
        parser.visits = settings.visits.then(Vec::new);
        for (index, span) in chunk.games.iter().enumerate() {
            let number = chunk.number + index as u64;
            if !self.selects(number) {
                block.plausible = block.plausible || is_game(chunk, span);
                continue;
            }
            block.games += 1;
            let game = parser.parse(&chunk.text, span, number as u32, &mut block.records);
            let (first, positions) = (game.records.start, game.records.len() as u64);
            let visits = parser.visits.iter().flatten();
            block.visits.extend(visits.map(|visits| ExtraRow::of_visits(visits)));
            block.plausible |= game.plausible;
            block.read += positions;
            block.null_moves += u64::from(game.null_moves);
            if let Some(fault) = chunk.cut(index).or(game.error) {
                let drops = !settings.keep_partial || game.result.is_none() || positions == 0;
                if drops {
                    self.reject(&mut block, chunk, span, &fault.reason);
                }
                block.bad.push((chunk.first + index as u64, fault));
                if drops {
                    block.dropped.add(BAD_GAME, positions);
                    block.truncate(first);
                    continue;
                }
            } else if game.other_variant {
                block.skipped.add("variant", 1);
                self.reject(&mut block, chunk, span, "variant");
                continue;
            } else if game.result.is_none() {
                block.skipped.add(NO_RESULT, 1);
                self.reject(&mut block, chunk, span, NO_RESULT);
                block.dropped.add(NO_RESULT, positions);
                block.truncate(first);
                continue;
            }
            if let Some(conflict) = game.conflict {
                block.conflicts.add(conflict.name(), 1);
            }
            let mut tags = GameTags::default();
            if filters.reads_tags() {
                tags = GameTags::of(
                    &chunk.text[span.start..span.movetext],
                    &chunk.text[span.movetext..span.end],
                );
                tags.clocks = parser.clocks.clone().unwrap_or_default();
            }
            if let Some(funnel) = &mut block.funnel {
                funnel.count(filters, &tags, &block.records[first..], self.key, settings.per_game);
            }
            if let Err(reason) = filters.keep_game(&tags) {
                block.dropped.add(reason, positions);
                block.truncate(first);
                self.reject(&mut block, chunk, span, reason);
                continue;
            }
            if positions == 0 {
                self.reject(&mut block, chunk, span, "no_positions");
                continue;
            }
            block.filter(first, filters, &tags);
        }
        block.scores = parser.tally;
        if let Some(dedupe) = self.key {
            block.keys.extend(block.records.iter().map(|record| dedupe.key(record)));
        }
        block
    }
}
