use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Instant;

use super::moved::{FormatArgs, Moved};
use crate::prepare::{check_output, warn_of_repeated};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::interleave::{NOT_DRAWN, Weighted, interleave};

/// Mix files of positions by weights
///
/// The shares of positions in the mix are those of the weights, from start to end; games stay whole. The mix ends with
/// the first file that is used up, and what is left of the others is counted. Shuffle afterwards to mix within games.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data interleave own.parquet=3 lichess.parquet=1 -o mixed.parquet    three positions in four are own\n  \
    patzer data interleave a.binpack b.binpack --seed 7 -o mixed.binpack       equal shares")]
pub struct InterleaveArgs {
    /// Files to mix, in any format, each with its weight [default weight: 1]
    #[arg(required = true, value_name = "DATA[=WEIGHT]", value_parser = clap::builder::OsStringValueParser::new())]
    data: Vec<std::ffi::OsString>,

    /// File to write; its ending says the format; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Seed that chooses the order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    formats: FormatArgs,
}

/// A file and its weight. A name that holds `=` itself is a file where it exists.
fn weighted(text: &OsStr) -> Result<(PathBuf, f64)> {
    let whole = PathBuf::from(text);
    let Some((name, weight)) =
        text.to_str().filter(|_| !whole.exists()).and_then(|text| text.rsplit_once('='))
    else {
        return Ok((whole, 1.0));
    };
    match weight.parse::<f64>() {
        Ok(weight) if weight > 0.0 && weight.is_finite() => Ok((name.into(), weight)),
        _ => Err(Error::usage(format!("{name}={weight}: a weight is a number above 0"))),
    }
}

pub fn run(args: &InterleaveArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let started = Instant::now();
    let named = args.data.iter().map(|text| weighted(text)).collect::<Result<Vec<_>>>()?;
    let paths: Vec<PathBuf> = named.iter().map(|(path, _)| path.clone()).collect();
    check_output(&args.output, &paths, "inputs")?;
    warn_of_repeated(&paths, ui);
    let open = |(path, weight): &(PathBuf, f64)| {
        args.formats.open(path, ui).map(|data| Weighted { data, weight: *weight })
    };
    let parts = named.iter().map(open).collect::<Result<Vec<_>>>()?;
    let rows = parts.iter().map(|part| part.data.rows()).sum::<Option<u64>>().unwrap_or(0);
    let done = ui.with_progress("mixing", rows, |bar| {
        interleave(parts, &args.output, args.seed, &args.formats.target(ui), |n| bar.inc(n))
    })?;
    let not_drawn = (NOT_DRAWN.to_string(), done.not_drawn);
    let mut dropped: BTreeMap<_, _> = Some(not_drawn).filter(|(_, count)| *count > 0).into_iter().collect();
    let written = args.formats.written(&args.output, done.written, &mut dropped, ui)?;
    let mut result = Moved::since(started, done.read, dropped, vec![written]);
    result.taken = Some(
        paths.into_iter().zip(done.taken).map(|(path, taken)| (path.display().to_string(), taken)).collect(),
    );
    ui.result_beside(&args.output, &result)
}
