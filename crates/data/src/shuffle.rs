//! Uniform random shuffle of a dataset larger than memory.
//!
//! The order depends on the seed and the number of positions alone. Each position draws a random bucket; then each
//! bucket, which fits into memory, is shuffled (Fisher and Yates), and the buckets are concatenated. Source: Rao,
//! "Generation of random permutations of given number of elements using random sampling numbers" (1961); Sandelius
//! (1962).

use std::path::Path;

use super::spill::Buckets;
use super::spill_file::SpillFile;
use super::{AnyWriter, Record, RowGroups, Target, Written};
use patzer_chess::rng::{Rng, mix};
use patzer_formats::extra::{ExtraColumn, ExtraRow};
use patzer_formats::metadata::Metadata;
use patzer_formats::spillable::Spillable;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Mean positions of a bucket. Fixed, since the order must not depend on the available memory.
const BUCKET: u64 = 1 << 19;

/// Rows of unknown columns that are read at a time.
const EXTRA_ROWS: usize = 1 << 14;

/// Random streams, so that the two steps are independent.
const BUCKETS: u64 = 3;
const ORDERS: u64 = 4;

#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    /// Approximate bytes of memory; the rest goes to a temporary file. One bucket always fits.
    pub memory: usize,
    pub target: Target,
}

/// Shuffles a file of any format into a new one. `progress` gets every position twice: read and written. Returns the
/// number of positions read, and what was written.
pub fn shuffle(
    mut data: RowGroups,
    output: &Path,
    settings: &Settings,
    mut progress: impl FnMut(u64),
) -> Result<(u64, Written)> {
    let mut metadata = Metadata { piece: None, ..data.metadata().clone() };
    metadata.steps.push(format!("shuffle: seed {}", settings.seed));
    let mut writer = AnyWriter::create(output, &settings.target, &metadata)?;
    let folder = patzer_io::temporary_folder(Some(output));
    let mut scatter = |buckets: &mut Scatter<Record>, records: Vec<Record>| {
        interrupt::check()?;
        records.iter().try_for_each(|record| buckets.push(*record))?;
        progress(records.len() as u64);
        Ok(())
    };
    let buckets = match data.rows() {
        Some(rows) => {
            let mut buckets = Scatter::new(rows, settings, &folder);
            data.for_each(|records| scatter(&mut buckets, records))?;
            if buckets.rows != rows {
                return Err(Error::internal(format!("{rows} positions, but {} were read", buckets.rows)));
            }
            buckets
        }
        // The order depends on the number of positions, which a stream shows at its end.
        None => {
            let mut spilled = SpillFile::nameless(&folder)?;
            data.for_each(|records| interrupt::check().and_then(|()| spilled.push(&records)))?;
            let mut buckets = Scatter::new(spilled.rows(), settings, &folder);
            spilled.replay(|records| scatter(&mut buckets, records))?;
            buckets
        }
    };
    let mut buckets = buckets;
    let read = buckets.rows;
    let mut extra = scattered_extra(&data, &writer.extra(), read, settings, &folder)?;
    for bucket in 0..buckets.buckets.count() {
        interrupt::check()?;
        let records = buckets.take(bucket)?;
        progress(records.len() as u64);
        let rows = extra.as_mut().map(|extra| extra.take(bucket)).transpose()?;
        writer.write_with(&records, rows)?;
    }
    writer.add_digests(data.metadata());
    let written = writer.finish()?;
    if written.positions + written.all_dropped() != read {
        return Err(Error::internal(format!("{read} positions were read, but {written:?}")));
    }
    Ok((read, written))
}

/// The unknown columns of a file in the same order as its positions.
fn scattered_extra(
    data: &RowGroups,
    wanted: &[ExtraColumn],
    rows: u64,
    settings: &Settings,
    folder: &Path,
) -> Result<Option<Scatter<ExtraRow>>> {
    let Some(mut extra) = data.extra_rows(wanted)? else { return Ok(None) };
    let mut scatter = Scatter::new(rows, settings, folder);
    loop {
        interrupt::check()?;
        let some = extra.take(EXTRA_ROWS)?;
        if some.is_empty() {
            return Ok(Some(scatter));
        }
        some.into_iter().try_for_each(|row| scatter.push(row))?;
    }
}

struct Scatter<T> {
    buckets: Buckets<T>,
    seed: u64,
    rows: u64,
}

impl<T: Spillable> Scatter<T> {
    fn new(rows: u64, settings: &Settings, folder: &Path) -> Scatter<T> {
        let count = rows.div_ceil(BUCKET).max(1) as usize;
        Scatter { buckets: Buckets::new(count, settings.memory, folder), seed: settings.seed, rows: 0 }
    }

    fn push(&mut self, record: T) -> Result<()> {
        let drawn = mix(mix(self.seed, BUCKETS), self.rows);
        self.rows += 1;
        self.buckets.push(below(drawn, self.buckets.count()), record)
    }

    fn take(&mut self, bucket: usize) -> Result<Vec<T>> {
        let mut records = self.buckets.take(bucket)?;
        Rng::new(mix(mix(self.seed, ORDERS), bucket as u64)).shuffle(&mut records);
        Ok(records)
    }
}

/// A random number below a bound (Lemire's multiplication).
fn below(bits: u64, bound: usize) -> usize {
    ((u128::from(bits) * bound as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::native::columns::EMPTY;

    fn order(count: u32, buckets: usize, seed: u64) -> Vec<u32> {
        let folder = std::env::temp_dir();
        let mut scatter = Scatter { buckets: Buckets::new(buckets, usize::MAX, &folder), seed, rows: 0 };
        (0..count).for_each(|game| scatter.push(Record { game, ..EMPTY }).unwrap());
        let games = (0..buckets).flat_map(|bucket| scatter.take(bucket).unwrap()).map(|record| record.game);
        games.collect()
    }

    #[test]
    fn every_order_of_four_is_equally_likely() {
        // 24 orders, 24,000 seeds, 3 buckets: chi-square with 23 degrees of freedom.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..24_000 {
            *counts.entry(order(4, 3, seed)).or_insert(0.0) += 1.0;
        }
        assert_eq!(counts.len(), 24);
        let statistic: f64 = counts.values().map(|n: &f64| (n - 1000.0) * (n - 1000.0) / 1000.0).sum();
        // The 99.9 % quantile of that distribution, from tables.
        assert!(statistic < 49.73, "{statistic}");
    }

    #[test]
    fn every_position_goes_everywhere() {
        // Where the first of 64 positions ends up, over 6,400 seeds: 63 degrees of freedom.
        let mut counts = [0.0; 64];
        for seed in 0..6_400 {
            let place = order(64, 5, seed).iter().position(|game| *game == 0).unwrap();
            counts[place] += 1.0;
        }
        let statistic: f64 = counts.iter().map(|n: &f64| (n - 100.0) * (n - 100.0) / 100.0).sum();
        assert!(statistic < 103.44, "{statistic}");
    }
}
