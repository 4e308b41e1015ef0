use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::named::named;
use crate::prepare::{InputFormat, ReadArgs, check_output, warn_of_repeated};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::Target;
use patzer_data::convert::{Conversion, ConvertEvent, Converted, convert};
use patzer_data::filter::Pipeline;
use patzer_formats::foreign::columns::Columns;
use patzer_formats::foreign::epd::Dialect;
use patzer_formats::listing;
use patzer_formats::native::readable::ReadableColumns;
use patzer_formats::registry::{self, Format};
use patzer_io::number::{counted, grouped, rate};

/// Convert between formats of positions
///
/// Inputs may be of several formats and packed with gzip, Zstandard or bzip2; their content says which, or else their
/// name. The output's ending chooses the format, and a further `.zst`, `.gz` or `.bz2` compresses it. Fields that the
/// format cannot carry are counted and reported.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n{EXAMPLES}", listing::help()))]
pub struct ConvertArgs {
    /// Files of positions, in any format; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    pub(super) inputs: Vec<PathBuf>,

    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,

    /// Format to write, or traces of the bundled evaluation for `patzer tune traces`, as text with the terms file beside
    /// it; --help lists the formats [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = form)]
    format: Option<Form>,

    #[command(flatten)]
    pub(super) input: InputFormat,

    #[command(flatten)]
    pub(super) reading: ReadArgs,

    /// Columns of a table with FENs, such as fen=board,score=eval,side=white; known are fen, score, mate, result,
    /// depth, move and the columns of a dataset; side says whether scores speak for white or the mover [default: by
    /// name]
    #[arg(long, value_name = "KEY=NAME,…")]
    pub(super) map: Option<Columns>,

    /// Notation of the result in a line of text [default: the format's own]
    #[arg(long, value_name = "DIALECT", value_parser = named::<Dialect>(), hide_short_help = true)]
    pub(super) dialect: Option<Dialect>,

    /// Score, in centipawns, of positions without one, where the format needs one [default: leave them out]
    #[arg(long, value_name = "CP", allow_negative_numbers = true, hide_short_help = true)]
    pub(super) no_score: Option<i16>,

    /// Level of zstd, 1 (fastest) to 22 (smallest), of a dataset or a `.zst` file [default: 1, and 3 of a `.zst` file]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(i32).range(1..=22), hide_short_help = true)]
    pub(super) compress: Option<i32>,

    /// Columns for other programs in a dataset: fen, uci (the move), separated by commas
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, value_parser = readable, hide_short_help = true)]
    pub(super) with: ReadableColumns,

    /// Preset or TOML file of filters; may be given several times, and `patzer filters` lists them
    /// [default: none]
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) filter_set: Vec<String>,

    /// Licence of inputs that name none, for the dataset's metadata; `patzer data card` prints it
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub(super) licence: Option<String>,
}

/// Output of a conversion.
#[derive(Debug, Clone, Copy)]
enum Form {
    Positions(&'static Format),
    Traces,
}

fn form(text: &str) -> Result<Form> {
    if text == "traces" { Ok(Form::Traces) } else { registry::named(text).map(Form::Positions) }
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data convert positions.parquet -o out.bullet            for the trainer bullet\n  \
    patzer data convert positions.parquet -o out.epd --filter quiet\n  \
    patzer data convert old.epd.gz -o old.parquet\n  \
    patzer data convert data.binpack more.plain.zst -o all.parquet\n  \
    patzer data convert positions.parquet -o out.epd.zst --dialect bracket\n  \
    patzer data convert lichess_db_eval.jsonl.zst -o lichess.parquet\n  \
    patzer data convert table.csv --map fen=board,score=eval,side=white -o out.parquet\n  \
    patzer data convert stockfish.binpack --score-scale 0.481 -o out.parquet      centipawns of Stockfish's scores";

/// Parses `--with`.
pub fn readable(text: &str) -> Result<ReadableColumns> {
    text.to_string().try_into()
}

pub fn run(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    check_output(&args.output, &args.inputs, "inputs")?;
    warn_of_repeated(&args.inputs, ui);
    let format = match args.format {
        Some(Form::Traces) => return super::traces::export(args, ui),
        Some(Form::Positions(format)) => Some(format),
        None => None,
    };
    let started = Instant::now();
    let pipeline = Pipeline::new(&args.filter, &args.filter_set)?;
    let target = Target {
        format,
        dialect: args.dialect,
        no_score: args.no_score,
        level: args.compress,
        with: args.with,
        notices: ui.notices.clone(),
    };
    let settings = Conversion {
        options: args.reading.options(args.input, ui),
        columns: &args.map.clone().unwrap_or_default(),
        target,
        licence: args.licence.as_deref(),
    };
    let mut bar = ProgressBar::hidden();
    let converted = convert(&args.inputs, &args.output, pipeline, &settings, &mut |event| match event {
        ConvertEvent::Started(rows) => bar = ui.progress("converting", rows),
        ConvertEvent::Advanced(rows) => bar.inc(rows),
        ConvertEvent::Finished => bar.finish_and_clear(),
        ConvertEvent::Warning(text) => ui.warn(text),
    })?;
    if converted.positions_written == 0 {
        ui.warn("no position is left");
    }
    let seconds = started.elapsed().as_secs_f64();
    let positions_per_second = converted.positions_read as f64 / seconds.max(1e-9);
    let outcome = Outcome { converted, seconds, positions_per_second, output: args.output.clone() };
    ui.result_beside(&args.output, &outcome)
}

#[derive(Debug, Serialize)]
struct Outcome {
    #[serde(flatten)]
    converted: Converted,
    seconds: f64,
    positions_per_second: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Converted { inputs, positions_read, positions_written, dropped, format, bad_rows, .. } =
            &self.converted;
        let files = counted(*inputs as u64, "file");
        writeln!(f, "read      {} in {files}", counted(*positions_read, "position"))?;
        if *bad_rows > 0 {
            writeln!(f, "left out  {}", counted(*bad_rows, "bad row"))?;
        }
        for (reason, count) in dropped {
            writeln!(f, "dropped   {} {reason}", grouped(*count))?;
        }
        let output = patzer_io::Printable(self.output.display());
        writeln!(f, "written   {} → {output} ({format})", counted(*positions_written, "position"))?;
        writeln!(f, "          {:.1} s, {}", self.seconds, rate(self.positions_per_second, "positions"))
    }
}
