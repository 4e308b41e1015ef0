use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::named::named;
use crate::prepare::{InputFormat, check_output, warn_of_repeated};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::filter::Pipeline;
use patzer_data::{AnyReader, AnyWriter, Metadata, Target};
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::foreign::epd::Dialect;
use patzer_formats::foreign::table::Columns;
use patzer_formats::native::readable::ReadableColumns;
use patzer_formats::registry::{self, Format};
use patzer_io::number::{counted, grouped, rate};

/// Convert between formats of positions
///
/// Inputs may be of several formats and packed with gzip, Zstandard or bzip2; their content says which, or else their
/// name. The output's ending chooses the format, and a further `.zst`, `.gz` or `.bz2` compresses it. Fields that the
/// format cannot carry are counted and reported.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n{EXAMPLES}", registry::help()))]
pub struct ConvertArgs {
    /// Files of positions, in any format; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    pub(super) inputs: Vec<PathBuf>,

    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,

    /// Format to write; --help lists them [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    format: Option<&'static Format>,

    #[command(flatten)]
    pub(super) input: InputFormat,

    /// Columns of a table with FENs, such as fen=board,score=eval,side=white; known are fen, score, mate, result, depth,
    /// move and the columns of a dataset; side says whether scores speak for white or the mover [default: by name]
    #[arg(long, value_name = "KEY=NAME,…", default_value = "", hide_default_value = true, value_parser = columns)]
    columns: Columns,

    /// Notation of the result in a line of text [default: the format's own]
    #[arg(long, value_name = "DIALECT", value_parser = named::<Dialect>())]
    dialect: Option<Dialect>,

    /// Score, in centipawns, of positions without one, where the format needs one [default: leave them out]
    #[arg(long, value_name = "CP", allow_negative_numbers = true)]
    no_score: Option<i16>,

    /// Level of zstd, 1 (fastest) to 22 (smallest), of a dataset or a `.zst` file [default: 1, and 3 of a `.zst` file]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub(super) compress: Option<i32>,

    /// Columns for other programs in a dataset: fen, uci (the move), separated by commas
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, value_parser = readable)]
    with: ReadableColumns,

    /// Preset or TOML file of filters; may be given several times, and `patzer filters` lists them
    /// [default: none]
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) filter_set: Vec<String>,

    /// Licence of inputs that name none, for the dataset's metadata; `patzer data card` prints it
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,

    /// Write traces of the bundled evaluation as text, plain or packed by the output's ending, and the terms file
    /// beside them, for `patzer tune --traces`
    #[arg(long, conflicts_with_all = ["format", "dialect", "no_score", "with", "licence", "columns"])]
    traces: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data convert positions.parquet -o out.bullet            for the trainer bullet\n  \
    patzer data convert positions.parquet -o out.epd --filter quiet\n  \
    patzer data convert old.epd.gz -o old.parquet\n  \
    patzer data convert data.binpack more.plain.zst -o all.parquet\n  \
    patzer data convert positions.parquet -o out.epd.zst --dialect bracket\n  \
    patzer data convert lichess_db_eval.jsonl.zst -o lichess.parquet\n  \
    patzer data convert table.csv --columns fen=board,score=eval,side=white -o out.parquet";

/// Parses `--with`.
pub fn readable(text: &str) -> Result<ReadableColumns> {
    if text.is_empty() { Ok(ReadableColumns::default()) } else { text.parse() }
}

fn columns(text: &str) -> Result<Columns> {
    if text.is_empty() { Ok(Columns::default()) } else { text.parse() }
}

