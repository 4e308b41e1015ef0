//! Merges datasets into one.
//!
//! Shards of one extraction are interleaved by game number, and the pieces of one labelling follow one another; both
//! give the bytes of a single run. Other datasets are concatenated and their games renumbered. Then come the same stages as in `extract` ([`OutputStage`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use rayon::prelude::*;

use super::dedupe::{Dedupe, Keep};
use super::format::metadata::{Account, Metadata, Shard};
use super::format::parquet::Blocks;
use super::output_stage::{OutputCounts, OutputSettings, OutputStage};
use super::spill::folder_of;
use super::{AnyWriter, Dataset, Record, Writer};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

const BATCH: usize = 1 << 16;

#[derive(Debug)]
pub struct Merged {
    pub done: OutputCounts,
    /// Summed counts of the extractions; `None` if a dataset does not have them.
    pub account: Option<Account>,
}

/// Merges datasets into a new file. Shards of an extraction that dropped duplicates lose duplicates across shards too,
/// unless `settings` says otherwise. `progress` gets the number of positions read.
pub fn merge(
    parts: &[Dataset],
    output: &Path,
    settings: OutputSettings,
    level: i32,
    progress: impl FnMut(u64),
) -> Result<Merged> {
    let Some(first) = parts.first() else { return Err(Error::usage("there is nothing to merge")) };
    if let Some(other) = parts.iter().find(|p| p.metadata().resolved != first.metadata().resolved) {
        let how = |data: &Dataset| data.metadata().resolved.clone().unwrap_or_else(|| "not resolved".into());
        let reason = format!("is {}, but {} is {}", how(other), first.path().display(), how(first));
        return Err(Error::data(other.path(), reason));
    }
    let (shards, pieces) = (shards(parts)?, pieces(parts)?);
    let together = shards || pieces.is_some();
    let dedupe = match (settings.dedupe, first.metadata().dedupe.filter(|_| together)) {
        (Some(asked), Some(done)) if asked != done => {
            return Err(Error::data(
                first.path(),
                "was extracted with another choice of --duplicates or --mirror",
            ));
        }
        (asked, done) => asked.or(done),
    };
    let mut metadata = metadata(parts, together, &settings);
    if pieces.is_some() {
        metadata.shard = first.metadata().shard;
        metadata.account.clone_from(&first.metadata().account);
    }
    metadata.dedupe = means(parts, dedupe)?;
    let mut account = metadata.account.take();
    let folder = folder_of(Some(output));
    let settings = OutputSettings { dedupe, ..settings };
    let writer = Writer::with_level(output, metadata, level)?;
    let output = OutputStage::new(Some(AnyWriter::native(output, writer)), &settings, &folder)?;
    let mut batcher = Batcher { output, dedupe, batch: Vec::with_capacity(BATCH), progress };
    match pieces {
        Some(pieces) => pieces
            .into_iter()
            .try_for_each(|part| part.for_each(|records| batcher.add(records.into_iter())))?,
        None if shards => interleave(parts, &mut batcher)?,
        None => concatenate(parts, &mut batcher)?,
    }
    batcher.flush()?;
    let done = batcher.output.finish(|metadata, done| {
        if let Some(account) = &mut account {
            for (reason, count) in &done.dropped {
                *account.dropped.entry(reason.to_string()).or_default() += count;
            }
        }
        metadata.account.clone_from(&account);
    })?;
    let rows: u64 = parts.iter().map(Dataset::rows).sum();
    if done.read != rows {
        return Err(Error::internal(format!("{rows} positions, but {} were read", done.read)));
    }
    Ok(Merged { done, account })
}

