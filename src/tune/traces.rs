use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::fitting::{fit, labels};
use super::{TuneArgs, TuneResult};
use crate::prepare::{Split, warn_of_bad_lines};
use crate::{Error, Result, Status, Ui};
use patzer_data::Metadata;
use patzer_fit::tune::TraceFiles;
use patzer_fit::tune::eval_check::EvalCheck;
use patzer_fit::tune::output::Tuned;
use patzer_fit::tune::phase_check::PhaseCheck;
use patzer_fit::tune::source::Patched;
use patzer_fit::tune::terms::Terms;
use patzer_fit::tune::text::TracePosition;
use patzer_io as io;
use patzer_io::number::grouped;
use patzer_io::run_folder;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Another engine's evaluation")]
pub(super) struct TraceArgs {
    /// Tune the evaluation that these traces are of: text or Parquet, plain or packed; docs/traces.md says how an
    /// engine writes them. Needs --terms
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with = "hce", requires = "terms")]
    pub(super) traces: Vec<PathBuf>,

    /// Largest deviation of the weights and counts from the engine's own evaluation (eval= in traces), in centipawns,
    /// at which the fit still goes on
    #[arg(long, value_name = "CP", default_value_t = 2.0, requires = "traces")]
    pub(super) max_deviation: f64,

    /// Start from the values that the terms have in these source files in C, C++, Rust, Java or Python, instead of
    /// those in the file of terms
    #[arg(long, value_name = "FILES", num_args = 1.., requires = "traces")]
    pub(super) source: Vec<PathBuf>,

    /// Show the tuned values as a change of these source files in C, C++, Rust, Java or Python, which declare the
    /// terms by name; without --traces, the start values of --terms. The diff is also in the run's folder
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with = "hce", requires = "terms")]
    pub(super) patch: Vec<PathBuf>,

    /// Write the files of --patch, once the values are known to fit all of them
    #[arg(long, requires = "patch")]
    in_place: bool,

    /// Fit nothing: compare the engine's own evaluation in the traces with their counts and the start values
    #[arg(long, requires = "traces", conflicts_with = "patch")]
    pub(super) check: bool,

    /// Print which index each entry of the file of terms has, as a struct of C whose offsets they are
    #[arg(long, requires = "terms", conflicts_with_all = ["hce", "traces", "patch"])]
    pub(super) indices: bool,
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    if !args.data.data.is_empty() {
        return Err(Error::usage("--traces takes the place of datasets; name all trace files behind it"));
    }
    let terms = start_terms(args)?;
    let settings = args.fit.settings(args)?;
    let model = terms.model(&args.fit.fix)?;
    if !args.traces.patch.is_empty() {
        // That the terms are in the source is known before the fit.
        let start = model.start();
        Tuned { terms: &terms, model: &model, values: &start, k: 1.0, support: &[] }
            .patch(&args.traces.patch)?;
    }
    terms.check_written(args.output.as_deref().unwrap_or(Path::new("new.toml")), &args.hce_args.export)?;
    let (output, mut run) = args.places("new.toml")?;
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    split.check()?;
    let files =
        TraceFiles { paths: &args.traces.traces, terms: &terms, model: &model, strict: args.data.strict };
    let labels = labels(args, ui, |settings| files.labels(settings))?;
    let mut reported = false;
    let mut load = |seed: u64| {
        let mut checks = (!reported).then(|| Checks::new(args, &files)).transpose()?;
        let bar = ui.progress("reading traces", 0);
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        let mut see = |path: &Path, position: &TracePosition| {
            bar.inc(1);
            checks.iter_mut().for_each(|checks| checks.see(path, position));
        };
        let loaded = files.load(&labels, split.validation, seed, settings.chunk(), &mut see);
        bar.finish_and_clear();
        let (traces, counts) = loaded?;
        checks.map_or(Ok(()), |checks| checks.report(ui))?;
        if !std::mem::replace(&mut reported, true) {
            for (path, counts) in &counts {
                warn_of_bad_lines(path, counts.read, counts.bad, &counts.first_bad, ui);
            }
            let (read, bad) = counts.iter().fold((0, 0), |(r, b), (_, c)| (r + c.read, b + c.bad));
            let (train, held_out) = (traces.train.positions, traces.validation.positions);
            let rest = read - bad - (train + held_out) as u64;
            let [read, bad, rest, train, held_out] =
                [read, bad, rest, train as u64, held_out as u64].map(grouped);
            ui.note(format!(
                "{read} positions read, {bad} bad, {rest} without a label; {train} to train, {held_out} to validate"
            ));
        }
        Ok(traces)
    };
    let fitted = fit(args, &model, &settings, &mut run, ui, &mut load)?;
    let (values, k) = (&fitted.outcome.values, fitted.outcome.k);
    let support = fitted.values.by_feature(&model);
    let tuned = Tuned { terms: &terms, model: &model, values, k, support: &support };
    tuned.save(&output, &args.hce_args.export)?;
    let patch = args.traces.patch(&tuned)?;
    if let Some(patch) = &patch {
        io::write(&run.path().join("weights.diff"), patch.diff.as_bytes())?;
    }
    let source = |path: &PathBuf| (path.clone(), Metadata::of_file(path));
    let sources: Vec<_> = args.traces.traces.iter().map(source).collect();
    let selection = args.data.selection(ui);
    run_folder::write_settings(run.path(), 1, &settings, &selection.inputs(split, &sources, &[]))?;
    Ok(TuneResult { patch, ..TuneResult::of_fit(fitted, &model, output, run) })
}

