use std::path::PathBuf;

use super::fitting::{FitArgs, fit, labels};
use super::{TuneResult, finish};
use crate::evaluation::load;
use crate::prepare::{DataArgs, Split, reporter};
use crate::{Error, Result, Status, Ui};
use patzer_eval::Evaluation;
use patzer_eval::hce::{TERMS, Weights};
use patzer_fit::tune::HceData;
use patzer_fit::tune::hce::{EMBEDDED_POSITIONS, HceTracer, Selection, model, terms, weights};
use patzer_fit::tune::output::Tuned;
use patzer_io::{self as io, run_folder};
use patzer_prepare::DataSelection;

/// Fit the weights of the hand-crafted evaluation
///
/// A dataset that is not resolved is labelled by quiescence search first; the labelled file is kept beside it,
/// and made again for another dataset of the same name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer tune hce --filter unique           newest dataset → new.hce.toml\n  \
    patzer tune hce --terms material,psqt     only these terms; the others keep their weights\n  \
    patzer tune hce games.epd --no-resolve    lines of FEN and result, as they are")]
pub(super) struct HceArgs {
    #[command(flatten)]
    data: DataArgs,

    #[arg(long, value_delimiter = ',', value_name = "NAMES", help = terms_help())]
    terms: Vec<String>,

    /// Weights to start from: a .hce.toml file, or default-hce, untuned-hce
    #[arg(long, default_value = "untuned-hce", value_name = "EVAL")]
    eval: PathBuf,

    /// Boards whose files a to d are to be the same as h to e, such as psqt.king; with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES", hide_short_help = true)]
    symmetric: Vec<String>,

    /// Neither limit the phase to that of the start position nor scale endgames, to compare with other tuners; the
    /// default L2 prior is 0 then
    #[arg(long, hide_short_help = true)]
    plain_taper: bool,

    /// Rescale the weights to the mean absolute evaluation of the initial ones
    ///
    /// The margins of a search still fit then; K follows and no loss changes.
    #[arg(long, hide_short_help = true)]
    keep_scale: bool,

    #[command(flatten)]
    fit: FitArgs,

    /// Output file; `-` is standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "new.hce.toml",
        help_heading = "Output",
        display_order = 0
    )]
    output: PathBuf,
}

fn terms_help() -> String {
    let names: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
    format!("Terms to tune, with commas between them, of {} [default: all]", names.join(", "))
}

pub(super) fn run(args: &HceArgs, ui: &Ui) -> Result<Status> {
    let start = match load(Some(&args.eval), ui)? {
        Evaluation::Hce(weights) => weights,
        Evaluation::Nnue(_) | Evaluation::Stockfish(_) => {
            return Err(Error::data(&args.eval, "is a network; `tune hce` starts from weights"));
        }
    };
    let mut settings = args.fit.settings()?;
    // Comparisons with other tuners want the optimum of the data alone.
    settings.evidence &= !args.plain_taper;
    settings.keep_scale = args.keep_scale;
    settings.start_positions = if *start == Weights::default() { EMBEDDED_POSITIONS } else { 0 };
    let tuned = Selection {
        terms: args.terms.clone(),
        fixed: args.fit.fix.clone(),
        mirrored: args.symmetric.clone(),
    };
    let model = model(&start, &tuned)?;
    if let Some(ending) = args.output.extension().filter(|ending| *ending != "toml") {
        return Err(Error::usage(format!(
            "-o: weights are written as TOML, and .{} is no ending of that; --export writes source code, JSON and CSV \
             beside it",
            ending.display()
        )));
    }
    let mut run = args.fit.claim(&args.output, &[args.data.inputs(), vec![args.eval.clone()]].concat())?;
    let tracer = HceTracer { plain_taper: args.plain_taper };
    let split = args.fit.split();
    let (selection, report) = (args.data.selection(ui), reporter(ui));
    let data = HceData { selection: &selection, model: &model, tracer };
    let labels =
        labels(&args.fit, args.fit.wdl.unwrap_or(1.0), ui, |settings| data.labels(settings, &report))?;
    let own = args.fit.own_positions(|files, of_labels| {
        let selection = DataSelection { files: files.to_vec(), ..selection.clone() };
        let data = HceData { selection: &selection, ..data };
        let none_held_out = Split { validation: 0.0, ..split };
        Ok(data.load(&data.labels(of_labels, &report)?, none_held_out, settings.chunk(), &report)?.0)
    })?;
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
    let fitted = fit(&args.fit, &model, &settings, own.as_ref(), &mut run, ui, &mut load)?;
    let weights = weights(&model, &fitted.outcome.values, fitted.outcome.k)?;
    let copy = run.path().join(run_folder::WEIGHTS);
    let (refused, toml) = (args.fit.refuses(&fitted), weights.to_toml());
    io::write(&copy, toml.as_bytes())?;
    let terms = terms(&weights);
    let values = terms.model(&[])?;
    let support = fitted.values.by_feature(&model);
    let exact = values.with_pairs(&model.pairs(&fitted.outcome.values));
    let tuned =
        Tuned { terms: &terms, model: &values, values: &exact, k: fitted.outcome.k, support: &support };
    if !refused {
        io::write(&args.output, toml.as_bytes())?;
        tuned.save_beside(&args.output, &args.fit.export)?;
    }
    run_folder::write_settings(run.path(), 1, &settings, &selection.inputs(split, &sources, &[]))?;
    let result = TuneResult::of_fit(fitted, &model, args.output.clone(), run);
    let sha256 = Some(io::sha256(toml.as_bytes()));
    finish(TuneResult { sha256, refused, ..result }, None, ui)
}
