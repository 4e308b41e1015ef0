//! Arguments of the training of a network, those of a run that is resumed, and the recipe that they make.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RunArgs;
use crate::given::{self, Given};
use crate::prepare::{DataArgs, check_new_output, default_dataset};
use crate::{Error, Result, Ui};
use patzer_eval::nnue::features::{FEATURE_BLOCKS, Features};
use patzer_io::Limit;
use patzer_io::run_folder::{self, INPUTS, RunFolder};
use patzer_prepare::{DataSelection, RunInputs};
use patzer_train::{Device, Settings};

/// Training of a network; its settings are in `run.json`, for --resume.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct NetArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    #[command(flatten)]
    #[serde(flatten)]
    pub(super) data: DataArgs,

    /// Recipe: default, small, mirrored, bucketed, perspective, thesis, embedded, or a TOML file [default: by size]
    ///
    /// All that training depends on besides the data. Below a million positions the default is small, else default.
    #[arg(long, value_name = "NAME|FILE", help_heading = NETWORK)]
    pub(super) recipe: Option<String>,

    /// Hidden neurons for each perspective, (768 → N) × 2, and of further layers [default: the recipe's]
    ///
    /// One number leaves the further layers as they are; several, as 256,16,32, name them too.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', action = clap::ArgAction::Set, help_heading = NETWORK)]
    hidden: Vec<usize>,

    #[arg(long, value_name = "BLOCKS", help = features_help(), help_heading = NETWORK)]
    features: Option<String>,

    /// Another value for any key of the recipe, such as king_buckets=five; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = NETWORK)]
    set: Vec<String>,

    /// Maximum passes over the training positions [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    epochs: Option<usize>,

    /// Share of the game's result in the target, 0 to 1; the rest is the score's [default: the recipe's]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = TRAINING)]
    wdl: Option<f32>,

    /// K of the sigmoid 1 / (1 + exp(-K * centipawns / 400)) [default: the recipe's, or else fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = TRAINING, hide_short_help = true)]
    k: Option<f64>,

    /// Share of the games held out to validate [default: the recipe's]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, help_heading = TRAINING)]
    validation: Option<f64>,

    /// Positions of other games to validate with; may be given several times [default: --validation of the games]
    ///
    /// They are filtered and resolved as the data, of which nothing is held out then.
    #[arg(long, value_name = "FILE", conflicts_with = "validation", help_heading = TRAINING, hide_short_help = true)]
    #[serde(serialize_with = "patzer_io::path_text")]
    pub(super) validation_data: Vec<PathBuf>,

    /// Seed of the games held out, the first weights and the order of positions [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    seed: Option<u64>,

    /// Positions for each step [default: the recipe's]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    batch: Option<usize>,

    /// First learning rate [default: the recipe's]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, help_heading = TRAINING)]
    learning_rate: Option<f32>,

    /// Training device: cpu, gpu or gpu:N (NVIDIA), or auto, the first GPU or else the CPU [default: auto]
    ///
    /// The same device gives the same bytes again, another one a network that differs by rounding. Before a run a GPU's
    /// gradient, losses and step are compared with the CPU's, as its driver compiles the kernels for each device; where
    /// they differ, gpu is an error and auto takes the CPU.
    #[arg(long, value_name = "DEVICE", help_heading = TRAINING)]
    pub(super) device: Option<Device>,

    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "new.nnue", help_heading = "Output")]
    #[serde(serialize_with = "patzer_io::path_text")]
    pub(super) output: PathBuf,

    /// Resume the run in the run's folder; options not given are taken from it
    ///
    /// The result is that of an uninterrupted run, if its data and settings are. The folder is that of --run, or else of
    /// the output.
    #[arg(long, conflicts_with = "overwrite", help_heading = "Output")]
    #[serde(skip)]
    pub(super) resume: bool,

    #[command(flatten)]
    #[serde(flatten)]
    run: RunArgs,

    /// Also write the weights in floats, as safetensors
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    #[serde(serialize_with = "patzer_io::path_text")]
    pub(super) floats: Option<PathBuf>,

    /// Also write the network of every N-th epoch to the run's folder, as epoch-0010.nnue
    #[arg(long, value_name = "N", help_heading = "Output", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) save_every: Option<u32>,

    /// Games of a race between the networks of the last epochs; the strongest is the output
    ///
    /// The networks that --save-every kept of the second half of the epochs, eight at most, and the network of the least
    /// loss meet each other by `patzer race`. Its games lie in the run's folder.
    #[arg(long, value_name = "GAMES", requires = "save_every", help_heading = "Output", hide_short_help = true, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(super) race: Option<u32>,

    /// Nodes a move in the games of --race
    #[arg(long, value_name = "N", requires = "race", default_value_t = 2000, help_heading = "Output", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) race_nodes: u32,
}

const NETWORK: &str = "Network";
const TRAINING: &str = "Training";

/// Names of subcommands, which the parser takes for datasets where they are misspelt or come after an option.
const SUBCOMMANDS: [&str; 2] = ["hce", "traces"];

/// Key of the arguments in `run.json`.
const ARGUMENTS: &str = "arguments";

fn features_help() -> String {
    let names: Vec<&str> = FEATURE_BLOCKS.iter().map(|block| block.name).collect();
    format!("Feature blocks with + between them, of {} [default: the recipe's]", names.join(", "))
}

