mod fitting;
mod hce;
mod net;
mod net_run;
mod trace_check;
mod traces;
mod unused;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::traces::TraceArgs;
use crate::given::Given;
use crate::prepare::{DataArgs, check_new_output};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_fit::beside;
use patzer_fit::tune::model::Model;
use patzer_fit::tune::{FittedRuns, Scale, Settings, TunedWeight};
use patzer_io::Named;
use patzer_io::number::{counted, grouped, rate};
use patzer_io::run_folder::{self, Earlier, RunFolder};
use patzer_prepare::default_dataset;
use patzer_train::{Keep, Quantisation};

/// Fit a network, or the weights of the hand-crafted evaluation
///
/// A dataset that is not resolved is labelled by quiescence search first; the labelled file is kept beside it,
/// and made again for another dataset of the same name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer tune --filter unique                      newest dataset → new.nnue\n  \
    patzer tune --hidden 64 --epochs 40 -o big.nnue  a wider network, for longer\n  \
    patzer tune --hce --filter unique                hand-crafted evaluation → new.hce.toml\n  \
    patzer tune --hce --terms material,psqt          only these terms; the others keep their weights\n  \
    patzer tune --hce games.epd --no-resolve         lines of FEN and result, as they are\n  \
    patzer tune --traces mine.txt --terms mine.toml -o mine.hpp   another engine's evaluation\n  \
    patzer tune --terms mine.toml --indices                        the index of each of its entries\n  \
    patzer tune --traces mine.txt --terms mine.toml --check        do the counts give its evaluations?\n  \
    patzer tune --terms tuned.toml --patch evaluate.c --in-place   its values into the source")]
pub struct TuneArgs {
    #[command(flatten)]
    given: Given,

    #[command(flatten)]
    data: DataArgs,

    /// Tune the hand-crafted evaluation instead of a network
    #[arg(long, help_heading = "Hand-crafted evaluation")]
    hce: bool,

    #[command(flatten)]
    hce_args: hce::HceArgs,

    #[command(flatten)]
    traces: TraceArgs,

    #[command(flatten)]
    fit: fitting::FitArgs,

    #[command(flatten)]
    net_args: net::NetArgs,

    /// Maximum passes over the training positions [default: the recipe's; what suits the optimiser with --hce]
    #[arg(long, value_name = "N", help_heading = "Fitting")]
    epochs: Option<usize>,

    #[arg(long, value_name = "N", help_heading = "Fitting", help = format!("Positions for each step of a first-order optimiser; 0 for all, with --hce [default: the recipe's; {} with --hce]", Settings::default().batch))]
    batch: Option<usize>,

    /// First learning rate, with --hce in centipawns a step of a first-order optimiser [default: the recipe's; what
    /// suits the optimiser with --hce]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, help_heading = "Fitting")]
    learning_rate: Option<f32>,

    /// K of the sigmoid 1 / (1 + exp(-K * centipawns / 400)) [default: the recipe's, or else fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Fitting")]
    k: Option<f64>,

    /// Share of the games held out to validate [default: the recipe's; 0.1 with --hce]
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true, help_heading = "Fitting")]
    validation: Option<f64>,

    /// Seed of the games held out, the first weights and the order of positions [default: the recipe's; 0 with --hce]
    #[arg(long, value_name = "N", help_heading = "Fitting")]
    seed: Option<u64>,

    /// Start over where the run's folder holds an unfinished run; a finished one is moved aside without this
    #[arg(long, conflicts_with = "resume", help_heading = "Output")]
    overwrite: bool,

    /// Output file; `-` is standard output [default: new.nnue; new.hce.toml with --hce]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Folder for the run's settings and log.csv [default: runs/ and the output's name]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    run: Option<PathBuf>,
}

#[derive(Debug, Default, Serialize)]
struct TuneResult {
    positions: usize,
    validation_positions: usize,
    parameters: usize,
    epochs: usize,
    best_epoch: usize,
    k: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    train_loss_before: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_loss_before: Option<f64>,
    train_loss: f64,
    validation_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    train_loss_exact: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimizer: Option<&'static str>,
    positions_per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantisation: Option<Quantisation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
    /// A signal came before the end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    /// Weights, with --hce and --traces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weights: Vec<TunedWeight>,
    /// Factor of the weights that keeps the scale of the initial ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// Patch, with --patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<traces::Patch>,
    #[serde(skip)]
    keep: Keep,
    #[serde(skip)]
    run: Option<RunFolder>,
    #[serde(skip)]
    remarks: Vec<String>,
    #[serde(skip)]
    table: String,
}

