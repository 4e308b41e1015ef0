use std::path::PathBuf;
use std::time::Instant;

use super::moved::{FormatArgs, Moved, Written};
use crate::named::named;
use crate::prepare::{check_output, warn_of_repeated};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::dedupe::{Dedupe, Keep};
use patzer_data::merge::merge;
use patzer_data::{OutputSettings, RowGroups, memory};

/// Merge datasets into one
///
/// Shards of `patzer extract --shard` merge to exactly the bytes of an unsharded run, duplicates across shards
/// included. Other datasets are concatenated and their games renumbered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data merge part1.parquet part2.parquet              → merged.parquet\n  \
    patzer data merge old.parquet new.parquet --duplicates last -o all.parquet\n  \
    patzer data merge part1.parquet part2.parquet --per-game 10 --seed 1")]
pub struct MergeArgs {
    /// Files to merge, in any format
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// File to write; its ending says the format; `-` is standard output
    #[arg(short, long, default_value = "merged.parquet", value_name = "FILE")]
    output: PathBuf,

    /// Drop duplicates and keep this one [default: as the shards did; else drop none]
    #[arg(long, value_name = "WHICH", value_parser = named::<Keep>())]
    duplicates: Option<Keep>,

    /// Treat horizontal mirrors as duplicates (only without castling rights)
    #[arg(long, requires = "duplicates")]
    mirrored_duplicates: bool,

    /// Keep at most N positions of each game, chosen at random [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_game: Option<u32>,

    /// Keep N positions in all, chosen at random after everything else [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,

    /// Seed of the random choices [default: that of the first dataset]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Memory that the removal of duplicates may take, such as 500M or 2G; the rest goes to temporary files beside
    /// the output [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse, hide_short_help = true)]
    memory: Option<usize>,

    #[command(flatten)]
    formats: FormatArgs,
}

pub fn run(args: &MergeArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let started = Instant::now();
    check_output(&args.output, &args.data, "inputs")?;
    warn_of_repeated(&args.data, ui);
    let parts = args.data.iter().map(|path| args.formats.open(path, ui)).collect::<Result<Vec<_>>>()?;
    let seed = parts.first().map(|part| part.metadata().seed);
    let choices = OutputSettings {
        dedupe: args.duplicates.map(|keep| Dedupe { keep, mirror: args.mirrored_duplicates }),
        per_game: args.per_game.map(|n| n as usize),
        sample: args.sample.map(|n| n as usize),
        seed: args.seed.or(seed).ok_or_else(|| Error::usage("there is nothing to merge"))?,
        memory: args.memory.unwrap_or_else(memory::default),
    };
    let rows = parts.iter().map(RowGroups::rows).sum::<Option<u64>>().unwrap_or(0);
    let merged = ui.with_progress("merging", rows, |bar| {
        merge(parts, &args.output, choices, &args.formats.target(ui), |n| bar.inc(n))
    })?;
    if let Some(lost) = &merged.done.lost {
        ui.warn(lost);
    }
    let dropped = merged.done.dropped.iter().map(|(reason, count)| (reason.to_string(), *count)).collect();
    let written = Written { output: args.output.clone(), positions: merged.done.written };
    let mut result = Moved::since(started, merged.done.read, dropped, vec![written]);
    result.account = merged.account;
    ui.result_beside(&args.output, &result)
}
