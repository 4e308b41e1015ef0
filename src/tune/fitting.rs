//! What the bundled evaluation and traces of other engines share: the arguments of a fit, the labels, the runs over
//! several seeds, and what is told of the values.

use std::collections::HashMap;
use std::path::Path;

use super::TuneArgs;
use super::values::Table;
use crate::Ui;
use patzer_chess::score::is_mate;
use patzer_fit::optim::Decay;
use patzer_fit::tune::model::{Model, Space};
use patzer_fit::tune::objective::Objective;
use patzer_fit::tune::precision::{Precision, describe, precision, seen};
use patzer_fit::tune::traces::Traces;
use patzer_fit::tune::{self, Optimizer, Outcome, Settings};
use patzer_fit::wdl;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::run_folder::Log;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fitting of weights (with --hce or --traces)")]
pub(super) struct FitArgs {
    /// How to look for the optimum
    #[arg(long, value_enum, default_value = "auto", value_name = "NAME")]
    optimizer: Optimizer,

    /// Terms that keep their weights, with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(super) fix: Vec<String>,

    /// Pull towards the initial weights: the loss added for a weight 100 centipawns away from its start [default: 0.4 /
    /// games, too little to matter where many games speak; 0 with --traces or --plain-taper]
    #[arg(long, value_name = "LOSS", allow_negative_numbers = true)]
    l2: Option<f64>,

    /// Stop when the validation loss has not fallen for so many epochs
    #[arg(long, value_name = "N", default_value_t = Settings::default().patience)]
    patience: usize,

    /// How the learning rate falls over the epochs of a first-order optimiser, to a hundredth
    #[arg(long, value_enum, default_value = "cosine", value_name = "NAME")]
    schedule: Decay,

    /// Fit so many times, each time with other games held out, and tell how far the weights spread; the first is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// K that turns scores into expected results, where --wdl is below 1 [default: fitted to the data]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    score_k: Option<f64>,

    /// Every game counts the same, whatever the number of its positions
    #[arg(long)]
    weigh_games: bool,

    /// Skip the standard errors and the search for what the data cannot tell
    #[arg(long)]
    no_errors: bool,
}

/// Pull of the bundled evaluation's start. With it, 50 centipawns are one standard deviation of what a weight may be
/// before the data are seen, for residuals of the usual size (a mean square near 0.1); without it, weights that few
/// positions count run off to their bounds. On the bundled games 0.4 gave the lowest validation loss of 0.1 to 2.
const PRIOR: f64 = 0.4;

impl FitArgs {
    /// The settings of a fit.
    pub(super) fn settings(&self, args: &TuneArgs) -> Settings {
        let default = Settings::default();
        Settings {
            optimizer: self.optimizer,
            epochs: args.epochs,
            batch: args.batch.unwrap_or(default.batch),
            learning_rate: args.learning_rate,
            decay: self.schedule,
            patience: self.patience,
            l2: self.l2.unwrap_or(default.l2),
            prior: if self.l2.is_none() && args.has_prior() { PRIOR } else { default.prior },
            k: args.k,
            seed: args.seed.unwrap_or(default.seed),
            ..default
        }
    }
}

/// What is to be predicted of a position, and how much it counts.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// Share of the result; the rest is the score's.
    share: f32,
    /// K of the scores.
    score_k: f64,
    /// Positions of each game, if games count the same.
    games: Option<HashMap<u64, u32>>,
}

/// A position as labels see it: result from 0 to 1, score in centipawns from White's side, game.
pub(super) type Seen = (f32, Option<f32>, u64);

impl Labels {
    /// Labels as the arguments ask for; `visit` goes over all positions once more where that is needed.
    pub(super) fn new(
        args: &TuneArgs,
        ui: &Ui,
        visit: impl FnOnce(&mut dyn FnMut(Seen)) -> Result<()>,
    ) -> Result<Labels> {
        let share = args.net_args.wdl.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::usage(format!(
                "--wdl {share}: the share of the result has to be from 0 to 1"
            )));
        }
        if args.fit.score_k.is_some_and(|k| !(k.is_finite() && k > 0.0)) {
            return Err(Error::usage("--score-k has to be above 0"));
        }
        let fit_scores = share < 1.0 && args.fit.score_k.is_none();
        let mut labels = Labels { share, score_k: args.fit.score_k.unwrap_or(1.0), games: None };
        if !fit_scores && !args.fit.weigh_games {
            return Ok(labels);
        }
        let (mut scored, mut games) = (Vec::new(), HashMap::new());
        visit(&mut |(result, score, game)| {
            scored.extend(score.filter(|s| fit_scores && !is_mate(*s as i32)).map(|s| (s, result)));
            *games.entry(game).or_insert(0) += 1;
        })?;
        if fit_scores {
            let fault = |e: Error| Error::usage(format!("the scores' K: {e}; give it with --score-k"));
            labels.score_k = wdl::fit_k(&scored).map_err(fault)?.k;
            ui.note(format!("scores: K = {:.4}, fitted", labels.score_k));
        }
        labels.games = args.fit.weigh_games.then_some(games);
        Ok(labels)
    }

    /// Target and weight of a position, or the reason why it has none.
    pub(super) fn of(&self, (result, score, game): Seen) -> std::result::Result<(f32, f32), &'static str> {
        let target = match score {
            _ if self.share == 1.0 => result,
            None => return Err("no score"),
            Some(score) => {
                let expected = wdl::sigmoid(self.score_k, score.into()) as f32;
                self.share * result + (1.0 - self.share) * expected
            }
        };
        let weight = self.games.as_ref().and_then(|games| games.get(&game)).map_or(1.0, |n| 1.0 / *n as f32);
        Ok((target, weight))
    }
}

