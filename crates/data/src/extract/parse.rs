//! From chunks of games to blocks of records, on any thread.
//!
//! In: a chunk of whole games. Out: a [`Block`]: the records that the filters leave, their keys, and the account of
//! everything else in the chunk. A block depends on its chunk alone, so any thread may make it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::super::Record;
use super::super::dedupe::Dedupe;
use super::super::filter::{GameFacts, Judge};
use super::super::format::metadata::Shard;
use super::super::funnel::Account;
use super::{BAD_GAME, NO_RESULT, Settings};
use patzer_pgn::{Chunk, Event, Parser};

/// An event, with its games parsed and filtered.
pub(super) enum Parsed {
    Block(Block),
    Other(Event),
}

/// What a chunk's games came to.
#[derive(Default)]
pub(super) struct Block {
    pub(super) file: usize,
    /// The number of the first game after the chunk.
    pub(super) next_game: u64,
    /// Games that were parsed.
    pub(super) games: u64,
    /// Number in the file, line, reason.
    pub(super) bad: Vec<(u64, u64, String)>,
    pub(super) skipped: Tally,
    pub(super) conflicts: Tally,
    pub(super) read: u64,
    pub(super) dropped: Tally,
    pub(super) records: Vec<Record>,
    /// The records' keys, if duplicates are dropped.
    pub(super) keys: Vec<u128>,
    pub(super) plausible: bool,
    /// What each filter would drop, if that is asked for.
    pub(super) funnel: Option<Account>,
}

impl Block {
    /// Leaves of the records from `first` on those that the filters keep, without moving what stays where it is.
    fn filter(&mut self, first: usize, judge: &Judge) {
        let mut kept = first;
        for at in first..self.records.len() {
            match judge.keep(&self.records[at]) {
                Ok(()) => {
                    if kept != at {
                        self.records[kept] = self.records[at];
                    }
                    kept += 1;
                }
                Err(reason) => self.dropped.add(reason, 1),
            }
        }
        self.records.truncate(kept);
    }
}

/// The memory of blocks that have been taken over, for those that come: getting it from the system, page by page, costs
/// as much as parsing.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<(Vec<Record>, Vec<u128>)>>);

impl Spare {
    pub(super) fn put(&self, mut records: Vec<Record>, mut keys: Vec<u128>) {
        records.clear();
        keys.clear();
        if let Ok(mut spare) = self.0.lock() {
            spare.push((records, keys));
        }
    }

    fn get(&self) -> (Vec<Record>, Vec<u128>) {
        self.0.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default()
    }
}

/// Counts by reason; there are few reasons.
#[derive(Default)]
pub(super) struct Tally(Vec<(&'static str, u64)>);

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

    pub(super) fn add_to(&self, totals: &mut BTreeMap<String, u64>) {
        for (reason, count) in &self.0 {
            *totals.entry(reason.to_string()).or_default() += count;
        }
    }
}

/// Which games to parse; the others are read over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// None before this number.
    pub(super) next_game: u64,
    /// Only those of this part.
    pub(super) shard: Option<Shard>,
}

impl Share {
    #[inline]
    fn has(self, game: u64) -> bool {
        game >= self.next_game && self.shard.is_none_or(|shard| shard.has(game))
    }
}

/// Parses what there is to parse; keys are made if they are asked for.
pub(super) fn parse(
    event: Event,
    judge: &Judge,
    key: Option<Dedupe>,
    share: Share,
    settings: &Settings,
    spare: &Spare,
) -> Parsed {
    match event {
        Event::Chunk(chunk) => Parsed::Block(parse_chunk(&chunk, judge, key, share, settings, spare)),
        other => Parsed::Other(other),
    }
}

/// Parses and filters the games of a chunk.
fn parse_chunk(
    chunk: &Chunk,
    judge: &Judge,
    key: Option<Dedupe>,
    share: Share,
    settings: &Settings,
    spare: &Spare,
) -> Block {
    let next_game = chunk.number + chunk.games.len() as u64;
    let (records, keys) = spare.get();
    let mut block = Block { file: chunk.file, next_game, records, keys, ..Block::default() };
    block.funnel = settings.funnel.then(|| Account::new(judge));
    // A ply takes six bytes of text at the least, but for the odd file; memory that is not touched costs nothing.
    block.records.reserve(chunk.text.len() / 6);
    let mut parser = Parser::new(settings.eval_side);
    for (index, piece) in chunk.games.iter().enumerate() {
        let number = chunk.number + index as u64;
        if !share.has(number) {
            // Whoever has this game judges it; that it has tags is enough to say that the file is one of games.
            block.plausible |= piece.movetext > piece.start;
            continue;
        }
        block.games += 1;
        let game = parser.parse(&chunk.text, piece, number as u32, &mut block.records);
        let (first, positions) = (game.records.start, game.records.len() as u64);
        let cut_short = chunk.truncated && index + 1 == chunk.games.len();
        block.plausible |= game.plausible;
        block.read += positions;
        let fault = game.error.map(|fault| fault.reason);
        if let Some(reason) = cut_short.then(|| "the file breaks off in it".into()).or(fault) {
            block.bad.push((chunk.first + index as u64, piece.line, reason));
            if !settings.keep_partial || game.result.is_none() {
                block.dropped.add(BAD_GAME, positions);
                block.records.truncate(first);
                continue;
            }
        } else if game.other_variant {
            block.skipped.add("variant", 1);
            continue;
        } else if game.result.is_none() {
            block.skipped.add(NO_RESULT, 1);
            block.dropped.add(NO_RESULT, positions);
            block.records.truncate(first);
            continue;
        }
        if let Some(conflict) = game.conflict {
            block.conflicts.add(conflict.name(), 1);
        }
        let facts = if judge.judges_games() {
            GameFacts::of(&chunk.text[piece.start..piece.movetext], &chunk.text[piece.movetext..piece.end])
        } else {
            GameFacts::default()
        };
        if let Some(funnel) = &mut block.funnel {
            funnel.count(judge, &facts, &block.records[first..], key, settings.per_game);
        }
        if let Err(reason) = judge.keep_game(&facts) {
            block.dropped.add(reason, positions);
            block.records.truncate(first);
            continue;
        }
        block.filter(first, judge);
    }
    if let Some(dedupe) = key {
        block.keys.extend(block.records.iter().map(|record| dedupe.key(record)));
    }
    block
}
