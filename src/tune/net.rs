use std::path::PathBuf;

use super::{TuneArgs, TuneResult};
use crate::prepare::{Split, reporter};
use crate::{Error, Result, Ui};
use patzer_eval::nnue::features::{FEATURE_BLOCKS, Features};
use patzer_io::Limit;
use patzer_io::run_folder::{self, CHECKPOINT, Log};
use patzer_train::{
    Compute, Device, Epoch, FittedK, Outcome, Settings, TrainingCallbacks, TrainingData, is_checkpoint,
};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetArgs {
    /// A built-in recipe (default, small, mirrored, bucketed, perspective, thesis) or a TOML file: all that training
    /// depends on besides the data [default: small below a million positions, else default]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "hce")]
    recipe: Option<String>,

    /// Hidden neurons for each perspective: (768 → N) × 2 → 1, and of further layers: 256,16,32 [default: the recipe's]
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', conflicts_with = "hce")]
    hidden: Vec<usize>,

    #[arg(long, value_name = "BLOCKS", conflicts_with = "hce", help = features_help())]
    features: Option<String>,

    /// Another value for any key of the recipe, such as king_buckets=five; may be given several times
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "hce")]
    set: Vec<String>,

    /// Also write the weights in floats, as safetensors
    #[arg(long, value_name = "FILE", conflicts_with = "hce")]
    floats: Option<PathBuf>,

    /// Resume from the checkpoint in the run's folder, if there is one; the result is that of an uninterrupted run
    #[arg(long, conflicts_with = "hce")]
    pub(super) resume: bool,

    /// Training device: cpu, gpu or gpu:N (NVIDIA), or auto, the first GPU or else the CPU. The same device gives the
    /// same bytes again, another one a network that differs by rounding. Before a run a GPU's gradient, losses and step
    /// are compared with the CPU's, as its kernels have been tested by emulation and simulation alone so far; where
    /// they differ, gpu is an error and auto takes the CPU [default: auto]
    #[arg(long, value_name = "DEVICE", conflicts_with = "hce")]
    device: Option<Device>,

    /// Share of the game's result in the target, 0 to 1; the rest is the score's [default: the recipe's; 1 with --hce]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) wdl: Option<f32>,
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    // A bad recipe fails before the data is read; the default recipe depends on the data.
    let named = args.net_args.recipe.as_deref();
    let mut settings = settings(args, named.unwrap_or("default"))?;
    settings.start()?;
    let (output, mut folder) = args.places("new.nnue")?;
    args.net_args.floats.as_deref().map_or(Ok(()), patzer_io::check_writable)?;
    let compute = Compute::open(args.net_args.device.unwrap_or_default())?;
    let split = Split { validation: settings.validation, seed: settings.seed };
    let data = TrainingData::read(&args.data.selection(), split, &mut settings, &reporter(ui))?;
    if let Some(FittedK { k, positions }) = data.fitted_k() {
        ui.note(format!("K = {k:.4}, fitted to {positions} scores and results"));
    }
    ui.note(data.summary());
    ui.note(format_args!("training on {}", compute.about()));
    if named.is_none() && data.positions() < FEW {
        ui.note("fewer than a million positions: recipe `small`");
        settings = Settings { k: settings.k, ..self::settings(args, "small")? };
    }
    let k = settings.k.unwrap_or(1.0);
    folder.begin()?.iter().for_each(|note| ui.note(note));
    let selection = args.data.selection();
    let inputs = selection.inputs(split, data.sources());
    let checkpoint = folder.path().join(CHECKPOINT);
    // The settings beside a checkpoint that turns out to be of another run are that run's.
    let resumes = args.net_args.resume && checkpoint.exists();
    if !resumes {
        run_folder::write_settings(folder.path(), &settings, &inputs)?;
    }
    let an_epoch = if settings.superbatch > 0 { settings.superbatch } else { data.positions() };
    let mut run = Run {
        bar: ui.progress("training", (settings.epochs * an_epoch) as u64),
        positions: an_epoch as u64,
        log: Log::new(folder.path()),
        checkpoint,
        resume: resumes,
        ui: *ui,
    };
    let outcome = data.fit(&settings, compute, &mut run)?;
    if resumes {
        run_folder::write_settings(folder.path(), &settings, &inputs)?;
    }
    run.bar.finish_and_clear();
    patzer_io::write(&output, &outcome.network.to_bytes())?;
    if let Some(path) = &args.net_args.floats {
        patzer_io::write_with_companion(path, &outcome.safetensors())?;
    }
    run.log.finish()?;
    let warning = few_data(&data, &outcome);
    if let Some(warning) = &warning {
        ui.warn(warning);
    }
    let best = outcome.best();
    let rates = outcome.epochs.iter().map(|epoch| epoch.positions_per_second);
    Ok(TuneResult {
        positions: data.positions(),
        validation_positions: data.validation_positions(),
        parameters: outcome.parameters,
        epochs: outcome.epochs.len(),
        best_epoch: outcome.best_epoch,
        k: k.into(),
        train_loss_before: outcome.epochs.first().map(|epoch| epoch.train_loss),
        validation_loss_before: outcome.epochs.first().and_then(|epoch| epoch.validation_loss),
        train_loss: best.train_loss,
        validation_loss: best.validation_loss,
        positions_per_second: rates.sum::<f64>() / outcome.epochs.len() as f64,
        quantisation: Some(outcome.quantisation),
        device: Some(outcome.device),
        warning,
        output,
        run: Some(folder),
        remarks: vec![
            "(losses: of the first epoch → of the best)".to_string(),
            format!(
                "{}, quantised: off by {:.2} centipawns in the mean, {:.1} at most",
                outcome.network.architecture(),
                outcome.quantisation.mean_error,
                outcome.quantisation.max_error
            ),
        ],
        ..TuneResult::default()
    })
}