fn shards(parts: &[Dataset]) -> Result<bool> {
    let Some(first) = parts.iter().find(|part| part.metadata().shard.is_some()) else { return Ok(false) };
    let alike = |part: &Dataset| {
        let (a, b) = (part.metadata(), first.metadata());
        let of = |shard: Option<Shard>| shard.map(|shard| shard.of);
        of(a.shard) == of(b.shard)
            && (&a.sources, &a.filters, a.seed, a.dedupe) == (&b.sources, &b.filters, b.seed, b.dedupe)
    };
    if let Some(other) = parts.iter().find(|part| !alike(part)) {
        let reason = format!("is not a part of the same extraction as {}", first.path().display());
        return Err(Error::data(other.path(), reason));
    }
    let mut there: Vec<Shard> = parts.iter().filter_map(|part| part.metadata().shard).collect();
    there.sort_unstable_by_key(|shard| shard.index);
    complete(there.into_iter())?;
    Ok(true)
}

/// The pieces of one dataset that `label --shard` wrote, in order; `None` for other datasets.
fn pieces(parts: &[Dataset]) -> Result<Option<Vec<&Dataset>>> {
    let Some(first) = parts.iter().find(|part| part.metadata().piece.is_some()) else { return Ok(None) };
    let whole = |part: &Dataset| {
        let mut metadata = part.metadata().clone();
        metadata.piece.iter_mut().for_each(|piece| piece.index = 0);
        metadata
    };
    if let Some(other) = parts.iter().find(|part| whole(part) != whole(first)) {
        let reason = format!("is not a part of the same labelling as {}", first.path().display());
        return Err(Error::data(other.path(), reason));
    }
    let mut pieces: Vec<(Shard, &Dataset)> =
        parts.iter().filter_map(|part| Some((part.metadata().piece?, part))).collect();
    pieces.sort_by_key(|(piece, _)| piece.index);
    complete(pieces.iter().map(|(piece, _)| *piece))?;
    Ok(Some(pieces.into_iter().map(|(_, part)| part).collect()))
}

/// Checks that shards, in order, are all there once.
fn complete(shards: impl Iterator<Item = Shard>) -> Result<()> {
    let (mut next, mut of) = (0, 0);
    for shard in shards {
        if shard.index < next {
            return Err(Error::input(format!("shard {shard} is there twice")));
        }
        if shard.index > next {
            let missing = Shard { index: next, of: shard.of };
            return Err(Error::input(format!("shard {missing} is missing")));
        }
        (next, of) = (next + 1, shard.of);
    }
    let missing = Shard { index: next, of };
    if next < of { Err(Error::input(format!("shard {missing} is missing"))) } else { Ok(()) }
}

/// The deduplication of the merged dataset. If some rows hold mean results, all have to.
fn means(parts: &[Dataset], dedupe: Option<Dedupe>) -> Result<Option<Dedupe>> {
    let has = |part: &&Dataset| part.metadata().layout().means;
    let Some(with) = parts.iter().find(has) else { return Ok(dedupe) };
    match (dedupe, parts.iter().find(|part| !has(part))) {
        (Some(Dedupe { keep: Keep::Mean, .. }), _) => Ok(dedupe),
        (None, None) => Ok(with.metadata().dedupe),
        _ => Err(Error::data(with.path(), "holds mean results, which only --duplicates mean can merge here")),
    }
}

fn metadata(parts: &[Dataset], together: bool, settings: &OutputSettings) -> Metadata {
    let first = parts[0].metadata();
    let mut merged = Metadata::new(Vec::new(), Vec::new(), first.seed);
    merged.resolved.clone_from(&first.resolved);
    let all: Vec<&Metadata> = parts.iter().map(Dataset::metadata).collect();
    merged.sources = unique(all.iter().flat_map(|m| &m.sources));
    if !together && merged.sources.len() < all.iter().map(|m| m.sources.len()).sum() {
        // Two datasets have games of the same file, so game numbers no longer identify the file.
        merged.sources.iter_mut().for_each(|source| source.games = None);
    }
    merged.teacher = Metadata::teachers(all.iter().copied());
    merged.filters = unique(all.iter().flat_map(|m| &m.filters));
    merged.filters.extend(settings.describe());
    merged.steps = unique(all.iter().flat_map(|m| &m.steps));
    if !settings.describe().is_empty() {
        merged.seed = settings.seed;
    }
    let accounts: Option<Vec<&Account>> = all.iter().map(|m| m.account.as_ref()).collect();
    merged.account = accounts.map(|accounts| {
        let mut sum = Account::default();
        accounts.into_iter().for_each(|account| sum.add(account));
        sum
    });
    merged
}

