//! From chunks of games to blocks of samples, on any thread.
//!
//! In: a chunk of whole games. Out: a [`Block`]: the samples that the filters leave, their keys, and the account of
//! everything else in the chunk. A block depends on its chunk alone, so any thread may make it.

use std::collections::BTreeMap;

use super::super::Sample;
use super::super::filter::Judge;
use super::{BAD_GAME, NO_RESULT, Settings};
use crate::pgn::{Chunk, Event, Feed, Parser};

/// An event, with its games parsed and filtered.
pub(super) enum Parsed {
    Block(Block),
    Other(Event),
}

/// What a chunk's games came to.
#[derive(Default)]
pub(super) struct Block {
    pub(super) file: usize,
    pub(super) games: u64,
    /// Number in the file, line, reason.
    pub(super) bad: Vec<(u64, u64, String)>,
    pub(super) skipped: Tally,
    pub(super) read: u64,
    pub(super) dropped: Tally,
    pub(super) samples: Vec<Sample>,
    /// The samples' keys, if duplicates are dropped.
    pub(super) keys: Vec<u128>,
    pub(super) plausible: bool,
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

    pub(super) fn add_to(&self, totals: &mut BTreeMap<&'static str, u64>) {
        for (reason, count) in &self.0 {
            *totals.entry(reason).or_default() += count;
        }
    }
}

pub(super) fn parse(event: Event, judge: &Judge, wants_keys: bool, settings: &Settings) -> Parsed {
    match event {
        Event::Chunk(chunk) => Parsed::Block(parse_chunk(&chunk, judge, wants_keys, settings)),
        other => Parsed::Other(other),
    }
}

/// Parses and filters the games of a chunk.
fn parse_chunk(chunk: &Chunk, judge: &Judge, wants_keys: bool, settings: &Settings) -> Block {
    let mut block = Block { file: chunk.file, games: chunk.games.len() as u64, ..Block::default() };
    let feed = Feed::default();
    let mut parser = Parser::new(&feed);
    for (index, piece) in chunk.games.iter().enumerate() {
        let game = parser.parse(&chunk.text, piece);
        let cut_short = chunk.cut_short && index + 1 == chunk.games.len();
        block.plausible |= game.plausible;
        block.read += game.samples.len() as u64;
        let fault = game.fault.map(|fault| fault.reason);
        if let Some(reason) = cut_short.then(|| "the file breaks off in it".into()).or(fault) {
            block.bad.push((chunk.first + index as u64, piece.line, reason));
            if !settings.keep_partial || game.result.is_none() {
                block.dropped.add(BAD_GAME, game.samples.len() as u64);
                continue;
            }
        } else if game.other_variant {
            block.skipped.add("variant", 1);
            continue;
        } else if game.result.is_none() {
            block.skipped.add(NO_RESULT, 1);
            block.dropped.add(NO_RESULT, game.samples.len() as u64);
            continue;
        }
        for sample in game.samples {
            match judge.keep(sample) {
                Ok(()) => {
                    block.samples.push(Sample { game: (chunk.number + index as u64) as u32, ..*sample })
                }
                Err(reason) => block.dropped.add(reason, 1),
            }
        }
    }
    if wants_keys {
        block.keys = block.samples.iter().map(Sample::key).collect();
    }
    block
}
