use std::path::{Path, PathBuf};
use std::time::Instant;

use super::moved::{FormatArgs, Moved};
use crate::prepare::check_output;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::split::{LEFT_OUT, SplitPart, split};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::{registry, stream};

/// Split a dataset by game into train, validation and test
///
/// All positions of a game go to the same part, so no part knows a game of another. Equal positions of different
/// games may still be in two parts; extract with a filter that drops duplicates where that matters. In a format without
/// games, such as bullet, every position is a game of its own, and a warning says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data split positions.parquet              → positions.train.parquet, .validation, .test\n  \
    patzer data split positions.parquet --train 0.8 --validation 0.2 --seed 7\n  \
    patzer data split positions.parquet --test 0.01 -o small      only small.test.parquet\n  \
    patzer data split games.binpack                  → games.train.binpack and so on")]
pub struct SplitArgs {
    /// Positions to split, in any format
    #[arg(default_value = "positions.parquet")]
    data: PathBuf,

    /// Prefix of the output names: `.train`, `.validation`, `.test` come before its ending, which says the format
    /// [default: the name of the input]
    #[arg(short, long, value_name = "PREFIX")]
    output: Option<PathBuf>,

    /// Share of the games to train with, 0 to 1 [default: 0.9 if no share is given, else 0]
    #[arg(long, value_name = "SHARE")]
    train: Option<f64>,

    /// Share of the games to validate with, 0 to 1 [default: 0.05 if no share is given, else 0]
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,

    /// Share of the games to test with, 0 to 1 [default: 0.05 if no share is given, else 0]
    #[arg(long, value_name = "SHARE")]
    test: Option<f64>,

    /// Seed that chooses the games
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    formats: FormatArgs,
}

pub fn run(args: &SplitArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let started = Instant::now();
    let parts = parts(args)?;
    parts.iter().try_for_each(|part| check_output(&part.output, [&args.data], "inputs"))?;
    let data = args.formats.open(&args.data, ui)?;
    if data.metadata().lacks.contains(Capabilities::GAME) {
        ui.warn(format!(
            "{} does not say which positions are of one game, so positions of a game come into several parts: losses of \
             validation and test are too low",
            args.data.display()
        ));
    }
    let target = args.formats.target(ui);
    let done = ui.with_progress("splitting", data.rows().unwrap_or(0), |bar| {
        split(data, &parts, args.seed, &target, |n| bar.inc(n))
    })?;
    let left_out = (LEFT_OUT.to_string(), done.left_out);
    let mut dropped = Some(left_out).filter(|(_, count)| *count > 0).into_iter().collect();
    let written = parts.into_iter().zip(done.written);
    let outputs =
        written.map(|(part, written)| args.formats.written(&part.output, written, &mut dropped, ui));
    let outputs = outputs.collect::<Result<Vec<_>>>()?;
    for part in outputs.iter().filter(|part| part.positions == 0) {
        ui.warn(format!("{}: no position is in this part", part.output.display()));
    }
    ui.result(&Moved::since(started, done.read, dropped, outputs))
}

fn parts(args: &SplitArgs) -> Result<Vec<SplitPart>> {
    let asked = [("train", args.train), ("validation", args.validation), ("test", args.test)];
    let shares = match asked.iter().all(|(_, share)| share.is_none()) {
        true => [("train", 0.9), ("validation", 0.05), ("test", 0.05)],
        false => asked.map(|(name, share)| (name, share.unwrap_or(0.0))),
    };
    if let Some((name, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
        return Err(Error::usage(format!("--{name} {share}: a share is from 0 to 1")));
    }
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    // Sums such as 0.7 + 0.2 + 0.1 do not come out even.
    if sum > 1.0 + 1e-9 {
        return Err(Error::usage(format!("the shares add up to {sum}, but there is only 1 to share")));
    }
    let (prefix, ending) = prefix(args)?;
    let path = |name: &str| {
        let mut path = prefix.clone().into_os_string();
        path.push(format!(".{name}.{ending}"));
        PathBuf::from(path)
    };
    let asked = shares.into_iter().filter(|(_, share)| *share > 0.0);
    let parts: Vec<SplitPart> =
        asked.map(|(name, share)| SplitPart { name, share, output: path(name) }).collect();
    if parts.is_empty() {
        return Err(Error::usage("every share is 0; there is nothing to write"));
    }
    Ok(parts)
}

/// The start of the output names and their ending: that of `--output`, of `--format` or of the input.
fn prefix(args: &SplitArgs) -> Result<(PathBuf, String)> {
    let named = args.output.as_deref().unwrap_or(&args.data);
    if named == Path::new("-") {
        return Err(Error::usage("standard input has no name for the parts; give a prefix with -o"));
    }
    let (prefix, own) = stem(named);
    let format = args.formats.format.map(|format| format.endings[0].to_string());
    let (_, input) = stem(&args.data);
    let ending = match (own, format) {
        (Some(own), _) if args.output.is_some() => own,
        (_, Some(format)) => format,
        _ => input.unwrap_or_else(|| registry::native().endings[0].to_string()),
    };
    Ok((prefix, ending))
}

/// Splits off an ending of the registry, with that of a compression.
fn stem(path: &Path) -> (PathBuf, Option<String>) {
    if registry::of_path(path).is_none() {
        return (path.to_path_buf(), None);
    }
    let ending = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().into_owned();
    match stream::packing(path) {
        Some(packed) => {
            let inner = path.with_extension("");
            (inner.with_extension(""), Some(format!("{}.{packed}", ending(&inner))))
        }
        None => (path.with_extension(""), Some(ending(path))),
    }
}
