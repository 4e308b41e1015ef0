//! `patzer tune`: leaves, results and scores in, a network out.

use shakmaty::Color;

use super::{TuneArgs, TuneResult};
use crate::chess::PackedBoard;
use crate::chess::score::is_mate;
use crate::cli::Ui;
use crate::cli::prepare::{Split, prepare};
use crate::cli::run_folder::{Log, write_settings};
use crate::error::{Error, Result};
use crate::positions::Sample;
use crate::train::{self, Settings, TrainItem, WIN};
use crate::wdl;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetArgs {
    /// A built-in recipe (default, small) or a TOML file: all that training depends on besides the data
    /// [default: small below a million positions, else default]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "hce")]
    recipe: Option<String>,

    /// Neurons for each side's view: (768 → N) × 2 → 1 [default: the recipe's]
    #[arg(long, value_name = "N", conflicts_with = "hce")]
    hidden: Option<usize>,

    /// Share of the game's result in the target, 0 to 1; the rest is the score's [default: the recipe's; 1 with --hce]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) wdl: Option<f32>,
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    // A recipe's faults are told before the data is read, the choice between the built-in ones after it.
    let named = args.net_args.recipe.as_deref();
    let mut settings = settings(args, named.unwrap_or("default"))?;
    let (output, folder) = args.places("new.nnue")?;
    let split = Split { validation: settings.validation, seed: settings.seed };
    let data = prepare(&args.data, split, ui, item)?;
    ui.note(data.summary());
    if named.is_none() && data.train.len() < FEW {
        ui.note("fewer than a million positions: recipe `small`");
        settings = self::settings(args, "small")?;
    }
    let k = match settings.k {
        Some(k) => k,
        None => fitted_k(&data.train, ui)?,
    };
    settings.k = Some(k);
    let mut log = Log::new(&folder);
    let bar = ui.progress("training", settings.epochs as u64);
    let outcome = train::fit(&data.train, &data.validation, &settings, &mut |epoch| {
        bar.inc(1);
        bar.set_message(format!("loss {:.6}", epoch.validation_loss.unwrap_or(epoch.train_loss)));
        log.row(epoch.epoch, epoch.train_loss, epoch.validation_loss, epoch.learning_rate);
    })?;
    bar.finish_and_clear();
    outcome.network.save(&output)?;
    write_settings(&folder, &settings, &args.data, &data.sources)?;
    log.finish()?;
    let best = outcome.best();
    let rates = outcome.epochs.iter().map(|epoch| epoch.positions_per_second);
    Ok(TuneResult {
        positions: data.train.len(),
        validation_positions: data.validation.len(),
        parameters: outcome.parameters,
        epochs: outcome.epochs.len(),
        best_epoch: outcome.best_epoch,
        k: k.into(),
        train_loss_before: outcome.epochs.first().map(|epoch| epoch.train_loss),
        validation_loss_before: outcome.epochs.first().and_then(|epoch| epoch.validation_loss),
        train_loss: best.train_loss,
        validation_loss: best.validation_loss,
        positions_per_second: rates.sum::<f64>() / outcome.epochs.len() as f64,
        output,
        remarks: vec![
            "(losses: of the first epoch → of the best)".to_string(),
            format!(
                "{}, quantised: off by {:.2} centipawns in the mean, {:.1} at most",
                outcome.network.architecture(),
                outcome.quantisation.mean_error,
                outcome.quantisation.max_error
            ),
        ],
        train_loss_exact: None,
        optimizer: None,
        table: String::new(),
    })
}

/// Below so many positions a smaller network learns more.
const FEW: usize = 1_000_000;

fn settings(args: &TuneArgs, recipe: &str) -> Result<Settings> {
    let recipe = Settings::load(recipe)?;
    let learning_rate = args.learning_rate.unwrap_or(recipe.learning_rate);
    let settings = Settings {
        hidden: args.net_args.hidden.unwrap_or(recipe.hidden),
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

/// K of the scores in the data against its results.
fn fitted_k(items: &[TrainItem], ui: &Ui) -> Result<f32> {
    let pairs: Vec<(f32, f32)> = items
        .iter()
        .filter_map(|item| {
            let score = f32::from(item.score?);
            let white = if item.turn.is_white() { score } else { -score };
            Some((white, item.expected()))
        })
        .collect();
    if pairs.is_empty() {
        return Ok(1.0);
    }
    let fit = wdl::fit_k(&pairs).map_err(|e| Error::usage(format!("{e}; give K with --k")))?;
    ui.note(format!("K = {:.4}, fitted to {} scores and results", fit.k, pairs.len()));
    Ok(fit.k as f32)
}

/// The board to judge, with the score of the game's engine seen from its side to move, or the label's own.
fn item(sample: &Sample, board: PackedBoard, turn: Color) -> std::result::Result<TrainItem, &'static str> {
    let seen = sample.score.map(|score| if turn == sample.turn { score } else { -score });
    let score = seen.or(sample.leaf.map(|leaf| leaf.score));
    match score {
        Some(score) if is_mate(score.into()) => Err("score is mate"),
        score => {
            let result = (sample.outcome() * f32::from(WIN)).round() as i16;
            Ok(TrainItem { board, turn, score, result })
        }
    }
}