/// Checks of the traces before a fit.
struct Checks<'a> {
    phases: PhaseCheck<'a>,
    evaluations: EvalCheck<'a>,
}

impl<'a> Checks<'a> {
    fn new(args: &'a TuneArgs, files: &TraceFiles<'a>) -> Result<Checks<'a>> {
        Ok(Checks {
            phases: PhaseCheck::new(files.terms, terms_file(args)?, files.model),
            evaluations: EvalCheck::new(files.model, args.traces.max_deviation),
        })
    }

    fn see(&mut self, path: &Path, position: &TracePosition) {
        self.phases.see(path, position);
        self.evaluations.see(path, position);
    }

    fn report(&self, ui: &Ui) -> Result<()> {
        report_phases(&self.phases, ui)?;
        if self.evaluations.positions() > 0 {
            self.evaluations.to_string().lines().for_each(|line| ui.note(line));
            self.evaluations.verdict()?;
        }
        Ok(())
    }
}

pub(super) fn report_phases(phases: &PhaseCheck<'_>, ui: &Ui) -> Result<()> {
    phases.verdict()?;
    phases.note().iter().for_each(|note| ui.note(note));
    phases.warning().iter().for_each(|warning| ui.warn(warning));
    Ok(())
}

/// Puts the start values of a terms file into the source, without a fit.
pub(super) fn patch(args: &TuneArgs, ui: &Ui) -> Result<Status> {
    let terms = Terms::load(terms_file(args)?)?;
    let model = terms.model(&[])?;
    let values = model.start();
    let tuned = Tuned { terms: &terms, model: &model, values: &values, k: 1.0, support: &[] };
    ui.result(&args.traces.patch(&tuned)?.unwrap_or_default())
}

/// The terms, with start values from the source if that is named.
pub(super) fn start_terms(args: &TuneArgs) -> Result<Terms> {
    let terms = Terms::load(terms_file(args)?)?;
    if args.traces.source.is_empty() { Ok(terms) } else { terms.from_source(&args.traces.source) }
}

pub(super) fn terms_file(args: &TuneArgs) -> Result<&Path> {
    match &args.hce_args.terms[..] {
        [terms] => Ok(Path::new(terms)),
        _ => Err(Error::usage("--traces and --patch need one file of terms: --terms FILE")),
    }
}

/// The change of an engine's source.
#[derive(Debug, Default, Serialize)]
pub(super) struct Patch {
    /// Numbers that changed.
    changed: usize,
    #[serde(serialize_with = "patzer_io::path_text")]
    files: Vec<PathBuf>,
    written: bool,
    diff: String,
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diff)?;
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let (changed, names) = (self.changed, files.join(", "));
        let state = if self.written { "written" } else { "not written; --in-place does" };
        writeln!(f, "patch     {changed} numbers in {}: {state}", io::printable(&names))
    }
}

impl TraceArgs {
    /// Computes the change of the source files; writes them with --in-place.
    fn patch(&self, tuned: &Tuned<'_>) -> Result<Option<Patch>> {
        if self.patch.is_empty() {
            return Ok(None);
        }
        let patched = tuned.patch(&self.patch)?;
        if self.in_place {
            patched.iter().filter(|file| file.changed > 0).try_for_each(Patched::write)?;
        }
        Ok(Some(Patch {
            changed: patched.iter().map(|file| file.changed).sum(),
            files: self.patch.clone(),
            written: self.in_place,
            diff: patched.iter().map(Patched::diff).collect(),
        }))
    }
}