/// Traces of one seed.
pub(super) struct Loaded {
    pub(super) space: Space,
    pub(super) train: Traces,
    pub(super) validation: Traces,
}

/// What the fits gave.
pub(super) struct Fitted {
    /// Of the first seed.
    pub(super) outcome: Outcome,
    pub(super) positions: usize,
    pub(super) validation_positions: usize,
    pub(super) table: Table,
    /// What people should know: what the data cannot tell.
    pub(super) remarks: Vec<String>,
}

/// Fits once a seed.
pub(super) fn fit(
    args: &TuneArgs,
    model: &Model,
    settings: &Settings,
    folder: &Path,
    ui: &Ui,
    load: &mut dyn FnMut(u64) -> Result<Loaded>,
) -> Result<Fitted> {
    let mut first: Option<Fitted> = None;
    let mut runs: Vec<Vec<f64>> = Vec::new();
    for seed in settings.seed..settings.seed + args.fit.seeds {
        let loaded = load(seed)?;
        let settings = Settings { seed, ..settings.clone() };
        if first.is_none() {
            tell(model, &loaded, settings.optimizer, ui);
        }
        let mut log = Log::new(folder);
        let bar = ui.progress("tuning", 0);
        let outcome =
            tune::fit(model, &loaded.space, &loaded.train, &loaded.validation, &settings, &mut |epoch| {
                bar.inc(1);
                bar.set_message(format!("loss {:.7}", epoch.validation_loss.unwrap_or(epoch.train_loss)));
                log.row(epoch.number, epoch.train_loss, epoch.validation_loss, epoch.learning_rate as f32);
            })?;
        bar.finish_and_clear();
        runs.push(outcome.values.clone());
        if first.is_none() {
            first = Some(judge(args, model, &settings, &loaded, outcome, log, folder)?);
        } else {
            ui.note(format!("seed {seed}: train loss {:.7}", outcome.exact.train));
        }
    }
    let mut fitted = first.ok_or_else(|| Error::usage("--seeds has to be above 0"))?;
    if runs.len() > 1 {
        fitted.table.spread = Some(spread(&runs));
    }
    io::write(&folder.join("weights.csv"), fitted.table.csv(model).as_bytes())?;
    Ok(fitted)
}

fn tell(model: &Model, loaded: &Loaded, optimizer: Optimizer, ui: &Ui) {
    let parameters = loaded.space.parameters();
    let bytes = loaded.train.bytes() as f64 / loaded.train.positions.max(1) as f64;
    let bounded = loaded.space.is_bounded(model);
    let chosen = optimizer.resolve(parameters, loaded.train.positions, bounded).name();
    let how = if optimizer == Optimizer::Auto { " (the fastest that applies)" } else { "" };
    ui.note(format!("{parameters} parameters, {bytes:.1} bytes a position, optimiser {chosen}{how}"));
}

/// Largest number of parameters for which standard errors are worked out.
const LARGEST: usize = tune::LARGEST_MATRIX;

/// Fewer positions a parameter say nothing of errors.
const ENOUGH: usize = 10;

/// Parameters that are few enough for their errors to cost nothing.
const FEW: usize = 500;

fn judge(
    args: &TuneArgs,
    model: &Model,
    settings: &Settings,
    loaded: &Loaded,
    outcome: Outcome,
    log: Log,
    folder: &Path,
) -> Result<Fitted> {
    let Loaded { space, train, validation } = loaded;
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    log.finish()?;
    let counts = seen(model, space, &train.seen(space.kept.len()));
    let objective = Objective { traces: train, model, space, k: outcome.k, l2: settings.pull(train) };
    let parameters = space.parameters();
    let enough = parameters <= FEW || train.positions >= ENOUGH * parameters;
    let known = (!args.fit.no_errors && parameters <= LARGEST && enough)
        .then(|| precision(&objective, &space.parameters_of(&outcome.values)));
    let mut remarks = remarks(model, &counts, known.as_ref());
    if !args.fit.no_errors && known.is_none() {
        remarks.push("no standard errors: too many weights, or too few positions for them".to_string());
    }
    let table = Table {
        before: model.start(),
        after: outcome.values.clone(),
        errors: known.map(|known| known.errors),
        spread: None,
        seen: counts,
    };
    Ok(Fitted {
        positions: train.positions,
        validation_positions: validation.positions,
        outcome,
        table,
        remarks,
    })
}

/// Dead and unidentifiable weights that are named one by one.
const NAMED: usize = 8;

fn remarks(model: &Model, counts: &[u64], known: Option<&Precision>) -> Vec<String> {
    let mut remarks = Vec::new();
    let dead: Vec<&str> = (model.slots.iter().zip(counts))
        .filter(|(slot, count)| !slot.fixed && **count == 0)
        .map(|(slot, _)| slot.name.as_str())
        .collect();
    if !dead.is_empty() {
        let more = if dead.len() > NAMED { ", …" } else { "" };
        let names = dead[..dead.len().min(NAMED)].join(", ");
        remarks.push(format!("{} weights are never counted and keep their start: {names}{more}", dead.len()));
    }
    let Some(known) = known else { return remarks };
    for direction in known.flat.iter().take(NAMED) {
        remarks.push(format!("the data cannot tell: {}", describe(model, direction)));
    }
    if known.flat.len() > NAMED {
        remarks.push(format!("and {} more combinations", known.flat.len() - NAMED));
    }
    remarks
}

/// The standard deviation of each value over the runs.
fn spread(runs: &[Vec<f64>]) -> Vec<f64> {
    let count = runs.len() as f64;
    (0..runs[0].len())
        .map(|slot| {
            let mean = runs.iter().map(|run| run[slot]).sum::<f64>() / count;
            (runs.iter().map(|run| (run[slot] - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
        })
        .collect()
}
