use std::path::{Path, PathBuf};

use super::fitting::{FitArgs, fit, labels};
use super::{TuneResult, finish};
use crate::prepare::warn_of_bad_lines;
use crate::traces::args::{TraceArgs, report_phases};
use crate::traces::patch::Patch;
use crate::{Result, Status, Ui};
use patzer_data::Metadata;
use patzer_fit::tune::eval_check::EvalCheck;
use patzer_fit::tune::output::Tuned;
use patzer_fit::tune::phase_check::PhaseCheck;
use patzer_fit::tune::text::TracePosition;
use patzer_fit::tune::{Scale, TraceFiles};
use patzer_io as io;
use patzer_io::number::grouped;
use patzer_io::run_folder;
use patzer_prepare::DataSelection;

/// Fit the weights of any engine's evaluation to its traces
///
/// docs/traces.md says how an engine writes traces; `patzer traces` checks them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer tune traces mine.txt --terms mine.toml -o mine.hpp                      weights as C++\n  \
    patzer tune traces mine.txt --terms mine.toml --patch evaluate.c --in-place    into the engine's source")]
pub(super) struct FitTracesArgs {
    #[command(flatten)]
    traces: TraceArgs,

    /// Keep the scale that suits the results under the K of the initial weights
    ///
    /// Without this the weights are rescaled to the mean absolute evaluation of the initial ones, so that the margins of a
    /// search still fit; K follows and no loss changes.
    #[arg(long, hide_short_help = true)]
    no_keep_scale: bool,

    #[command(flatten)]
    fit: FitArgs,

    /// Show the tuned values as a change of these source files; the diff is also in the run's folder
    ///
    /// The files declare the terms by name, in the language of their ending: C, C++, C#, Go, Java, JavaScript, Kotlin,
    /// Python, Rust, Swift or Zig.
    #[arg(long, value_name = "FILES", num_args = 1.., help_heading = "Output")]
    patch: Vec<PathBuf>,

    /// Write the files of --patch, once the values are known to fit all of them
    #[arg(long, requires = "patch", help_heading = "Output")]
    in_place: bool,

    /// Output file; `-` is standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "new.toml",
        help_heading = "Output",
        display_order = 0
    )]
    output: PathBuf,
}

/// Share of results where every position has a score: of engines' own games scores teach more, see docs/traces.md.
const RESULT_SHARE: f32 = 0.2;

/// Change of scale that is worth a note.
const NOTICED: f64 = 0.005;

pub(super) fn run(args: &FitTracesArgs, ui: &Ui) -> Result<Status> {
    let (traces, output) = (&args.traces, &args.output);
    let terms = traces.start_terms()?;
    let mut settings = args.fit.settings()?;
    settings.keep_scale = !args.no_keep_scale;
    let model = terms.model(&args.fit.fix)?;
    if !args.patch.is_empty() {
        // That the terms are in the source is known before the fit.
        let start = model.start();
        Tuned { terms: &terms, model: &model, values: &start, k: 1.0, support: &[] }.patch(&args.patch)?;
    }
    terms.check_written(output, &args.fit.export)?;
    let mut run = args.fit.claim(output, &[traces.inputs(), args.patch.clone()].concat())?;
    let split = args.fit.split();
    split.check()?;
    let files = traces.files(&terms, &model);
    let share = match args.fit.wdl {
        Some(share) => share,
        None if files.have_scores()? => {
            ui.note(format!(
                "every line has a score: results count {RESULT_SHARE}, scores the rest; --wdl changes it"
            ));
            RESULT_SHARE
        }
        None => 1.0,
    };
    let labels = labels(&args.fit, share, ui, |settings| files.labels(settings))?;
    let own = args.fit.own_positions(|paths, of_labels| {
        let files = TraceFiles { paths, ..files };
        Ok(files.load(&files.labels(of_labels)?, 0.0, settings.seed, settings.chunk(), &mut |_, _| {})?.0)
    })?;
    let mut reported = false;
    let mut load = |seed: u64| {
        let mut checks = (!reported).then(|| Checks::new(traces, &files));
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
    let fitted = fit(&args.fit, &model, &settings, own.as_ref(), &mut run, ui, &mut load)?;
    if matches!(fitted.outcome.scale, Scale::Kept(factor) if (factor - 1.0).abs() > NOTICED) {
        ui.note("the weights were rescaled to the initial ones; --no-keep-scale leaves them as fitted");
    }
    let (values, k) = (&fitted.outcome.values, fitted.outcome.k);
    let support = fitted.values.by_feature(&model);
    let tuned = Tuned { terms: &terms, model: &model, values, k, support: &support };
    let refused = args.fit.refuses(&fitted);
    if !refused {
        tuned.save(output, &args.fit.export)?;
    }
    let wanted = !args.patch.is_empty();
    let patch = wanted.then(|| Patch::new(&tuned, &args.patch, args.in_place && !refused)).transpose()?;
    if let Some(patch) = &patch {
        io::write(&run.path().join("weights.diff"), patch.diff.as_bytes())?;
    }
    let source = |path: &PathBuf| (path.clone(), Metadata::of_file(path));
    let sources: Vec<_> = traces.traces.iter().map(source).collect();
    let selection = DataSelection { resolve: true, strict: traces.strict, ..DataSelection::default() };
    run_folder::write_settings(run.path(), 1, &settings, &selection.inputs(split, &sources, &[]))?;
    finish(TuneResult { patch, refused, ..TuneResult::of_fit(fitted, &model, output.clone(), run) }, None, ui)
}

/// Checks of the traces before a fit.
struct Checks<'a> {
    /// Files with a position that does not say its game.
    without_games: Vec<PathBuf>,
    phases: PhaseCheck<'a>,
    evaluations: EvalCheck<'a>,
}

impl<'a> Checks<'a> {
    fn new(args: &'a TraceArgs, files: &TraceFiles<'a>) -> Checks<'a> {
        Checks {
            without_games: Vec::new(),
            phases: PhaseCheck::new(files.terms, &args.terms.terms, files.model),
            evaluations: EvalCheck::new(files.model, args.max_deviation),
        }
    }

    fn see(&mut self, path: &Path, position: &TracePosition) {
        if position.game.is_none() && self.without_games.last().is_none_or(|last| last != path) {
            self.without_games.push(path.to_path_buf());
        }
        self.phases.see(path, position);
        self.evaluations.see(path, position);
    }

    fn report(&self, ui: &Ui) -> Result<()> {
        for path in &self.without_games {
            ui.warn(format!(
                "{} does not say which positions are of one game (game=N); blocks of consecutive positions stand in for \
                 games, and if games are mixed in the file, positions of one game may stand on both sides: the validation \
                 loss is too low then, and the standard errors are too small",
                path.display()
            ));
        }
        report_phases(&self.phases, ui)?;
        if self.evaluations.positions() > 0 {
            self.evaluations.to_string().lines().for_each(|line| ui.note(line));
            self.evaluations.verdict()?;
        }
        Ok(())
    }
}
