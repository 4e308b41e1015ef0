use std::path::{Path, PathBuf};

use super::fitting::{fit, labels};
use super::{TuneArgs, TuneResult};
use crate::prepare::{Split, warn_of_bad_lines};
use crate::{Error, Result, Ui};
use patzer_data::{Metadata, Source};
use patzer_fit::tune::TraceFiles;
use patzer_fit::tune::eval_check::EvalCheck;
use patzer_fit::tune::output::Tuned;
use patzer_fit::tune::terms::Terms;
use patzer_io::run_folder;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Another engine's evaluation")]
pub(super) struct TraceArgs {
    /// Tune the evaluation that these traces are of: text or Parquet, plain or packed; docs/traces.md says how an engine
    /// writes them. Needs --terms
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with = "hce", requires = "terms")]
    pub(super) traces: Vec<PathBuf>,

    /// Largest deviation of the weights and counts from the engine's own evaluation (eval= in traces), in centipawns, at
    /// which the fit still goes on
    #[arg(long, value_name = "CP", default_value_t = 2.0, requires = "traces")]
    max_deviation: f64,
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
    let (output, mut run) = args.places("new.toml")?;
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    split.check()?;
    let files =
        TraceFiles { paths: &args.traces.traces, terms: &terms, model: &model, strict: args.data.strict };
    let labels = labels(args, ui, |visit| {
        files
            .each(&mut |_, position| {
                visit(position.unlabelled());
                Ok(())
            })
            .map(drop)
    })?;
    let mut reported = false;
    let mut load = |seed: u64| {
        let mut check = (!reported).then(|| EvalCheck::new(&model));
        let bar = ui.progress("reading traces", 0);
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        let loaded = files.load(&labels, split.validation, seed, settings.chunk(), check.as_mut());
        bar.finish_and_clear();
        let (traces, counts) = loaded?;
        if let Some(check) = check.filter(|check| check.positions() > 0) {
            ui.note(&check);
            let most = args.traces.max_deviation;
            let wrong = check.worst.first().filter(|worst| most.is_nan() || worst.size() > most);
            if let Some(worst) = wrong {
                return Err(Error::input(format!(
                    "{worst}: a deviation of {:.1} centipawns; --max-deviation {:.0} goes on",
                    worst.size(),
                    worst.size().ceil()
                )));
            }
        }
        if !std::mem::replace(&mut reported, true) {
            for (path, counts) in &counts {
                warn_of_bad_lines(path, counts.read, counts.bad, &counts.first_bad, ui);
            }
            let (read, bad) = counts.iter().fold((0, 0), |(r, b), (_, c)| (r + c.read, b + c.bad));
            let (train, held_out) = (traces.train.positions, traces.validation.positions);
            let rest = read - bad - (train + held_out) as u64;
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
    let source = |path: &PathBuf| (path.clone(), Metadata::new(vec![named(path)], Vec::new(), 0));
    let sources: Vec<_> = args.traces.traces.iter().map(source).collect();
    run_folder::write_settings(run.path(), &settings, &args.data.selection().inputs(split, &sources))?;
    Ok(TuneResult::of_fit(fitted, &model, output, run))
}

fn named(path: &Path) -> Source {
    let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
    Source { name, sha256: String::new(), games: None }
}