impl TuneResult {
    fn of_fit(fitted: FittedRuns, model: &Model, output: PathBuf, run: RunFolder) -> TuneResult {
        let outcome = &fitted.outcome;
        let (name, passes, exact) = (outcome.optimizer.name(), outcome.passes, outcome.exact.train);
        let (seconds, cost) = (outcome.seconds, outcome.rounded.train - exact);
        let mut remarks = vec![
            format!("{name} in {passes} passes, {seconds:.2} s: train loss {exact:.7} before rounding"),
            format!("rounding to whole centipawns cost {cost:+.1e} of train loss"),
        ];
        let scale_factor = if let Scale::Kept(factor) = outcome.scale { Some(factor) } else { None };
        remarks.extend(fitted.remarks);
        TuneResult {
            positions: fitted.positions,
            validation_positions: fitted.validation_positions,
            parameters: outcome.parameters,
            epochs: outcome.epochs,
            best_epoch: outcome.best_epoch,
            k: outcome.k,
            train_loss_before: Some(outcome.before.train),
            validation_loss_before: outcome.before.validation,
            train_loss: outcome.rounded.train,
            validation_loss: outcome.rounded.validation,
            train_loss_exact: Some(exact),
            optimizer: Some(name),
            positions_per_second: outcome.positions_per_second,
            output,
            run: Some(run),
            remarks,
            weights: fitted.values.weights(model),
            scale_factor,
            warning: fitted.warning,
            table: fitted.values.text(model),
            ..TuneResult::default()
        }
    }
}

impl fmt::Display for TuneResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = [self.parameters, self.positions, self.validation_positions];
        let [parameters, train, validation] = numbers.map(|count| grouped(count as u64));
        writeln!(f, "tuned     {parameters} parameters on {train} positions, {validation} held out")?;
        let best = match self.best_epoch {
            0 => "none better than the start".to_string(),
            _ if self.keep == Keep::Last => "the last is kept".to_string(),
            epoch => format!("the best was {epoch}"),
        };
        writeln!(f, "          {}, {best}; K = {:.4}", counted(self.epochs as u64, "epoch"), self.k)?;
        writeln!(f, "          train loss {}", change(self.train_loss_before, self.train_loss))?;
        if let Some(loss) = self.validation_loss {
            writeln!(f, "          validation loss {}", change(self.validation_loss_before, loss))?;
        }
        for remark in &self.remarks {
            writeln!(f, "          {}", patzer_io::printable(remark))?;
        }
        let output = patzer_io::Printable(self.output.display());
        writeln!(f, "          {} → {output}", rate(self.positions_per_second, "positions"))?;
        if !self.table.is_empty() {
            write!(f, "\n{}", self.table)?;
        }
        self.patch.as_ref().map_or(Ok(()), |patch| write!(f, "\n{patch}"))
    }
}

fn change(before: Option<f64>, after: f64) -> String {
    match before {
        Some(before) => format!("{before:.7} → {after:.7}"),
        None => format!("{after:.7}"),
    }
}

pub fn run(args: &TuneArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    unused::check(args)?;
    if args.traces.indices {
        return trace_check::indices(args, ui);
    }
    if args.traces.check {
        return trace_check::run(args, ui);
    }
    if args.traces.traces.is_empty() && !args.traces.patch.is_empty() {
        return traces::patch(args, ui);
    }
    let mut result = if !args.traces.traces.is_empty() {
        traces::tune(args, ui)?
    } else if args.hce {
        hce::tune(args, ui)?
    } else if !args.hce_args.terms.is_empty() {
        return Err(Error::usage("--terms needs --hce or --traces"));
    } else {
        net::tune(args, ui)?
    };
    if interrupt::requested() {
        ui.warn("interrupted before the end; the result is the best until then");
        result.interrupted = true;
    }
    if let Some(run) = &result.run {
        run_folder::write_result(run.path(), &result)?;
    }
    let floats = args.net_args.floats.as_deref();
    ui.result_beside_all(floats.into_iter().chain([result.output.as_path()]), &result)
}

impl TuneArgs {
    /// Tests whether a file can be written, and is none that the run reads.
    fn check_output(&self, output: &Path) -> Result<()> {
        let TraceArgs { traces, source, patch, .. } = &self.traces;
        let inputs = [&self.data.data, &self.net_args.validation_data, traces, source, patch];
        let named = self.net_args.recipe.iter().chain(&self.hce_args.terms).map(PathBuf::from);
        let named = named.chain(default_dataset().ok());
        check_new_output(output, inputs.into_iter().flatten().cloned().chain(named), "inputs")
    }

    /// `runs/new.hce` for `some/new.hce.toml`, without --run.
    fn folder(&self, output: &Path) -> PathBuf {
        self.run.clone().unwrap_or_else(|| match output.file_name() {
            Some(name) if name != "-" => Path::new("runs").join(Path::new(name).with_extension("")),
            _ => PathBuf::from("runs/stdout"),
        })
    }

    /// The output and the run's folder; whether they can be written is known before hours are spent on them.
    fn places(&self, default: &str) -> Result<(PathBuf, RunFolder)> {
        let output = self.output.clone().unwrap_or_else(|| PathBuf::from(default));
        let exports = beside(&output, self.hce_args.export.iter().map(|format| format.ending()))?;
        exports.iter().chain([&output]).try_for_each(|output| self.check_output(output))?;
        let earlier = match (self.net_args.resume, self.overwrite) {
            (true, _) => Earlier::Resume,
            (_, true) => Earlier::Overwrite,
            _ => Earlier::Protect,
        };
        let run = RunFolder::claim(&self.folder(&output), earlier)?;
        Ok((output, run))
    }
}
