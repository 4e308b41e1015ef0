//! Merges datasets into one.
//!
//! Shards of one extraction are interleaved by game number, and the pieces of one labelling follow one another; both
//! give the bytes of a single run. Other datasets are concatenated and their games renumbered. Then come the same
//! stages as in `extract` (`OutputStage`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::dedupe::{Dedupe, Keep};
use super::output_stage::{OutputCounts, OutputSettings, OutputStage};
use super::{AnyWriter, PositionBlocks, Record, RowGroups, Target};
use patzer_formats::extra::{ExtraColumn, ExtraRow};
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::metadata::{Account, Metadata};
use patzer_io::Shard;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

const BATCH: usize = 1 << 16;

#[derive(Debug)]
pub struct Merged {
    pub done: OutputCounts,
    /// Summed counts of the extractions; `None` if a dataset does not have them.
    pub account: Option<Account>,
}

/// Merges files of any format into a new one. Shards of an extraction that dropped duplicates lose duplicates across
/// shards too, unless `settings` says otherwise. `progress` gets the number of positions read.
pub fn merge(
    mut parts: Vec<RowGroups>,
    output: &Path,
    settings: OutputSettings,
    target: &Target,
    progress: impl FnMut(u64),
) -> Result<Merged> {
    let Some(first) = parts.first() else { return Err(Error::usage("there is nothing to merge")) };
    if let Some(other) = parts.iter().find(|p| p.metadata().resolved != first.metadata().resolved) {
        let how =
            |data: &RowGroups| data.metadata().resolved.clone().unwrap_or_else(|| "not resolved".into());
        let reason = format!("is {}, but {} is {}", how(other), first.path().display(), how(first));
        return Err(Error::data(other.path(), reason));
    }
    let (shards, pieces) = (shards(&parts)?, sort_pieces(&mut parts)?);
    let (first, together) = (&parts[0], shards || pieces);
    let dedupe = match (settings.dedupe, first.metadata().dedupe.filter(|_| together)) {
        (Some(asked), Some(done)) if asked != done => {
            return Err(Error::data(first.path(), "was extracted with another choice of duplicates"));
        }
        (asked, done) => asked.or(done),
    };
    let mut metadata = metadata(&parts, together, &settings);
    if pieces {
        metadata.shard = first.metadata().shard;
        metadata.account.clone_from(&first.metadata().account);
    }
    metadata.dedupe = means(&parts, dedupe)?;
    let settings = OutputSettings { dedupe, ..settings };
    if settings.drops() {
        let left = metadata.leave_extra("data merge does not carry where it drops positions");
        left.into_iter().for_each(|text| target.notices.add(first.path(), text));
    }
    let mut account = metadata.account.take();
    let folder = patzer_io::temporary_folder(Some(output));
    let writer = AnyWriter::create(output, target, &metadata)?;
    let wanted = writer.extra();
    let output = OutputStage::new(Some(writer), &settings, &folder)?;
    let mut batcher =
        Batcher { output, dedupe, wanted, batch: Vec::with_capacity(BATCH), extra: Vec::new(), progress };
    if pieces {
        for part in &mut parts {
            let mut extra = batcher.extra_of(part)?;
            part.for_each(|records| batcher.add(&records, &mut extra))?;
        }
    } else if shards {
        interleave(&mut parts, &mut batcher)?
    } else {
        concatenate(&mut parts, &mut batcher)?
    }
    batcher.flush()?;
    let done = batcher.output.finish(|metadata, done| {
        if let Some(account) = &mut account {
            account.add_dropped(&done.dropped);
        }
        metadata.account.clone_from(&account);
        parts.iter().for_each(|part| metadata.add_digests(part.metadata()));
    })?;
    if let Some(rows) = parts.iter().map(RowGroups::rows).sum::<Option<u64>>()
        && done.read != rows
    {
        return Err(Error::internal(format!("{rows} positions, but {} were read", done.read)));
    }
    Ok(Merged { done, account })
}