fn unique<'a, T: PartialEq + Clone + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    all.fold(Vec::new(), |mut seen, item| {
        if !seen.contains(item) {
            seen.push(item.clone());
        }
        seen
    })
}

struct Batcher<P> {
    output: OutputStage,
    dedupe: Option<Dedupe>,
    batch: Vec<Record>,
    progress: P,
}

impl<P: FnMut(u64)> Batcher<P> {
    fn add(&mut self, records: impl Iterator<Item = Record>) -> Result<()> {
        self.batch.extend(records);
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        interrupt::check()?;
        (self.progress)(self.batch.len() as u64);
        let mut records = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let key = |how: Dedupe| records.par_iter().map(|record| how.key(record)).collect::<Vec<_>>();
        let keys = self.dedupe.map(key).unwrap_or_default();
        self.output.take(&mut records, &keys)
    }
}

fn concatenate<P: FnMut(u64)>(parts: &[Dataset], batcher: &mut Batcher<P>) -> Result<()> {
    let mut offset = 0u32;
    for part in parts {
        let too_many = || Error::data(part.path(), "its games cannot be numbered on: there are 2^32 in all");
        let games = games(part)?;
        offset.checked_add(games.saturating_sub(1)).ok_or_else(too_many)?;
        part.for_each(|records| {
            batcher.add(records.into_iter().map(|s| Record { game: offset + s.game, ..s }))
        })?;
        offset = offset.saturating_add(games);
    }
    Ok(())
}

/// One more than the highest game number, including games without positions.
fn games(data: &Dataset) -> Result<u32> {
    let mut most = data.metadata().account.as_ref().map_or(0, |a| a.games.min(u64::from(u32::MAX)) as u32);
    for group in 0..data.groups() {
        let records = data.read_columns(group, super::format::columns::Projection::GAME)?;
        most = records.iter().fold(most, |most, record| most.max(record.game.saturating_add(1)));
    }
    Ok(most)
}

fn interleave<P: FnMut(u64)>(parts: &[Dataset], batcher: &mut Batcher<P>) -> Result<()> {
    let mut heads = Vec::with_capacity(parts.len());
    let mut next = BinaryHeap::new();
    for (index, part) in parts.iter().enumerate() {
        let mut head = PartCursor { part, blocks: part.blocks(), block: Vec::new(), at: 0 };
        next.extend(head.game()?.map(|game| Reverse((game, index))));
        heads.push(head);
    }
    while let Some(Reverse((game, index))) = next.pop() {
        let head = &mut heads[index];
        loop {
            let left = &head.block[head.at..];
            let length = left.iter().position(|record| record.game != game).unwrap_or(left.len());
            batcher.add(left[..length].iter().copied())?;
            head.at += length;
            match head.game()? {
                Some(same) if same == game => {}
                Some(later) if later > game => {
                    next.push(Reverse((later, index)));
                    break;
                }
                Some(_) => {
                    let reason = "is not in the order of its games; merge shards first, then shuffle";
                    return Err(Error::data(head.part.path(), reason));
                }
                None => break,
            }
        }
    }
    Ok(())
}

struct PartCursor<'a> {
    part: &'a Dataset,
    blocks: Blocks<'a>,
    block: Vec<Record>,
    at: usize,
}

impl PartCursor<'_> {
    /// The game of the next record; `None` at the end.
    fn game(&mut self) -> Result<Option<u32>> {
        while self.at == self.block.len() {
            match self.blocks.next_block()? {
                Some(block) => (self.block, self.at) = (block, 0),
                None => return Ok(None),
            }
        }
        Ok(Some(self.block[self.at].game))
    }
}
