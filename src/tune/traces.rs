//! `patzer tune --traces`: traces and terms of another engine in, its tuned weights out.

use std::path::{Path, PathBuf};

use super::fitting::{Labels, Loaded, Seen, fit};
use super::{TuneArgs, TuneResult};
use crate::Ui;
use crate::prepare::{Split, warn_of_bad_lines, write_settings};
use patzer_chess::rng;
use patzer_data::{Metadata, Source};
use patzer_fit::tune::lines::Account;
use patzer_fit::tune::model::{Model, Space};
use patzer_fit::tune::output::{Format, Tuned};
use patzer_fit::tune::terms::Terms;
use patzer_fit::tune::text::Position;
use patzer_fit::tune::traces::{Gather, Traced, Traces, arrange};
use patzer_fit::tune::{columns, lines, text};
use patzer_io as io;
use patzer_io::error::{Error, Result};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Another engine's evaluation")]
pub(super) struct TraceArgs {
    /// Tune the evaluation that these traces are of: text or Parquet, plain or packed; docs/traces.md says how an engine
    /// writes them. Needs --terms
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with = "hce", requires = "terms")]
    pub(super) traces: Vec<PathBuf>,
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    let [terms] = &args.hce_args.terms[..] else {
        return Err(Error::usage("--traces needs one file of terms: --terms FILE"));
    };
    if !args.data.data.is_empty() {
        return Err(Error::usage("--traces takes the place of datasets; name all trace files behind it"));
    }
    let terms = Terms::load(Path::new(terms))?;
    let settings = args.fit.settings(args);
    settings.validate()?;
    let model = terms.model(&args.fit.fix)?;
    let (output, folder) = args.places("new.toml")?;
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    split.check()?;
    let labels = Labels::new(args, ui, |visit| {
        each(args, &terms, &model, &mut |position| {
            visit(seen(&position));
            Ok(())
        })
        .map(drop)
    })?;
    let mut told = false;
    let mut load = |seed: u64| {
        let split = Split { seed, ..split };
        let (loaded, accounts) = gather(args, &terms, &model, &labels, split, settings.chunk())?;
        if !std::mem::replace(&mut told, true) {
            accounts.iter().for_each(|(path, account)| warn_of_bad_lines(path, account, ui));
            let (read, bad) = accounts.iter().fold((0, 0), |(r, b), (_, a)| (r + a.read, b + a.bad));
            let (train, held_out) = (loaded.train.positions, loaded.validation.positions);
            let rest = read - bad - (train + held_out) as u64;
            ui.note(format!(
                "{read} positions read, {bad} bad, {rest} without a label; {train} to train, {held_out} to validate"
            ));
        }
        Ok(loaded)
    };
    let fitted = fit(args, &model, &settings, &folder, ui, &mut load)?;
    let tuned = Tuned { terms: &terms, model: &model, values: &fitted.outcome.values, k: fitted.outcome.k };
    write(&tuned, &output, &args.hce_args.export)?;
    let source = |path: &PathBuf| (path.clone(), Metadata::new(vec![named(path)], Vec::new(), 0));
    let sources: Vec<_> = args.traces.traces.iter().map(source).collect();
    write_settings(&folder, &settings, &args.data, split, &sources)?;
    Ok(TuneResult::of_fit(fitted, &model, output))
}

/// Writes the output in the format that its name says, TOML if it says none, and others beside it.
pub(super) fn write(tuned: &Tuned<'_>, output: &Path, beside: &[Format]) -> Result<()> {
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::of_ending(ending).unwrap_or(Format::Toml);
    io::write(output, tuned.write(format)?.as_bytes())?;
    export(tuned, output, beside)
}

/// Writes other formats beside the output.
pub(super) fn export(tuned: &Tuned<'_>, output: &Path, beside: &[Format]) -> Result<()> {
    for &format in beside {
        io::write(&output.with_extension(format.ending()), tuned.write(format)?.as_bytes())?;
    }
    Ok(())
}

fn named(path: &Path) -> Source {
    let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
    Source { name, sha256: String::new(), games: None }
}

fn seen(position: &Position) -> Seen {
    (position.facts.target, position.score, position.group())
}

/// Every position of every file, with the account of each file.
fn each(
    args: &TuneArgs,
    terms: &Terms,
    model: &Model,
    take: &mut dyn FnMut(Position) -> Result<()>,
) -> Result<Vec<(PathBuf, Account)>> {
    let mut accounts = Vec::new();
    for path in &args.traces.traces {
        let account = if columns::recognise(path)? {
            columns::each(path, model, terms.full_phase, args.data.strict, take)?
        } else {
            let parse = |line: &[u8]| text::parse(line, model, terms.full_phase);
            lines::each(path, args.data.strict, parse, &mut *take)?
        };
        accounts.push((path.clone(), account));
    }
    Ok(accounts)
}

fn gather(
    args: &TuneArgs,
    terms: &Terms,
    model: &Model,
    labels: &Labels,
    split: Split,
    chunk: usize,
) -> Result<(Loaded, Vec<(PathBuf, Account)>)> {
    let mut space = Space::new(model);
    let mut train = Gather::new(&Traced, model, &space, chunk, split.seed);
    let mut validation = Gather::new(&Traced, model, &space, chunk, split.seed);
    let accounts = each(args, terms, model, &mut |mut position| {
        let group = position.group();
        let Ok((target, weight)) = labels.of(seen(&position)) else { return Ok(()) };
        position.facts.target = target;
        position.facts.weight *= weight;
        position.facts.group = rng::mix(0, group) as u8;
        let held_out = rng::unit(rng::mix(split.seed, group)) < split.validation;
        let side = if held_out { &mut validation } else { &mut train };
        side.push((position.facts, position.counts))
    })?;
    let (mut train, mut validation): (Traces, Traces) = (train.finish()?, validation.finish()?);
    if train.positions == 0 {
        return Err(Error::usage("no positions are left to learn from"));
    }
    arrange(model, &mut space, &mut train, &mut validation);
    Ok((Loaded { space, train, validation }, accounts))
}
