mod fitting;
mod hce;
mod net;
mod net_args;
mod net_run;
mod race;
mod traces;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::net_args::NetArgs;
use crate::traces::patch::Patch;
use crate::{Result, Status, Ui, interrupt};
use patzer_fit::tune::model::Model;
use patzer_fit::tune::{FittedRuns, Judgement, Scale, TunedWeight};
use patzer_io::number::{counted, grouped, rate};
use patzer_io::run_folder::{self, RunFolder};
use patzer_io::{Earlier, Named};
use patzer_train::{Keep, Quantisation};

/// Train a network; with a subcommand, fit the weights of an evaluation
///
/// A dataset that is not resolved is labelled by quiescence search first; the labelled file is kept beside it,
/// and made again for another dataset of the same name. A dataset that is called like a subcommand is `./hce`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    patzer tune --filter unique                      newest dataset → new.nnue\n  \
    patzer tune --hidden 64 --epochs 40 -o big.nnue  a wider network, for longer\n  \
    patzer tune --resume -o big.nnue                 go on after an interruption\n  \
    patzer tune hce --filter unique                  hand-crafted evaluation → new.hce.toml\n  \
    patzer tune traces mine.txt --terms mine.toml    another engine's evaluation → new.toml"
)]
pub struct TuneArgs {
    #[command(flatten)]
    network: NetArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

commands! {
    Hce(hce::HceArgs),
    Traces(traces::FitTracesArgs),
}

/// Folder of a run: arguments that all that fits or trains shares.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Output")]
struct RunArgs {
    /// Folder for the run's settings and log.csv [default: runs/ and the output's name]
    #[arg(long, value_name = "FOLDER")]
    #[serde(serialize_with = "patzer_io::path_text")]
    run: Option<PathBuf>,

    /// Start over where the run's folder holds an unfinished run; a finished one is moved aside without this
    #[arg(long)]
    #[serde(skip)]
    overwrite: bool,
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
    /// SHA-256 of the network or the weights, of which the run's folder has a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Weights of an evaluation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weights: Vec<TunedWeight>,
    /// Factor of the weights that keeps the scale of the initial ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// Losses on positions of the engine's own games, with --judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<Judgement>,
    /// The judge keeps the weights from being written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
    /// The network that games chose, with --race.
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<race::Chosen>,
    /// Patch, with --patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Patch>,
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
            judge: fitted.judgement,
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
        if let Some(judgement) = &self.judge {
            writeln!(f, "judge     {judgement}")?;
        }
        if let Some(chosen) = &self.race {
            writeln!(f, "race      {chosen}")?;
        }
        let output = patzer_io::Printable(self.output.display());
        let speed = rate(self.positions_per_second, "positions");
        match self.refused {
            true => writeln!(f, "          {speed}; {output} is not written, --force writes it")?,
            false => writeln!(f, "          {speed} → {output}")?,
        }
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
    interrupt::listen()?;
    args.command.as_ref().map_or_else(|| net::run(&args.network, ui), |command| command.run(ui))
}

/// Writes the network or the weights, with a copy in the run's folder; gives their SHA-256.
fn save(bytes: &[u8], output: &Path, copy: &Path) -> Result<String> {
    patzer_io::write(copy, bytes)?;
    patzer_io::write(output, bytes)?;
    Ok(patzer_io::sha256(bytes))
}

/// Writes the result to the run's folder and prints it, where no output is standard output.
fn finish(result: TuneResult, other_output: Option<&Path>, ui: &Ui) -> Result<Status> {
    if let Some(run) = &result.run {
        run_folder::write_result(run.path(), &result)?;
    }
    let status = ui.result_beside_all(other_output.into_iter().chain([result.output.as_path()]), &result)?;
    Ok(if result.refused { Status::H0 } else { status })
}

impl RunArgs {
    /// `runs/new.hce` for `some/new.hce.toml`, without --run.
    fn folder(&self, output: &Path) -> PathBuf {
        self.run.clone().unwrap_or_else(|| match output.file_name() {
            Some(name) if name != "-" => Path::new("runs").join(Path::new(name).with_extension("")),
            _ => PathBuf::from("runs/stdout"),
        })
    }

    /// The command that resumes the run of an output.
    fn resume(&self, output: &Path) -> String {
        match &self.run {
            Some(run) => format!("patzer tune --resume --run {}", run.display()),
            None => format!("patzer tune --resume -o {}", output.display()),
        }
    }

    /// Whether the folder can be written is known before hours are spent on the run.
    fn claim(&self, output: &Path, resume: bool) -> Result<RunFolder> {
        RunFolder::claim(&self.folder(output), Earlier::of(resume, self.overwrite))
    }
}
