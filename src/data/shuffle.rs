use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use super::moved::{FormatArgs, Moved};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::memory;
use patzer_data::shuffle::{Settings, shuffle};
use patzer_formats::capabilities::Capabilities;

/// Shuffle positions
///
/// A uniform random permutation by the seed, independent of memory and threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data shuffle positions.parquet                        → shuffled.parquet\n  \
    patzer data shuffle positions.parquet --seed 7 --memory 2G -o positions.parquet\n  \
    patzer data shuffle games.binpack -o training.bullet         reads and writes any format")]
pub struct ShuffleArgs {
    /// Positions to shuffle, in any format
    #[arg(default_value = "positions.parquet")]
    data: PathBuf,

    /// File to write; its ending says the format; `-` is standard output
    #[arg(short, long, default_value = "shuffled.parquet", value_name = "FILE")]
    output: PathBuf,

    /// Seed that chooses the order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Memory that positions may take, such as 500M or 2G; the rest goes to a temporary file beside the output
    /// [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,

    #[command(flatten)]
    formats: FormatArgs,
}

pub fn run(args: &ShuffleArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let started = Instant::now();
    let data = args.formats.open(&args.data, ui)?;
    let memory = args.memory.unwrap_or_else(memory::default);
    let settings = Settings { seed: args.seed, memory, target: args.formats.target(ui) };
    let rows = data.rows().unwrap_or(0);
    let (read, written) = ui
        .with_progress("shuffling", 2 * rows, |bar| shuffle(data, &args.output, &settings, |n| bar.inc(n)))?;
    let mut dropped = BTreeMap::new();
    let written = args.formats.written(&args.output, written, &mut dropped, ui)?;
    let format = args.formats.target(ui).format(&args.output)?;
    if format.carries.contains(Capabilities::GAME) && !format.carries.contains(Capabilities::PLY) {
        ui.warn(format!(
            "{}: {} knows games by the order of their positions, so each position is a game of its own here: no games can be \
             held out, and filters do not see what follows",
            args.output.display(),
            format.name
        ));
    }
    let result = Moved::since(started, read, dropped, vec![written]);
    ui.result_beside(&args.output, &result)
}
