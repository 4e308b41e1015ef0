use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::net_run::{Run, saved_networks};
use super::{RunArgs, TuneResult, finish};
use crate::given::{self, Given};
use crate::prepare::{DataArgs, Split, check_new_output, check_output, default_dataset, reporter};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_eval::nnue::features::{FEATURE_BLOCKS, Features};
use patzer_io::Limit;
use patzer_io::number::grouped;
use patzer_io::run_folder::{self, INPUTS, RunFolder};
use patzer_prepare::{DataSelection, RunInputs};
use patzer_train::{Compute, Device, Earlier, FittedK, Settings, TrainOutcome, TrainingData, resume_point};

/// Training of a network; its settings are in `run.json`, for --resume.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Network")]
pub struct NetArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    #[command(flatten, next_help_heading = "Data")]
    #[serde(flatten)]
    data: DataArgs,

    /// A built-in recipe (default, small, mirrored, bucketed, perspective, thesis, embedded) or a TOML file: all that
    /// training depends on besides the data [default: small below a million positions, else default]
    #[arg(long, value_name = "NAME|FILE")]
    recipe: Option<String>,

    /// Hidden neurons for each perspective, (768 → N) × 2; the recipe's further layers stay. Several numbers, as
    /// 256,16,32, name the further layers too [default: the recipe's]
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', action = clap::ArgAction::Set)]
    hidden: Vec<usize>,

    #[arg(long, value_name = "BLOCKS", help = features_help())]
    features: Option<String>,

    /// Another value for any key of the recipe, such as king_buckets=five; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Maximum passes over the training positions [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = FITTING)]
    epochs: Option<usize>,

    /// Share of the game's result in the target, 0 to 1; the rest is the score's [default: the recipe's]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = FITTING)]
    wdl: Option<f32>,

    /// K of the sigmoid 1 / (1 + exp(-K * centipawns / 400)) [default: the recipe's, or else fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = FITTING, hide_short_help = true)]
    k: Option<f64>,

    /// Share of the games held out to validate [default: the recipe's]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = FITTING)]
    validation: Option<f64>,

    /// Positions of other games to validate with, filtered and resolved as the data; nothing of the data is held out
    /// then. May be given several times [default: --validation of the games]
    #[arg(long, value_name = "FILE", conflicts_with = "validation", help_heading = FITTING, hide_short_help = true)]
    #[serde(serialize_with = "patzer_io::path_text")]
    validation_data: Vec<PathBuf>,

    /// Seed of the games held out, the first weights and the order of positions [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = FITTING)]
    seed: Option<u64>,

    /// Positions for each step [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = FITTING)]
    batch: Option<usize>,

    /// First learning rate [default: the recipe's]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, help_heading = FITTING)]
    learning_rate: Option<f32>,

    /// Training device: cpu, gpu or gpu:N (NVIDIA), or auto, the first GPU or else the CPU [default: auto]
    ///
    /// The same device gives the same bytes again, another one a network that differs by rounding. Before a run a GPU's
    /// gradient, losses and step are compared with the CPU's, as its driver compiles the kernels for each device; where
    /// they differ, gpu is an error and auto takes the CPU.
    #[arg(long, value_name = "DEVICE", help_heading = FITTING)]
    device: Option<Device>,

    /// Resume the run in the run's folder; options not given are taken from it
    ///
    /// The result is that of an uninterrupted run, if its data and settings are. The folder is that of --run, or else of
    /// the output.
    #[arg(long, conflicts_with = "overwrite", help_heading = "Output")]
    #[serde(skip)]
    resume: bool,

    #[command(flatten)]
    #[serde(flatten)]
    run: RunArgs,

    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "new.nnue", help_heading = "Output")]
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,

    /// Also write the weights in floats, as safetensors
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    #[serde(serialize_with = "patzer_io::path_text")]
    floats: Option<PathBuf>,

    /// Also write the network of every N-th epoch to the run's folder, as epoch-0010.nnue
    #[arg(long, value_name = "N", help_heading = "Output", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) save_every: Option<u32>,
}

const FITTING: &str = "Fitting";

/// Names of subcommands, which the parser takes for datasets where they are misspelt or come after an option.
const SUBCOMMANDS: [&str; 2] = ["hce", "traces"];

/// Contents of `run.json`.
#[derive(Serialize)]
struct RunFile<'a> {
    #[serde(flatten)]
    inputs: RunInputs<'a>,
    /// For --resume.
    arguments: &'a NetArgs,
}

