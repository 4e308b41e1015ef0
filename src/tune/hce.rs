use std::path::{Path, PathBuf};

use super::fitting::{fit, labels};
use super::{TuneArgs, TuneResult};
use crate::evaluation::load;
use crate::named::named;
use crate::prepare::{Split, reporter};
use crate::{Error, Result, Ui};
use patzer_eval::Evaluation;
use patzer_eval::hce::{TERMS, Weights};
use patzer_fit::tune::HceData;
use patzer_fit::tune::hce::{EMBEDDED_POSITIONS, HceTracer, Selection, model, terms, weights};
use patzer_fit::tune::output::{Format, Tuned};
use patzer_io::run_folder;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Hand-crafted evaluation")]
pub(super) struct HceArgs {
    #[arg(long, value_delimiter = ',', value_name = "NAMES|FILE", help = terms_help())]
    pub(super) terms: Vec<String>,

    /// Weights to start from: a .hce.toml file, or default-hce, untuned-hce
    #[arg(long, default_value = "untuned-hce", value_name = "EVAL", requires = "hce")]
    start: PathBuf,

    /// Also write the weights so, beside the output; with commas between them
    #[arg(long, value_delimiter = ',', value_name = "FORMAT", value_parser = named::<Format>())]
    pub(super) export: Vec<Format>,

    /// Boards whose files a to d are to be the same as h to e, such as psqt.king; with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "hce")]
    mirror: Vec<String>,

    /// Neither limit the phase to that of the start position nor scale endgames, to compare with other tuners
    #[arg(long, requires = "hce")]
    pub(super) plain_taper: bool,
}

fn terms_help() -> String {
    let names: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
    format!(
        "With --hce: terms to tune, with commas between them, of {} [default: all]. With --traces: the TOML file \
         that names the terms",
        names.join(", ")
    )
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    let hce = &args.hce_args;
    let start = match load(Some(&hce.start), ui)? {
        Evaluation::Hce(weights) => weights,
        Evaluation::Nnue(_) => {
            return Err(Error::data(&hce.start, "is a network; --hce starts from weights"));
        }
    };
    let mut settings = args.fit.settings(args)?;
    settings.start_positions = if *start == Weights::default() { EMBEDDED_POSITIONS } else { 0 };
    let tuned =
        Selection { terms: hce.terms.clone(), fixed: args.fit.fix.clone(), mirrored: hce.mirror.clone() };
    let model = model(&start, &tuned)?;
    if let Some(ending) = args.output.as_deref().and_then(Path::extension).filter(|ending| *ending != "toml")
    {
        return Err(Error::usage(format!(
            "-o: --hce writes TOML, and .{} is no ending of that; --export writes source code, JSON and CSV beside it",
            ending.display()
        )));
    }
    let (output, mut run) = args.places("new.hce.toml")?;
    let tracer = HceTracer { plain_taper: hce.plain_taper };
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    let (selection, report) = (args.data.selection(ui), reporter(ui));
    let data = HceData { selection: &selection, model: &model, tracer };
    let labels = labels(args, ui, |settings| data.labels(settings, &report))?;
    let mut sources = Vec::new();
    let mut load = |seed: u64| {
        let split = Split { seed, ..split };
        let (traces, account) = data.load(&labels, split, settings.chunk(), &report)?;
        if sources.is_empty() {
            ui.note(account.summary(traces.train.positions, traces.validation.positions));
            sources = account.sources;
        }
        Ok(traces)
    };
    let fitted = fit(args, &model, &settings, &mut run, ui, &mut load)?;
    let weights = weights(&model, &fitted.outcome.values, fitted.outcome.k)?;
    patzer_io::write(&output, weights.to_toml().as_bytes())?;
    let terms = terms(&weights);
    let values = terms.model(&[])?;
    let support = fitted.values.by_feature(&model);
    let exact = values.with_pairs(&model.pairs(&fitted.outcome.values));
    let tuned =
        Tuned { terms: &terms, model: &values, values: &exact, k: fitted.outcome.k, support: &support };
    tuned.save_beside(&output, &hce.export)?;
    run_folder::write_settings(run.path(), 1, &settings, &selection.inputs(split, &sources, &[]))?;
    Ok(TuneResult::of_fit(fitted, &model, output, run))
}
