use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use super::moved::{Moved, Written};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::shuffle::{Settings, shuffle};
use patzer_data::{Dataset, memory};

/// Shuffle a dataset
///
/// A uniform random permutation by the seed, independent of memory and threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data shuffle positions.parquet                        → shuffled.parquet\n  \
    patzer data shuffle positions.parquet --seed 7 --memory 2G -o positions.parquet")]
pub struct ShuffleArgs {
    /// Dataset to shuffle
    #[arg(default_value = "positions.parquet")]
    data: PathBuf,

    /// Output dataset; `-` is standard output
    #[arg(short, long, default_value = "shuffled.parquet", value_name = "FILE")]
    output: PathBuf,

    /// Seed that chooses the order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Memory that positions may take, such as 500M or 2G; the rest goes to a temporary file beside the output
    /// [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,

    /// Level of zstd, 1 (fastest) to 22 (smallest)
    #[arg(long, value_name = "LEVEL", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=22))]
    compress: i32,
}

pub fn run(args: &ShuffleArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    let started = Instant::now();
    let data = Dataset::open(&args.data)?;
    let memory = args.memory.unwrap_or_else(memory::default);
    let settings = Settings { seed: args.seed, memory, level: args.compress };
    let positions = ui.with_progress("shuffling", 2 * data.rows(), |bar| {
        shuffle(&data, &args.output, settings, |n| bar.inc(n))
    })?;
    let written = Written { output: args.output.clone(), positions };
    let result = Moved::since(started, data.rows(), BTreeMap::new(), vec![written]);
    ui.result_beside(&args.output, &result)
}