#[derive(Deserialize)]
struct StoredRun {
    arguments: NetArgs,
}

pub(super) fn run(args: &NetArgs, ui: &Ui) -> Result<Status> {
    args.check_names()?;
    let args = args.resumed(ui)?;
    finish(tune(&args, ui)?, args.floats.as_deref(), ui)
}

impl NetArgs {
    /// Arguments of the run to resume, those given now in the place of the stored ones; these here without such a run.
    fn resumed(&self, ui: &Ui) -> Result<NetArgs> {
        let folder = self.run.folder(&self.output);
        let path = folder.join(INPUTS);
        if self.resume && path.exists() {
            let text = patzer_io::read_text(&path, Limit::RUN)?;
            let stored: StoredRun = serde_json::from_str(&text)
                .map_err(|e| Error::data(&path, format!("has no arguments of a training to resume: {e}")))?;
            return self.given.replace(stored.arguments);
        }
        let names = given::settings(self)?;
        let given = |name: &String| self.given.has(name) && !["output", "run"].contains(&name.as_str());
        match self.resume {
            true if !names.keys().any(given) => {
                let reason = "holds no run to resume; --run or -o names another, `patzer tune` starts one";
                return Err(Error::data(folder, reason));
            }
            true => ui.note(format!("{}: no run to resume; this is the beginning", folder.display())),
            false => {}
        }
        Ok(self.clone())
    }

    /// Refuses the name of a subcommand among the datasets, unless there is such a file.
    fn check_names(&self) -> Result<()> {
        let missing = self.data.data.iter().filter(|path| !path.exists());
        for name in missing.filter_map(|path| path.to_str()) {
            let near = patzer_io::did_you_mean(name, SUBCOMMANDS);
            if SUBCOMMANDS.contains(&name) {
                return Err(Error::usage(format!("`patzer tune {name}` takes its options after `{name}`")));
            }
            if !near.is_empty() {
                return Err(Error::data(name, format!("no such file{near}")));
            }
        }
        Ok(())
    }

    /// With the default dataset by its name, since it may be another file when the run is resumed.
    fn with_dataset(&self, recipe: &Settings) -> Result<NetArgs> {
        let mut args = self.clone();
        if args.data.data.is_empty() && stages(recipe)?.iter().all(|stage| stage.data.is_empty()) {
            args.data.data.push(default_dataset()?);
        }
        Ok(args)
    }

    pub(super) fn device(&self) -> Device {
        self.device.unwrap_or_default()
    }

    pub(super) fn resumes(&self) -> bool {
        self.resume
    }

    /// The run's folder. That all outputs can be written, and are no inputs, is known before hours are spent on it.
    fn claim(&self) -> Result<RunFolder> {
        let recipe = self.recipe.iter().map(PathBuf::from);
        let inputs: Vec<PathBuf> =
            self.data.inputs().into_iter().chain(self.validation_data.clone()).chain(recipe).collect();
        let mut outputs = [&self.output].into_iter().chain(&self.floats);
        outputs.try_for_each(|output| check_new_output(output, &inputs, "inputs"))?;
        if self.floats.as_ref().is_some_and(|floats| patzer_io::same_file(floats, &self.output)) {
            return Err(Error::usage("--floats and --output name the same file"));
        }
        self.run.claim(&self.output, self.resume)
    }
}