fn shards(parts: &[RowGroups]) -> Result<bool> {
    let Some(first) = parts.iter().find(|part| part.metadata().shard.is_some()) else { return Ok(false) };
    let alike = |part: &RowGroups| {
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

/// Sorts the pieces of one dataset that `label --shard` wrote; false for other datasets.
fn sort_pieces(parts: &mut [RowGroups]) -> Result<bool> {
    let Some(first) = parts.iter().find(|part| part.metadata().piece.is_some()) else { return Ok(false) };
    let whole = |part: &RowGroups| {
        let mut metadata = part.metadata().clone();
        metadata.piece.iter_mut().for_each(|piece| piece.index = 0);
        metadata
    };
    if let Some(other) = parts.iter().find(|part| whole(part) != whole(first)) {
        let reason = format!("is not a part of the same labelling as {}", first.path().display());
        return Err(Error::data(other.path(), reason));
    }
    parts.sort_by_key(|part| part.metadata().piece.map(|piece| piece.index));
    complete(parts.iter().filter_map(|part| part.metadata().piece))?;
    Ok(true)
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
fn means(parts: &[RowGroups], dedupe: Option<Dedupe>) -> Result<Option<Dedupe>> {
    let has = |part: &&RowGroups| part.metadata().layout().means;
    let Some(with) = parts.iter().find(has) else { return Ok(dedupe) };
    match (dedupe, parts.iter().find(|part| !has(part))) {
        (Some(Dedupe { keep: Keep::Mean, .. }), _) => Ok(dedupe),
        (None, None) => Ok(with.metadata().dedupe),
        _ => Err(Error::data(
            with.path(),
            "holds mean results, which only the choice `mean` of duplicates can merge here",
        )),
    }
}

fn metadata(parts: &[RowGroups], together: bool, settings: &OutputSettings) -> Metadata {
    let all = || parts.iter().map(RowGroups::metadata);
    let mut merged = Metadata::joined(all());
    merged.resolved.clone_from(&parts[0].metadata().resolved);
    if !together {
        merged.forget_shared(all());
    }
    merged.filters.extend(settings.describe());
    if !settings.describe().is_empty() {
        merged.seed = settings.seed;
    }
    merged
}

struct Batcher<P> {
    output: OutputStage,
    dedupe: Option<Dedupe>,
    /// Unknown columns that are carried along.
    wanted: Vec<ExtraColumn>,
    batch: Vec<Record>,
    extra: Vec<ExtraRow>,
    progress: P,
}

impl<P: FnMut(u64)> Batcher<P> {
    fn extra_of(&self, part: &RowGroups) -> Result<Option<ExtraRows>> {
        part.extra_rows(&self.wanted)
    }

    /// Adds the next positions of a file, and takes as many rows of its unknown columns.
    fn add(&mut self, records: &[Record], extra: &mut Option<ExtraRows>) -> Result<()> {
        self.batch.extend_from_slice(records);
        if !self.wanted.is_empty() {
            self.extra.extend(ExtraRows::take_of(extra, records.len())?);
        }
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        interrupt::check()?;
        (self.progress)(self.batch.len() as u64);
        let mut records = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let key = |how: Dedupe| records.par_iter().map(|record| how.key(record)).collect::<Vec<_>>();
        let keys = self.dedupe.map(key).unwrap_or_default();
        if self.wanted.is_empty() {
            self.output.take(&mut records, &keys)
        } else {
            self.output.take_with(&records, std::mem::take(&mut self.extra))
        }
    }
}

fn concatenate<P: FnMut(u64)>(parts: &mut [RowGroups], batcher: &mut Batcher<P>) -> Result<()> {
    // One more than the highest game number so far, including games without positions.
    let mut next = 0u64;
    for part in parts {
        let (first, path) = (next, part.path().to_path_buf());
        let mut extra = batcher.extra_of(part)?;
        next += part.metadata().games();
        part.for_each(|mut records| {
            for record in &mut records {
                let game = first + u64::from(record.game);
                next = next.max(game + 1);
                record.game = u32::try_from(game).map_err(|_| {
                    Error::data(&path, "its games cannot be numbered on: there are 2^32 in all")
                })?;
            }
            batcher.add(&records, &mut extra)
        })?;
    }
    Ok(())
}

fn interleave<P: FnMut(u64)>(parts: &mut [RowGroups], batcher: &mut Batcher<P>) -> Result<()> {
    let mut heads = Vec::with_capacity(parts.len());
    let mut next = BinaryHeap::new();
    for (index, part) in parts.iter_mut().enumerate() {
        let (path, extra) = (part.path().to_path_buf(), batcher.extra_of(part)?);
        let mut head = PartCursor { path, blocks: part.blocks(), extra, block: Vec::new(), at: 0 };
        next.extend(head.game()?.map(|game| Reverse((game, index))));
        heads.push(head);
    }
    while let Some(Reverse((game, index))) = next.pop() {
        let head = &mut heads[index];
        loop {
            let left = &head.block[head.at..];
            let length = left.iter().position(|record| record.game != game).unwrap_or(left.len());
            batcher.add(&left[..length], &mut head.extra)?;
            head.at += length;
            match head.game()? {
                Some(same) if same == game => {}
                Some(later) if later > game => {
                    next.push(Reverse((later, index)));
                    break;
                }
                Some(_) => {
                    let reason = "is not in the order of its games; merge shards first, then shuffle";
                    return Err(Error::data(&head.path, reason));
                }
                None => break,
            }
        }
    }
    Ok(())
}

struct PartCursor<'a> {
    path: PathBuf,
    blocks: PositionBlocks<'a>,
    extra: Option<ExtraRows>,
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
