//! Arguments of a fit that the bundled evaluation and traces of other engines share, and its progress.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::RunArgs;
use crate::named::named;
use crate::prepare::{Split, check_new_output};
use crate::ui::LINES;
use crate::{Error, Result, Ui};
use patzer_fit::beside;
use patzer_fit::optim::Decay;
use patzer_fit::tune::model::Model;
use patzer_fit::tune::output::Format;
use patzer_fit::tune::traces::SplitTraces;
use patzer_fit::tune::{
    FittedRuns, LabelSettings, Labels, Optimizer, OwnPositions, RunEvent, RunSettings, Settings, Verdict,
    fit_seeds,
};
use patzer_io::number::grouped;
use patzer_io::run_folder::{Log, RunFolder};
use patzer_io::{self as io, Named};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fitting")]
pub(super) struct FitArgs {
    /// Optimiser
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = named::<Optimizer>())]
    optimizer: Optimizer,

    /// Maximum passes over the training positions [default: what suits the optimiser]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,

    /// Share of the game's result in the target, 0 to 1; the rest is the score's [default: 1, or 0.2 for traces that all
    /// have scores]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) wdl: Option<f32>,

    /// K of the sigmoid 1 / (1 + exp(-K * centipawns / 400)) [default: fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k: Option<f64>,

    /// K that turns scores into expected results, where --wdl is below 1 [default: fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true, hide_short_help = true)]
    score_k: Option<f64>,

    /// Share of the games held out to validate
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, allow_negative_numbers = true)]
    validation: f64,

    /// Seed of the games held out and the order of positions
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    seed: u64,

    /// Fit N times with other games held out and report the spread of the weights; the first fit is kept
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// Positions with scores, of games that the engine played with the initial weights, to judge the tuned ones by
    ///
    /// Both are compared by their loss against the scores alone, each under the K that suits it best. Weights that are
    /// worse there by more than 0.001 and two standard errors, and no better against the results, are not written, and the
    /// exit status is 10.
    #[arg(long, value_name = "FILES", num_args = 1.., help_heading = "Judge")]
    judge: Vec<PathBuf>,

    /// Write the weights although --judge finds them worse
    #[arg(long, requires = "judge", help_heading = "Judge", hide_short_help = true)]
    force: bool,

    /// Terms that keep their weights, with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(super) fix: Vec<String>,

    /// L2 prior: the loss added for a weight 100 centipawns away from its start; 0 for none [default: by evidence]
    ///
    /// By evidence, the weights of a term that few games speak about stay as near to their start as its other weights do.
    #[arg(long, value_name = "LOSS", allow_negative_numbers = true, hide_short_help = true)]
    l2: Option<f64>,

    /// Stop after N epochs without a lower validation loss
    #[arg(long, value_name = "N", default_value_t = Settings::default().patience, hide_short_help = true)]
    patience: usize,

    #[arg(long, value_name = "N", hide_short_help = true, help = format!("Positions for each step of a first-order optimiser; 0 for all [default: {}]", Settings::default().batch))]
    batch: Option<usize>,

    /// First learning rate of a first-order optimiser, in centipawns a step [default: what suits the optimiser]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, hide_short_help = true)]
    learning_rate: Option<f32>,

    /// How the learning rate falls over the epochs of a first-order optimiser, to a hundredth [default: cosine]
    #[arg(long, value_name = "NAME", hide_short_help = true, value_parser = named::<Decay>())]
    schedule: Option<Decay>,

    /// Give every game the same weight, whatever the number of its positions
    #[arg(long, hide_short_help = true)]
    weigh_games: bool,

    /// Skip the standard errors and the search for undetermined weights
    #[arg(long, hide_short_help = true)]
    no_errors: bool,

    /// Form in which the weights are also written, beside the output; with commas between them
    #[arg(long, value_delimiter = ',', value_name = "FORM", help_heading = "Output", value_parser = named::<Format>())]
    pub(super) export: Vec<Format>,

    #[command(flatten)]
    run: RunArgs,
}

impl FitArgs {
    pub(super) fn settings(&self) -> Result<Settings> {
        let default = Settings::default();
        let settings = Settings {
            optimizer: self.optimizer()?,
            epochs: self.epochs,
            batch: self.batch.unwrap_or(default.batch),
            learning_rate: self.learning_rate,
            decay: self.schedule.unwrap_or(default.decay),
            patience: self.patience,
            l2: self.l2.unwrap_or(default.l2),
            evidence: self.l2.is_none(),
            k: self.k,
            seed: self.seed,
            ..default
        };
        settings.validate()?;
        Ok(settings)
    }

    pub(super) fn split(&self) -> Split {
        Split { validation: self.validation, seed: self.seed }
    }

    /// The run's folder. That all outputs can be written, and are no inputs, is known before hours are spent on the fit.
    pub(super) fn claim(&self, output: &Path, inputs: &[PathBuf]) -> Result<RunFolder> {
        let mut outputs = beside(output, self.export.iter().map(|format| format.ending()))?;
        outputs.push(PathBuf::from(output));
        let inputs = [inputs, &self.judge].concat();
        outputs.iter().try_for_each(|output| check_new_output(output, &inputs, "inputs"))?;
        self.run.claim(output, false)
    }