fn tune(args: &NetArgs, ui: &Ui) -> Result<TuneResult> {
    // A bad recipe fails before the data is read; the default recipe depends on the data.
    let mut recipe = settings(args, args.recipe.as_deref().unwrap_or("default"))?;
    let start = recipe.start().map(|_| ());
    // Few positions take the recipe `small`, which the start may be of.
    if start.is_err() && (args.recipe.is_some() || settings(args, "small")?.start().is_err()) {
        start?;
    }
    if !args.data.data.is_empty() && recipe.stage.iter().any(|stage| stage.contains_key("data")) {
        return Err(Error::usage("the stages of the recipe name their data; leave out DATA"));
    }
    check_recipe_files(args, &recipe)?;
    let mut folder = args.claim()?;
    let args = &args.with_dataset(&recipe)?;
    let mut run = Run::new(args, &folder, ui)?;
    // The number before filters is often known at once; filters may still leave fewer.
    if args.recipe.is_none()
        && patzer_prepare::known_count(&selection(args, &recipe, ui))?.is_some_and(|rows| rows < FEW as u64)
    {
        recipe = small(args, &recipe, ui)?;
        run.small = true;
    }
    let damaged = || Error::data(&run.checkpoint, "the checkpoint is damaged; delete it to start over");
    let earlier = run.resume.as_deref().map(|bytes| resume_point(bytes).ok_or_else(damaged));
    let mut earlier = earlier.transpose()?.unwrap_or_default();
    recipe.k = recipe.k.or(earlier.k);
    let stages = stages(&recipe)?;
    earlier.epochs.iter().for_each(|epoch| run.row(epoch));
    let (mut trained, mut earlier_epochs) = (None, 0);
    for (number, mut stage) in (1..).zip(stages.iter().cloned()).skip(earlier.stages as usize) {
        if stages.len() > 1 {
            ui.note(format!("stage {number} of {}", stages.len()));
            stage.k = stage.k.or(recipe.k);
        }
        earlier_epochs = earlier.epochs.len();
        let (data, outcome) = train(args, &mut stage, &mut recipe, &earlier, &mut run, &mut folder, ui)?;
        earlier = outcome.handover(earlier, recipe.k);
        trained = Some((stage, data, outcome));
        if interrupt::requested() {
            break;
        }
    }
    let Some((stage, data, outcome)) = trained else {
        return Err(Error::input("the checkpoint is of a run with more stages"));
    };
    patzer_io::write(&args.output, &outcome.network.to_bytes())?;
    if let Some(path) = &args.floats {
        patzer_io::write_with_companion(path, &outcome.safetensors())?;
    }
    run.log.finish()?;
    let warnings = warnings(&data, &outcome);
    warnings.iter().for_each(|warning| ui.warn(warning));
    let rates = outcome.epochs.iter().map(|epoch| epoch.positions_per_second);
    Ok(TuneResult {
        positions: data.positions(),
        validation_positions: data.validation_positions(),
        parameters: outcome.parameters,
        epochs: earlier_epochs + outcome.epochs.len(),
        best_epoch: if outcome.best_epoch == 0 { 0 } else { earlier_epochs + outcome.best_epoch },
        keep: stage.keep,
        k: stage.k.unwrap_or(1.0).into(),
        train_loss_before: outcome.epochs.first().map(|epoch| epoch.train_loss),
        validation_loss_before: outcome.losses.start,
        train_loss: outcome.losses.train,
        validation_loss: outcome.losses.validation,
        positions_per_second: rates.sum::<f64>() / outcome.epochs.len() as f64,
        quantisation: Some(outcome.quantisation),
        device: Some(outcome.device),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        output: args.output.clone(),
        run: Some(folder),
        remarks: vec![
            "(train loss: over the first epoch → of the network kept; validation loss: of the start → of it)"
                .to_string(),
            format!(
                "{}, quantised: off by {:.2} centipawns in the mean, {:.1} at most; {:.1} % of activations are 0{}",
                outcome.network.architecture(),
                outcome.quantisation.mean_error,
                outcome.quantisation.max_error,
                100.0 * outcome.quantisation.zero_activations,
                outcome.quantisation.zero_blocks.map_or(String::new(), |share| {
                    format!(", {:.1} % of the blocks of four that the engine skips", 100.0 * share)
                })
            ),
        ],
        ..TuneResult::default()
    })
}

/// Refuses outputs that are files which the recipe or one of its stages reads.
fn check_recipe_files(args: &NetArgs, recipe: &Settings) -> Result<()> {
    let stages = stages(recipe)?;
    let read = |stage: &Settings| {
        let files = stage.data.iter().chain(&stage.validation_data).chain(&stage.start);
        files.cloned().collect::<Vec<PathBuf>>()
    };
    let inputs: Vec<PathBuf> = stages.iter().flat_map(read).collect();
    let mut outputs = [&args.output].into_iter().chain(&args.floats);
    outputs.try_for_each(|output| check_output(output, &inputs, "recipe's inputs"))
}

fn stages(recipe: &Settings) -> Result<Vec<Settings>> {
    recipe.stages().map_err(|(stage, reason)| Error::usage(format!("stage {stage}: {reason}")))
}

