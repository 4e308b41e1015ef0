use std::fmt;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use shakmaty::{Chess, Color, Position};

use crate::prepare::{InputFormat, files_or_default};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_chess::played;
use patzer_data::{AnyReader, Record};
use patzer_eval::nnue::features::{FEATURE_BLOCKS, FeatureBlock, Features, Perspective};
use patzer_eval::nnue::halfmoves;
use patzer_io::number::grouped;

#[derive(Debug, Args)]
pub(super) struct FeaturesArgs {
    /// Files of positions, in any format [default: the newer of positions.parquet and labelled.parquet]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    #[command(flatten)]
    format: InputFormat,

    /// Positions to look at, from the first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    limit: u64,
}

/// Integer sums, so that the order of summation does not matter.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    views: u64,
    active: u64,
    most: u64,
    moves: u64,
    added: u64,
    removed: u64,
}

impl Count {
    fn and(self, other: Count) -> Count {
        Count {
            views: self.views + other.views,
            active: self.active + other.active,
            most: self.most.max(other.most),
            moves: self.moves + other.moves,
            added: self.added + other.added,
            removed: self.removed + other.removed,
        }
    }
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
    let limit = if args.limit == 0 { u64::MAX } else { args.limit };
    let (mut counts, mut positions) = (vec![Count::default(); blocks.len()], 0);
    'files: for path in &paths {
        let mut reader = AnyReader::open(path, args.format.input_format)?;
        let mut samples = Vec::new();
        while reader.next_batch(&mut samples)? {
            interrupt::check()?;
            samples.truncate(usize::try_from(limit - positions).unwrap_or(usize::MAX));
            positions += samples.len() as u64;
            let of_batch = samples
                .par_chunks(1 << 10)
                .map(|chunk| count_all(chunk, &blocks))
                .reduce(|| vec![Count::default(); blocks.len()], sum);
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
    let row = |((block, _), count): (&(&'static FeatureBlock, Features), &Count)| Row {
        block: block.name,
        features: block.count,
        active: mean(count.active, count.views),
        most_active: count.most,
        added: mean(count.added, count.moves),
        removed: mean(count.removed, count.moves),
        about: block.about,
    };
    let moves = counts.first().map_or(0, |count| count.moves / 2);
    ui.result(&Table { positions, moves, blocks: blocks.iter().zip(&counts).map(row).collect() })
}

fn sum(a: Vec<Count>, b: Vec<Count>) -> Vec<Count> {
    a.into_iter().zip(b).map(|(a, b)| a.and(b)).collect()
}

fn count_all(samples: &[Record], blocks: &[(&'static FeatureBlock, Features)]) -> Vec<Count> {
    let mut counts = vec![Count::default(); blocks.len()];
    for sample in samples {
        let Some(before) = sample.position() else { continue };
        let after = sample.played.unpack(&before).filter(|m| before.is_legal(*m)).map(|m| played(&before, m));
        for ((_, features), count) in blocks.iter().zip(&mut counts) {
            for side in Color::ALL {
                *count = count.and(count_view(features, &before, after.as_ref(), side));
            }
        }
    }
    counts
}

fn count_view(features: &Features, before: &Chess, after: Option<&Chess>, side: Color) -> Count {
    let words = |position: &Chess| {
        let mut words = vec![0; features.words()];
        features.write(&Perspective::new(position.board(), halfmoves(position), side), &mut words);
        words
    };
    let here = words(before);
    let active = here.iter().map(|word| u64::from(word.count_ones())).sum();
    let mut count = Count { views: 1, active, most: active, ..Count::default() };
    if let Some(after) = after {
        count.moves = 1;
        for (a, b) in here.iter().zip(words(after)) {
            count.added += u64::from((b & !a).count_ones());
            count.removed += u64::from((a & !b).count_ones());
        }
    }
    count
}