    /// Loads the positions to judge by; none without --judge.
    pub(super) fn own_positions(
        &self,
        load: impl Fn(&[PathBuf], &LabelSettings) -> Result<SplitTraces>,
    ) -> Result<Option<OwnPositions>> {
        if self.judge.is_empty() {
            return Ok(None);
        }
        let with = |result_share: f32| {
            let settings = LabelSettings { result_share, score_k: self.score_k, weigh_games: false };
            load(&self.judge, &settings).map_err(|error| match error.exit_code() {
                1 => Error::usage(format!("--judge: {error}")),
                _ => error,
            })
        };
        Ok(Some(OwnPositions { scores: with(0.0)?, results: with(1.0)? }))
    }

    /// Tests whether the judge keeps the fitted weights from being written.
    pub(super) fn refuses(&self, fitted: &FittedRuns) -> bool {
        !self.force && fitted.judgement.is_some_and(|judgement| judgement.verdict == Verdict::Worse)
    }

    /// The optimiser; `auto` takes Adam where an option is given that only first-order optimisers use.
    fn optimizer(&self) -> Result<Optimizer> {
        let given = [
            ("--learning-rate", self.learning_rate.is_some()),
            ("--batch", self.batch.is_some()),
            ("--schedule", self.schedule.is_some()),
        ];
        match (given.into_iter().find(|(_, given)| *given), self.optimizer) {
            (Some(_), Optimizer::Auto) => Ok(Optimizer::Adam),
            (Some((option, _)), optimizer) if !optimizer.first_order() => Err(Error::usage(format!(
                "{option}: {} does not use it, only adam, adagrad and sgd do",
                optimizer.name()
            ))),
            (_, optimizer) => Ok(optimizer),
        }
    }
}

pub(super) fn labels(
    args: &FitArgs,
    result_share: f32,
    ui: &Ui,
    read: impl FnOnce(&LabelSettings) -> Result<Labels>,
) -> Result<Labels> {
    if !(0.0..=1.0).contains(&result_share) {
        return Err(Error::usage(format!(
            "--wdl {result_share}: the share of the result has to be from 0 to 1"
        )));
    }
    if args.score_k.is_some_and(|k| !(k.is_finite() && k > 0.0)) {
        return Err(Error::usage("--score-k has to be above 0"));
    }
    if args.score_k.is_some() && result_share == 1.0 && args.judge.is_empty() {
        return Err(Error::usage("--score-k: without --wdl below 1 and --judge no scores are used"));
    }
    let settings = LabelSettings { result_share, score_k: args.score_k, weigh_games: args.weigh_games };
    let labels = read(&settings)?;
    if settings.fits_scores() {
        ui.note(format!("scores: K = {:.4}, fitted", labels.score_k()));
    }
    Ok(labels)
}

pub(super) fn fit(
    args: &FitArgs,
    model: &Model,
    settings: &Settings,
    own: Option<&OwnPositions>,
    run: &mut RunFolder,
    ui: &Ui,
    load: &mut dyn FnMut(u64) -> Result<SplitTraces>,
) -> Result<FittedRuns> {
    let runs = RunSettings { fit: settings.clone(), seeds: args.seeds, standard_errors: !args.no_errors };
    let (mut log, mut bar) = (Log::new(run.path()), None);
    let mut said = Instant::now();
    let fitted = fit_seeds(model, &runs, own, load, &mut |event| match event {
        RunEvent::Loaded { seed, traces } => {
            if seed == settings.seed {
                note_size(model, traces, settings.optimizer, ui);
            }
            let epochs = settings.epochs.unwrap_or(settings.optimizer.epochs());
            let tuning = ui.progress("tuning", epochs as u64);
            tuning.enable_steady_tick(Duration::from_millis(200));
            bar = Some(tuning);
        }
        RunEvent::Epoch { seed, epoch } => {
            let loss = epoch.validation_loss.unwrap_or(epoch.train_loss);
            if let Some(bar) = &bar {
                bar.set_length(epoch.limit as u64);
                bar.set_position(epoch.number as u64);
                bar.set_message(format!("loss {loss:.7}"));
                if bar.is_hidden() && said.elapsed() >= LINES {
                    ui.note(format!("epoch {}: loss {loss:.7}", epoch.number));
                    said = Instant::now();
                }
            }
            if seed == settings.seed {
                log.row(epoch.number, epoch.train_loss, epoch.validation_loss, epoch.learning_rate as f32);
            }
        }
        RunEvent::Restart { seed } if seed == settings.seed => log = Log::new(run.path()),
        RunEvent::Restart { .. } => {}
        RunEvent::Stage(name) => {
            if let Some(bar) = &bar {
                bar.set_message(name);
            }
        }
        RunEvent::Fitted { seed, outcome } => {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
            if seed != settings.seed {
                ui.note(format!("seed {seed}: train loss {:.7}", outcome.exact.train));
            }
        }
    })?;
    if let Some(warning) = &fitted.warning {
        ui.warn(warning);
    }
    run.begin()?.iter().for_each(|note| ui.note(note));
    log.finish()?;
    io::write(&run.path().join("weights.csv"), fitted.values.csv(model).as_bytes())?;
    Ok(fitted)
}

fn note_size(model: &Model, traces: &SplitTraces, optimizer: Optimizer, ui: &Ui) {
    let SplitTraces { space, train, .. } = traces;
    let parameters = space.parameters();
    let bytes = train.bytes() as f64 / train.positions.max(1) as f64;
    let chosen = optimizer.resolve(parameters, train.positions, space.is_bounded(model)).name();
    let how = if optimizer == Optimizer::Auto { " (the fastest that applies)" } else { "" };
    ui.note(format!(
        "{} parameters, {bytes:.1} bytes a position, optimiser {chosen}{how}",
        grouped(parameters as u64)
    ));
}