struct Run {
    bar: indicatif::ProgressBar,
    positions: u64,
    log: Log,
    checkpoint: PathBuf,
    resume: bool,
    ui: Ui,
}

impl TrainingCallbacks for Run {
    fn epoch(&mut self, epoch: &Epoch) {
        self.bar.inc(self.positions);
        let loss = epoch.validation_loss.unwrap_or(epoch.train_loss);
        // Overfitting shows where only the training loss falls.
        let train =
            epoch.validation_loss.map_or(String::new(), |_| format!(", train {:.6}", epoch.train_loss));
        let rate = epoch.positions_per_second / 1e6;
        self.bar.set_message(format!("epoch {}: loss {loss:.6}{train}, {rate:.2} M/s", epoch.epoch));
        self.log.row(epoch.epoch, epoch.train_loss, epoch.validation_loss, epoch.learning_rate);
    }

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        if !self.resume {
            return Ok(None);
        }
        let kind = |head: &[u8]| is_checkpoint(head).then_some(Limit::CHECKPOINT);
        patzer_io::read_as(&self.checkpoint, kind).map(Some)
    }

    fn gpu_rejected(&mut self, reason: &Error) {
        self.bar.suspend(|| self.ui.warn(format!("the CPU trains: {reason}")));
    }

    fn device_changed(&mut self, from: &str, to: &str) {
        let text = format!(
            "the checkpoint is one of {from}; on {to} the run goes on within rounding, not to the byte"
        );
        self.bar.suspend(|| self.ui.warn(text));
    }

    fn save_checkpoint(&mut self, state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        self.log.save()?;
        patzer_io::write(&self.checkpoint, &state()?)
    }
}

/// Fewer positions than this train a smaller network better.
const FEW: usize = 1_000_000;

/// What the held-out games say about a network of more weights than there are positions.
fn few_data(data: &TrainingData, outcome: &Outcome) -> Option<String> {
    let (weights, positions) = (outcome.parameters, data.positions());
    if positions >= weights {
        return None;
    }
    let best = outcome.best();
    let evidence = match (
        outcome.epochs.first().and_then(|first| first.validation_loss),
        best.validation_loss,
    ) {
        (Some(first), Some(last)) => format!(
            "on {} held-out positions the loss is {last:.6} ({first:.6} after the first epoch), in training {:.6}",
            data.validation_positions(),
            best.train_loss
        ),
        _ => "no games are held out that could show what it is worth".to_string(),
    };
    Some(format!(
        "{weights} weights are trained on {positions} positions; {evidence}; test it with patzer sprt"
    ))
}

fn features_help() -> String {
    let names: Vec<&str> = FEATURE_BLOCKS.iter().map(|block| block.name).collect();
    format!("Feature blocks with + between them, of {} [default: the recipe's]", names.join(", "))
}

fn settings(args: &TuneArgs, recipe: &str) -> Result<Settings> {
    let mut recipe = Settings::load(recipe)?.with(&args.net_args.set)?;
    if let Some((hidden, layers)) = args.net_args.hidden.split_first() {
        (recipe.hidden, recipe.layers) = (*hidden, layers.to_vec());
    }
    if let Some(features) = &args.net_args.features {
        recipe.features =
            Features::parse(features).map_err(|reason| Error::usage(format!("--features: {reason}")))?;
    }
    let learning_rate = args.learning_rate.unwrap_or(recipe.learning_rate);
    let settings = Settings {
        epochs: args.epochs.unwrap_or(recipe.epochs),
        batch: args.batch.unwrap_or(recipe.batch),
        learning_rate,
        final_learning_rate: recipe.final_learning_rate.min(learning_rate),
        validation: args.validation.unwrap_or(recipe.validation),
        wdl: args.net_args.wdl.unwrap_or(recipe.wdl),
        k: args.k.map(|k| k as f32).or(recipe.k),
        seed: args.seed.unwrap_or(recipe.seed),
        ..recipe
    };
    settings.validate()?;
    Ok(settings)
}