/// Reads a stage's data and trains on them. The recipe takes the K that the first stage without one fits, and the other
/// recipe where filters leave few positions.
fn train(
    args: &NetArgs,
    stage: &mut Settings,
    recipe: &mut Settings,
    earlier: &Earlier,
    run: &mut Run,
    folder: &mut RunFolder,
    ui: &Ui,
) -> Result<(TrainingData, TrainOutcome)> {
    let compute = run.compute.take().map_or_else(|| Compute::open(args.device()), Ok)?;
    let split = Split { validation: stage.validation, seed: stage.seed };
    let mut validation = args.validation_data.clone();
    if validation.is_empty() {
        validation.clone_from(&stage.validation_data);
    }
    let data = TrainingData::read(&selection(args, stage, ui), &validation, split, stage, &reporter(ui))?;
    if let Some(note) = data.score_note() {
        ui.note(note);
    }
    if let Some(FittedK { k, positions }) = data.fitted_k() {
        ui.note(format!("K = {k:.4}, fitted to {} scores and results", grouped(positions as u64)));
    }
    ui.note(data.summary());
    ui.note(format_args!("training on {}", compute.about()));
    if args.recipe.is_none() && !run.small && data.positions() < FEW {
        *stage = small(args, stage, ui)?;
    }
    if earlier.stages == 0 {
        said_start(stage, ui)?;
    }
    if recipe.stage.is_empty() {
        recipe.clone_from(stage);
        // `epochs` has been counted from them.
        recipe.positions = 0;
    } else if data.fitted_k().is_some() {
        recipe.k = stage.k;
    }
    folder.begin()?.iter().for_each(|note| ui.note(note));
    if earlier.stages == 0 && run.resume.is_none() {
        saved_networks(folder.path()).iter().try_for_each(|path| patzer_io::remove_if_exists(path))?;
    }
    let number = earlier.stages + 1;
    // The settings beside a checkpoint that turns out to be of another run are that run's.
    let resumes = run.resume.is_some();
    let file = RunFile { inputs: data.inputs(), arguments: args };
    if !resumes {
        run_folder::write_settings(folder.path(), number, recipe, &file)?;
    }
    let epoch = data.epoch(stage)? as u64;
    run.bar = ui.progress("training", stage.epochs as u64 * epoch);
    run.positions = epoch;
    let outcome = data.fit(stage, earlier, compute, run)?;
    if resumes {
        run_folder::write_settings(folder.path(), number, recipe, &file)?;
    }
    run.bar.finish_and_clear();
    Ok((data, outcome))
}

/// Notes the layout in which the raw weights of `start` are taken, unless the recipe names it.
fn said_start(stage: &Settings, ui: &Ui) -> Result<()> {
    let raw = stage.start()?.and_then(|start| start.raw);
    if let (Some(path), None, Some((shape, layout))) = (&stage.start, &stage.start_layout, raw) {
        let how = format!("by its size in the layout {layout}");
        ui.note(crate::net::taken_as(path, &shape, &how, "start_layout names another layout"));
    }
    Ok(())
}

/// The data of a stage; the command line goes before the recipe.
fn selection(args: &NetArgs, stage: &Settings, ui: &Ui) -> DataSelection {
    let mut selection = args.data.selection(ui);
    let or = |given: &mut Vec<String>, of_recipe: &[String]| {
        if given.is_empty() {
            *given = of_recipe.to_vec();
        }
    };
    or(&mut selection.filters, &stage.filter);
    or(&mut selection.filter_set, &stage.filter_set);
    if selection.files.is_empty() {
        selection.files.clone_from(&stage.data);
    }
    selection
}

/// Fewer positions than this train a smaller network better.
const FEW: usize = 1_000_000;

/// The recipe for few positions, with the K and the epochs for `positions` found so far.
fn small(args: &NetArgs, default: &Settings, ui: &Ui) -> Result<Settings> {
    let small = settings(args, "small")?;
    let epochs = if small.positions > 0 { default.epochs } else { small.epochs };
    let small = Settings { k: small.k.or(default.k), epochs, ..small };
    let changes = small.difference(default).join(", ");
    ui.note(format!(
        "fewer than a million positions: recipe `small` ({changes}); --recipe default trains the other"
    ));
    Ok(small)
}