impl NetArgs {
    /// Arguments of the run to resume, those given now in the place of the stored ones; these here without such a run.
    pub(super) fn resumed(&self, ui: &Ui) -> Result<NetArgs> {
        let folder = self.run.folder(&self.output);
        let path = folder.join(INPUTS);
        if self.resume && path.exists() {
            let damaged = |e| Error::data(&path, format!("has no arguments of a training to resume: {e}"));
            let text = patzer_io::read_text(&path, Limit::RUN)?;
            let mut file: Value = serde_json::from_str(&text).map_err(damaged)?;
            return self.given.replace(serde_json::from_value(file[ARGUMENTS].take()).map_err(damaged)?);
        }
        let names = given::settings(self)?;
        let given = |name: &String| self.given.has(name) && !["output", "run"].contains(&name.as_str());
        if self.resume && !names.keys().any(given) {
            let reason = "holds no run to resume; --run or -o names another, `patzer tune` starts one";
            return Err(Error::data(folder, reason));
        }
        if self.resume {
            ui.note(format!("{}: no run to resume; this is the beginning", folder.display()));
        }
        Ok(self.clone())
    }

    /// Writes the recipe, and the inputs of a stage with the arguments for --resume.
    pub(super) fn save(
        &self,
        folder: &RunFolder,
        stage: u64,
        recipe: &Settings,
        inputs: &RunInputs,
    ) -> Result<()> {
        let mut file = given::settings(inputs)?;
        file.insert(ARGUMENTS.to_string(), given::settings(self)?.into());
        run_folder::write_settings(folder.path(), stage, recipe, &file)
    }

    /// Refuses the name of a subcommand among the datasets, unless there is such a file.
    pub(super) fn check_names(&self) -> Result<()> {
        let missing = self.data.data.iter().filter(|path| !path.exists());
        for name in missing.filter_map(|path| path.to_str()) {
            match patzer_io::nearest(name, SUBCOMMANDS) {
                Some(near) if near == name => {
                    let reason = format!("`patzer tune {name}` takes its options after `{name}`");
                    return Err(Error::usage(reason));
                }
                Some(near) => {
                    return Err(Error::data(name, format!("no such file; did you mean `{near}`?")));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// With the default dataset by its name, since it may be another file when the run is resumed.
    pub(super) fn with_dataset(&self, stages: &[Settings]) -> Result<NetArgs> {
        let mut args = self.clone();
        if args.data.data.is_empty() && stages.iter().all(|stage| stage.data.is_empty()) {
            args.data.data.push(default_dataset()?);
        }
        Ok(args)
    }

    /// The run's folder. That all outputs can be written, and are no inputs, is known before hours are spent on it.
    pub(super) fn claim(&self) -> Result<RunFolder> {
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

    /// The command that resumes the run.
    pub(super) fn resume_command(&self) -> String {
        self.run.resume(&self.output)
    }

    /// The data of a stage; the command line goes before the recipe.
    pub(super) fn selection(&self, stage: &Settings, ui: &Ui) -> DataSelection {
        let mut selection = self.data.selection(ui);
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
        selection.resolve &= stage.resolve;
        selection
    }

    /// Refuses a flag beside `--set` of the same key, and both where a stage of the recipe names the key itself.
    fn check_flags(&self, recipe: &Settings) -> Result<()> {
        let set = || self.set.iter().filter_map(|change| Some(change.split_once('=')?.0.trim()));
        let flags = [
            ("--epochs", "epochs", self.epochs.is_some()),
            ("--batch", "batch", self.batch.is_some()),
            ("--learning-rate", "learning_rate", self.learning_rate.is_some()),
            ("--wdl", "wdl", self.wdl.is_some()),
            ("--k", "k", self.k.is_some()),
            ("--validation", "validation", self.validation.is_some()),
            ("--seed", "seed", self.seed.is_some()),
            ("--hidden", "hidden", !self.hidden.is_empty()),
            ("--hidden", "layers", self.hidden.len() > 1),
            ("--features", "features", self.features.is_some()),
            ("--no-resolve", "resolve", self.data.no_resolve),
        ];
        if self.validation.is_some() && !recipe.validation_data.is_empty() {
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

    /// The recipe with the changes that the command line makes.
    pub(super) fn settings(&self, recipe: &str) -> Result<Settings> {
        let recipe = Settings::load(recipe)?;
        self.check_flags(&recipe)?;
        let mut recipe = recipe.with(&self.set)?;
        match &self.hidden[..] {
            [] => {}
            [hidden] => recipe.hidden = *hidden,
            [hidden, layers @ ..] => (recipe.hidden, recipe.layers) = (*hidden, layers.to_vec()),
        }
        if let Some(features) = &self.features {
            recipe.features =
                Features::parse(features).map_err(|reason| Error::usage(format!("--features: {reason}")))?;
        }
        if self.learning_rate.is_some() && !recipe.phases.is_empty() {
            return Err(Error::usage(
                "--learning-rate: not with the recipe's phases, which name the learning rates",
            ));
        }
        let learning_rate = self.learning_rate.unwrap_or(recipe.learning_rate);
        let settings = Settings {
            epochs: self.epochs.unwrap_or(recipe.epochs),
            positions: if self.epochs.is_some() { 0 } else { recipe.positions },
            batch: self.batch.unwrap_or(recipe.batch),
            learning_rate,
            final_learning_rate: recipe.final_learning_rate.min(learning_rate),
            validation: self.validation.unwrap_or(recipe.validation),
            wdl: self.wdl.unwrap_or(recipe.wdl),
            k: self.k.map(|k| k as f32).or(recipe.k),
            seed: self.seed.unwrap_or(recipe.seed),
            resolve: recipe.resolve && !self.data.no_resolve,
            ..recipe
        };
        settings.validate()?;
        Ok(settings)
    }
}