pub fn run(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    check_output(&args.output, &args.inputs, "inputs")?;
    warn_of_repeated(&args.inputs, ui);
    if args.traces {
        return super::traces::export(args, ui);
    }
    let started = Instant::now();
    let mut pipeline = Pipeline::new(&args.filter, &args.filter_set)?;
    let format = args.input.input_format;
    let readers = args.inputs.iter().map(|path| AnyReader::open_source(path, format, &args.columns));
    let readers = readers.collect::<Result<Vec<_>>>()?;
    let metadata = together(&readers, &pipeline, &args.licence, ui);
    let target = Target {
        format: args.format,
        dialect: args.dialect,
        no_score: args.no_score,
        level: args.compress,
        with: args.with,
    };
    let mut writer = AnyWriter::create(&args.output, &target, &metadata)?;
    for reader in &readers {
        if let Some(text) = pipeline.blind(reader.metadata().lacks) {
            ui.warn(format!("{}: {text}", reader.path().display()));
        }
    }
    let rows = readers.iter().map(AnyReader::rows).sum::<Option<u64>>().unwrap_or(0);
    let bar = ui.progress("converting", rows);
    let mut outcome = Outcome { inputs: readers.len(), ..Outcome::default() };
    // One more than the highest game number so far, including games without positions.
    let (mut games, mut batch) = (0u64, Vec::new());
    let wanted = writer.extra();
    for mut reader in readers {
        let first = games;
        games += reader.metadata().games();
        let mut extra = ExtraRows::of(reader.path(), reader.metadata(), &wanted)?;
        while reader.next_batch(&mut batch)? {
            if interrupt::requested() {
                return Err(interrupt::error());
            }
            bar.inc(batch.len() as u64);
            outcome.positions_read += batch.len() as u64;
            for sample in &mut batch {
                let game = first + u64::from(sample.game);
                games = games.max(game + 1);
                sample.game = u32::try_from(game).map_err(|_| {
                    Error::data(reader.path(), "its games cannot be numbered on: there are 2^32 in all")
                })?;
            }
            let mut rows = extra.as_mut().map(|extra| extra.take(batch.len())).transpose()?;
            let mut kept = Vec::new();
            batch.retain(|sample| {
                let verdict = pipeline.keep(sample);
                if let Err(reason) = verdict {
                    *outcome.dropped.entry(reason).or_default() += 1;
                }
                if rows.is_some() {
                    kept.push(verdict.is_ok());
                }
                verdict.is_ok()
            });
            if let Some(rows) = &mut rows {
                let mut kept = kept.into_iter();
                rows.retain(|_| kept.next() == Some(true));
            }
            writer.write_with(&batch, rows)?;
        }
        writer.add_digests(reader.metadata());
    }
    if let Some(account) = writer.metadata().and_then(|metadata| metadata.account.as_mut()) {
        account.add_dropped(&outcome.dropped);
    }
    bar.finish_and_clear();
    let format = writer.format();
    let written = writer.finish()?;
    if let Some(warning) = written.warning(&args.output, format) {
        ui.warn(warning);
    }
    outcome.format = format.name;
    outcome.positions_written = written.positions;
    outcome.lost = written.lost;
    for (reason, count) in written.dropped {
        *outcome.dropped.entry(reason).or_default() += count;
    }
    outcome.check()?;
    outcome.seconds = started.elapsed().as_secs_f64();
    outcome.positions_per_second = outcome.positions_read as f64 / outcome.seconds.max(1e-9);
    outcome.output = args.output.clone();
    if outcome.positions_written == 0 {
        ui.warn("no position is left");
    }
    ui.result_beside(&args.output, &outcome)
}

fn together(readers: &[AnyReader], pipeline: &Pipeline, licence: &Option<String>, ui: &Ui) -> Metadata {
    let all = || readers.iter().map(AnyReader::metadata);
    let mut metadata = Metadata::joined(all());
    metadata.forget_shared(all());
    for filter in pipeline.describe() {
        if !metadata.filters.contains(&filter) {
            metadata.filters.push(filter);
        }
    }
    let mut resolved: Vec<&str> = all().filter_map(|metadata| metadata.resolved.as_deref()).collect();
    let complete = resolved.len() == readers.len();
    if !complete && !resolved.is_empty() {
        ui.warn("some inputs are resolved and some are not, so the leaves are left out");
    }
    resolved.dedup();
    metadata.resolved = complete.then(|| resolved.join("; "));
    let unlicensed = metadata.sources.iter_mut().filter(|source| source.licence.is_none());
    unlicensed.for_each(|source| source.licence = licence.clone());
    metadata
}

#[derive(Debug, Default, Serialize)]
struct Outcome {
    inputs: usize,
    positions_read: u64,
    positions_written: u64,
    /// By filter, or by the reason why the format cannot hold a position.
    dropped: BTreeMap<&'static str, u64>,
    lost: BTreeMap<&'static str, u64>,
    format: &'static str,
    seconds: f64,
    positions_per_second: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl Outcome {
    fn check(&self) -> Result<()> {
        let accounted = self.positions_written + self.dropped.values().sum::<u64>();
        if accounted == self.positions_read {
            return Ok(());
        }
        let read = self.positions_read;
        Err(Error::internal(format!("{read} positions were read, but {accounted} are accounted for")))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "read      {} in {}",
            counted(self.positions_read, "position"),
            counted(self.inputs as u64, "file")
        )?;
        for (reason, count) in &self.dropped {
            writeln!(f, "dropped   {} {reason}", grouped(*count))?;
        }
        let (output, format) = (patzer_io::Printable(self.output.display()), self.format);
        writeln!(f, "written   {} → {output} ({format})", counted(self.positions_written, "position"))?;
        writeln!(f, "          {:.1} s, {}", self.seconds, rate(self.positions_per_second, "positions"))
    }
}
