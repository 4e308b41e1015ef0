//! Splits a dataset by game, so that no part shares a game with another. The game number and the seed decide the part.

use std::path::PathBuf;

use super::{AnyWriter, Metadata, Record, RowGroups, Target, Written};
use patzer_chess::rng::{mix, unit};
use patzer_formats::extra::ExtraRow;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

const SPLIT: u64 = 5;

/// Reason of positions whose game goes to no part; in a part's metadata, to no part or to another.
pub const LEFT_OUT: &str = "left_out";

#[derive(Debug, Clone)]
pub struct SplitPart {
    pub name: &'static str,
    /// Expected share of the games, 0 to 1.
    pub share: f64,
    pub output: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitCounts {
    pub read: u64,
    pub written: Vec<Written>,
    pub left_out: u64,
}

/// The part of a game; `None` if the shares sum to less than 1 and the game falls in the rest.
pub fn part_of(game: u32, parts: &[SplitPart], seed: u64) -> Option<usize> {
    let drawn = unit(mix(mix(seed, SPLIT), u64::from(game)));
    let mut end = 0.0;
    parts.iter().position(|part| {
        end += part.share;
        drawn < end
    })
}

/// Splits a file of any format. `progress` gets the number of positions read.
pub fn split(
    mut data: RowGroups,
    parts: &[SplitPart],
    seed: u64,
    target: &Target,
    mut progress: impl FnMut(u64),
) -> Result<SplitCounts> {
    let writer = |part: &SplitPart| {
        let mut metadata = Metadata { piece: None, ..data.metadata().clone() };
        metadata.steps.push(format!("split: {} {}, seed {seed}", part.name, part.share));
        AnyWriter::create(&part.output, target, &metadata)
    };
    let mut writers = parts.iter().map(writer).collect::<Result<Vec<AnyWriter>>>()?;
    let mut done = SplitCounts { read: 0, written: Vec::new(), left_out: 0 };
    let mut bins: Vec<(Vec<Record>, Vec<ExtraRow>)> = parts.iter().map(|_| Default::default()).collect();
    let wanted = writers.first().map(AnyWriter::extra).unwrap_or_default();
    let mut extra = data.extra_rows(&wanted)?;
    data.for_each(|records| {
        interrupt::check()?;
        done.read += records.len() as u64;
        for game in records.chunk_by(|a, b| a.game == b.game) {
            let rows = extra.as_mut().map(|extra| extra.take(game.len())).transpose()?;
            match part_of(game[0].game, parts, seed) {
                Some(part) => {
                    bins[part].0.extend_from_slice(game);
                    bins[part].1.extend(rows.into_iter().flatten());
                }
                None => done.left_out += game.len() as u64,
            }
        }
        for (writer, (bin, rows)) in writers.iter_mut().zip(&mut bins) {
            writer.write_with(bin, extra.is_some().then(|| std::mem::take(rows)))?;
            bin.clear();
        }
        progress(records.len() as u64);
        Ok(())
    })?;
    for writer in &mut writers {
        let others = done.read - writer.received();
        writer.add_digests(data.metadata());
        writer.metadata().into_iter().for_each(|own| own.leave_out(LEFT_OUT, others));
    }
    done.written = writers.into_iter().map(AnyWriter::finish).collect::<Result<_>>()?;
    let counted: u64 = done.written.iter().map(|written| written.positions + written.all_dropped()).sum();
    if counted + done.left_out != done.read || data.rows().is_some_and(|rows| rows != done.read) {
        return Err(Error::internal(format!("the positions are not all counted: {done:?}")));
    }
    Ok(done)
}
