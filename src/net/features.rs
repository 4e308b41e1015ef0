use std::fmt;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Position;

use crate::prepare::{InputFormat, files_or_default};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_chess::played;
use patzer_data::{AnyReader, Record};
use patzer_eval::nnue::features::statistics::FeatureCounts;
use patzer_eval::nnue::features::{FEATURE_BLOCKS, FeatureBlock, Features};
use patzer_io::number::grouped;

#[derive(Debug, Args)]
pub(super) struct FeaturesArgs {
    /// Files of positions, in any format [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    #[command(flatten)]
    format: InputFormat,

    /// Number of positions to look at, from the first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    count: u64,
}

#[derive(Debug, Serialize)]
struct Row {
    block: &'static str,
    features: usize,
    /// Active features a position and perspective: mean and maximum.
    active: f64,
    most_active: u64,
    added: f64,
    removed: f64,
    #[serde(skip)]
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct Table {
    positions: u64,
    moves: u64,
    blocks: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [positions, moves] = [self.positions, self.moves].map(grouped);
        writeln!(f, "{positions} positions, {moves} with their move; means over the views of both sides")?;
        writeln!(
            f,
            "{:7} {:>8} {:>8} {:>5} {:>8} {:>8}   what",
            "block", "features", "active", "most", "added", "removed"
        )?;
        for row in &self.blocks {
            writeln!(
                f,
                "{:7} {:>8} {:>8.2} {:>5} {:>8.2} {:>8.2}   {}",
                row.block,
                grouped(row.features as u64),
                row.active,
                row.most_active,
                row.added,
                row.removed,
                row.about
            )?;
        }
        Ok(())
    }
}

pub(super) fn run(args: &FeaturesArgs, ui: &Ui) -> Result<Status> {
    let blocks: Vec<(&'static FeatureBlock, Features)> =
        FEATURE_BLOCKS.iter().filter_map(|block| Some((block, Features::parse(block.name).ok()?))).collect();
    let paths = files_or_default(&args.data)?;
    let limit = if args.count == 0 { u64::MAX } else { args.count };
    let (mut counts, mut positions) = (vec![FeatureCounts::default(); blocks.len()], 0);
    'files: for path in &paths {
        let mut reader = AnyReader::open(path, ui.read_options(args.format.input_format))?;
        let mut samples = Vec::new();
        while reader.next_batch(&mut samples)? {
            interrupt::check()?;
            samples.truncate(usize::try_from(limit - positions).unwrap_or(usize::MAX));
            positions += samples.len() as u64;
            let of_batch = samples
                .par_chunks(1 << 10)
                .map(|chunk| count_all(chunk, &blocks))
                .reduce(|| vec![FeatureCounts::default(); blocks.len()], sum);
            counts = sum(counts, of_batch);
            samples.clear();
            if positions == limit {
                break 'files;
            }
        }
    }
    if positions == 0 {
        return Err(Error::usage("there are no positions to look at"));
    }
    let mean = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
    let row = |((block, _), count): (&(&'static FeatureBlock, Features), &FeatureCounts)| Row {
        block: block.name,
        features: block.count,
        active: mean(count.active, count.perspectives),
        most_active: count.most,
        added: mean(count.added, count.moves),
        removed: mean(count.removed, count.moves),
        about: block.about,
    };
    let moves = counts.first().map_or(0, |count| count.moves / 2);
    ui.result(&Table { positions, moves, blocks: blocks.iter().zip(&counts).map(row).collect() })
}

fn sum(a: Vec<FeatureCounts>, b: Vec<FeatureCounts>) -> Vec<FeatureCounts> {
    a.into_iter().zip(b).map(|(a, b)| a.and(b)).collect()
}

fn count_all(samples: &[Record], blocks: &[(&'static FeatureBlock, Features)]) -> Vec<FeatureCounts> {
    let mut counts = vec![FeatureCounts::default(); blocks.len()];
    for sample in samples {
        let Some(before) = sample.position() else { continue };
        let after = sample.played.unpack(&before).filter(|m| before.is_legal(*m)).map(|m| played(&before, m));
        for ((_, features), count) in blocks.iter().zip(&mut counts) {
            *count = count.and(FeatureCounts::of(features, &before, after.as_ref()));
        }
    }
    counts
}
