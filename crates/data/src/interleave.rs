//! Mixes files of positions by weights, in memory that does not depend on their size.
//!
//! Every position of the mix draws its file at random by weight. Games stay whole: a file that is drawn earns one
//! position, and its next game comes once its credit is positive. So the shares of positions follow the weights, and a
//! shuffled file, whose games are of one position each, is mixed position by position. The mix ends with the first
//! file that has no game left, so that its shares hold from start to end.

use std::path::{Path, PathBuf};

use super::{AnyWriter, PositionBlocks, Record, RowGroups, Target, Written};
use patzer_chess::rng::{Rng, mix};
use patzer_formats::extra::ExtraRow;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::metadata::Metadata;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

const INTERLEAVE: u64 = 6;

/// Maximum number of positions of a game that come together.
const RUN: usize = 1 << 10;
const BATCH: usize = 1 << 16;

/// Reason of positions that come after the end of the mix.
pub const NOT_DRAWN: &str = "not_drawn";

pub struct Weighted {
    pub data: RowGroups,
    /// Expected share of the mix, relative to the other weights; more than 0.
    pub weight: f64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterleaveCounts {
    pub read: u64,
    /// Positions taken of each file.
    pub taken: Vec<u64>,
    pub not_drawn: u64,
    pub written: Written,
}

/// Mixes files into a new one. `progress` gets the number of positions taken.
pub fn interleave(
    mut parts: Vec<Weighted>,
    output: &Path,
    seed: u64,
    target: &Target,
    mut progress: impl FnMut(u64),
) -> Result<InterleaveCounts> {
    let mut writer = AnyWriter::create(output, target, &metadata(&parts, seed)?)?;
    let (count, rows): (u32, Vec<Option<u64>>) =
        (parts.len() as u32, parts.iter().map(|part| part.data.rows()).collect());
    let wanted = writer.extra();
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    let mut ends = 0.0;
    let mut sources: Vec<Source> = Vec::new();
    for part in &mut parts {
        ends += part.weight / total;
        let path = part.data.path().to_path_buf();
        let extra = part.data.extra_rows(&wanted)?;
        let blocks = part.data.blocks();
        sources.push(Source {
            path,
            blocks,
            extra,
            block: Vec::new(),
            at: 0,
            end: ends,
            credit: 0,
            taken: 0,
        });
    }
    let mut rng = Rng::new(mix(seed, INTERLEAVE));
    let mut batch = Batch { records: Vec::with_capacity(BATCH), extra: (!wanted.is_empty()).then(Vec::new) };
    loop {
        let drawn = unit(rng.next_u64());
        let nth = sources.iter().position(|source| drawn < source.end).unwrap_or(sources.len() - 1);
        let source = &mut sources[nth];
        source.credit += 1;
        if source.credit > 0 && !source.take_game(nth as u32, count, &mut batch)? {
            break;
        }
        if batch.records.len() >= BATCH {
            flush(&mut batch, &mut writer, &mut progress)?;
        }
    }
    flush(&mut batch, &mut writer, &mut progress)?;
    let mut counts =
        InterleaveCounts { read: 0, taken: Vec::new(), not_drawn: 0, written: Written::default() };
    for (source, rows) in sources.iter_mut().zip(rows) {
        let left = match rows {
            Some(rows) => rows - source.taken,
            None => source.count_rest()?,
        };
        counts.taken.push(source.taken);
        counts.not_drawn += left;
        counts.read += source.taken + left;
    }
    drop(sources);
    parts.iter().for_each(|part| writer.add_digests(part.data.metadata()));
    writer.metadata().into_iter().for_each(|own| own.leave_out(NOT_DRAWN, counts.not_drawn));
    counts.written = writer.finish()?;
    if counts.written.positions + counts.written.all_dropped() + counts.not_drawn != counts.read {
        return Err(Error::internal(format!("the positions are not all counted: {counts:?}")));
    }
    Ok(counts)
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Positions of the mix on their way to the file, with their unknown columns where there are any.
struct Batch {
    records: Vec<Record>,
    extra: Option<Vec<ExtraRow>>,
}

fn flush(batch: &mut Batch, writer: &mut AnyWriter, progress: &mut impl FnMut(u64)) -> Result<()> {
    interrupt::check()?;
    progress(batch.records.len() as u64);
    writer.write_with(&batch.records, batch.extra.as_mut().map(std::mem::take))?;
    batch.records.clear();
    Ok(())
}

fn metadata(parts: &[Weighted], seed: u64) -> Result<Metadata> {
    let all = || parts.iter().map(|part| part.data.metadata());
    let Some(first) = parts.first() else { return Err(Error::usage("there is nothing to mix")) };
    if let Some(other) = parts.iter().find(|p| p.data.metadata().resolved != first.data.metadata().resolved) {
        let how =
            |data: &RowGroups| data.metadata().resolved.clone().unwrap_or_else(|| "not resolved".into());
        let first = &first.data;
        let reason = format!("is {}, but {} is {}", how(&other.data), first.path().display(), how(first));
        return Err(Error::data(other.data.path(), reason));
    }
    let mut mixed = Metadata::joined(all());
    mixed.seed = seed;
    mixed.resolved.clone_from(&first.data.metadata().resolved);
    mixed.forget_shared(all());
    // Games of several files alternate, so their numbers no longer say the file.
    mixed.sources.iter_mut().for_each(|source| source.games = None);
    let name = |part: &Weighted| {
        let name = part.data.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{name}={}", part.weight)
    };
    let names: Vec<String> = parts.iter().map(name).collect();
    mixed.steps.push(format!("interleave: {}, seed {seed}", names.join(" ")));
    Ok(mixed)
}

struct Source<'a> {
    path: PathBuf,
    blocks: PositionBlocks<'a>,
    extra: Option<ExtraRows>,
    block: Vec<Record>,
    at: usize,
    /// Sum of the shares up to this file.
    end: f64,
    /// Positions drawn and not yet taken.
    credit: i64,
    taken: u64,
}

impl Source<'_> {
    /// Appends the next game, or a part of a long one; false at the end of the file.
    fn take_game(&mut self, nth: u32, of: u32, batch: &mut Batch) -> Result<bool> {
        let to = &mut batch.records;
        let start = to.len();
        let mut game = None;
        while to.len() - start < RUN {
            if self.at == self.block.len() {
                match self.blocks.next_block()? {
                    Some(block) => (self.block, self.at) = (block, 0),
                    None => break,
                }
                continue;
            }
            let record = self.block[self.at];
            if *game.get_or_insert(record.game) != record.game {
                break;
            }
            let number = record.game.checked_mul(of).and_then(|number| number.checked_add(nth));
            let game = number.ok_or_else(|| {
                Error::data(
                    &self.path,
                    "its games cannot be numbered beside the others: there are 2^32 in all",
                )
            })?;
            to.push(Record { game, ..record });
            self.at += 1;
        }
        let length = to.len() - start;
        if let Some(rows) = &mut batch.extra {
            rows.extend(ExtraRows::take_of(&mut self.extra, length)?);
        }
        self.credit -= length as i64;
        self.taken += length as u64;
        Ok(length > 0)
    }

    fn count_rest(&mut self) -> Result<u64> {
        let mut left = (self.block.len() - self.at) as u64;
        while let Some(block) = self.blocks.next_block()? {
            interrupt::check()?;
            left += block.len() as u64;
        }
        Ok(left)
    }
}