/// Warnings by the losses of a network.
fn warnings(data: &TrainingData, outcome: &TrainOutcome) -> Vec<String> {
    let (weights, positions, losses) = (outcome.parameters, data.positions(), &outcome.losses);
    let mut warnings = Vec::new();
    if losses.kept() >= losses.constant {
        warnings.push(format!(
            "the network has learnt nothing: its loss {:.6} is not below {:.6}, that of the same value for every \
             position; try a lower learning rate, and see that the scores have the right side and unit",
            losses.kept(),
            losses.constant
        ));
    }
    if let (0, Some(start)) = (outcome.best_epoch, losses.start) {
        warnings.push(format!("the start is kept: no epoch's validation loss is below its {start:.6}"));
    }
    match (losses.validation, losses.needed(positions)) {
        (Some(validation), Some(needed)) => warnings.push(format!(
            "{} positions are few for {} weights: the loss is {validation:.6} on held-out positions, \
             {:.6} on those trained on; as this gap falls with their number, about {} would bring it below a \
             tenth; test the network with patzer sprt",
            grouped(positions as u64),
            grouped(weights as u64),
            losses.train,
            grouped(needed as u64)
        )),
        (None, _) if positions < weights => warnings.push(format!(
            "{} weights are trained on {} positions; no games are held out that could show what it is \
             worth; test it with patzer sprt",
            grouped(weights as u64),
            grouped(positions as u64)
        )),
        _ => (),
    }
    warnings
}

fn features_help() -> String {
    let names: Vec<&str> = FEATURE_BLOCKS.iter().map(|block| block.name).collect();
    format!("Feature blocks with + between them, of {} [default: the recipe's]", names.join(", "))
}

/// Refuses a flag beside `--set` of the same key, and both where a stage of the recipe names the key itself.
fn check_flags(args: &NetArgs, recipe: &Settings) -> Result<()> {
    let set = || args.set.iter().filter_map(|change| Some(change.split_once('=')?.0.trim()));
    let flags = [
        ("--epochs", "epochs", args.epochs.is_some()),
        ("--batch", "batch", args.batch.is_some()),
        ("--learning-rate", "learning_rate", args.learning_rate.is_some()),
        ("--wdl", "wdl", args.wdl.is_some()),
        ("--k", "k", args.k.is_some()),
        ("--validation", "validation", args.validation.is_some()),
        ("--seed", "seed", args.seed.is_some()),
        ("--hidden", "hidden", !args.hidden.is_empty()),
        ("--hidden", "layers", args.hidden.len() > 1),
        ("--features", "features", args.features.is_some()),
    ];
    if args.validation.is_some() && !recipe.validation_data.is_empty() {
        return Err(Error::usage(
            "--validation: not with the recipe's `validation_data`, beside which nothing is held out",
        ));
    }
    let flags = flags.into_iter().filter(|(.., given)| *given).map(|(flag, key, _)| (flag, key));
    for (flag, key) in flags.chain(set().map(|key| ("--set", key))) {
        let others: &[&str] = match key {
            "epochs" => &["positions"],
            "positions" => &["epochs"],
            "validation" => &["validation_data"],
            _ => &[],
        };
        let names = |name: &str| name == key || others.contains(&name);
        if let Some(name) = set().find(|name| flag != "--set" && names(name)) {
            return Err(Error::usage(format!("{flag}: not with --set {name}")));
        }
        if let Some(name) = recipe.stage.iter().flat_map(|stage| stage.keys()).find(|name| names(name)) {
            let reason = format!("{flag}: a stage of the recipe names `{name}`; change it there");
            return Err(Error::usage(reason));
        }
    }
    Ok(())
}

fn settings(args: &NetArgs, recipe: &str) -> Result<Settings> {
    let recipe = Settings::load(recipe)?;
    check_flags(args, &recipe)?;
    let mut recipe = recipe.with(&args.set)?;
    match &args.hidden[..] {
        [] => {}
        [hidden] => recipe.hidden = *hidden,
        [hidden, layers @ ..] => (recipe.hidden, recipe.layers) = (*hidden, layers.to_vec()),
    }
    if let Some(features) = &args.features {
        recipe.features =
            Features::parse(features).map_err(|reason| Error::usage(format!("--features: {reason}")))?;
    }
    if args.learning_rate.is_some() && !recipe.phases.is_empty() {
        return Err(Error::usage(
            "--learning-rate: not with the recipe's phases, which name the learning rates",
        ));
    }
    let learning_rate = args.learning_rate.unwrap_or(recipe.learning_rate);
    let settings = Settings {
        epochs: args.epochs.unwrap_or(recipe.epochs),
        positions: if args.epochs.is_some() { 0 } else { recipe.positions },
        batch: args.batch.unwrap_or(recipe.batch),
        learning_rate,
        final_learning_rate: recipe.final_learning_rate.min(learning_rate),
        validation: args.validation.unwrap_or(recipe.validation),
        wdl: args.wdl.unwrap_or(recipe.wdl),
        k: args.k.map(|k| k as f32).or(recipe.k),
        seed: args.seed.unwrap_or(recipe.seed),
        ..recipe
    };
    settings.validate()?;
    Ok(settings)
}
