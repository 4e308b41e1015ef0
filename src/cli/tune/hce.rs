//! `patzer tune --hce`: leaves and results in, weights out.

use std::path::{Path, PathBuf};

use shakmaty::Color;

use super::{TuneArgs, TuneResult};
use crate::chess::PackedBoard;
use crate::cli::Ui;
use crate::cli::prepare::{Split, prepare};
use crate::cli::run_folder::{Log, write_settings};
use crate::error::{Error, Result};
use crate::eval::Evaluation;
use crate::eval::hce::{TERMS, export};
use crate::io;
use crate::positions::Sample;
use crate::tune::{self, Settings, TuneItem};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Hand-crafted evaluation")]
pub(super) struct HceArgs {
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "hce", help = terms_help())]
    terms: Vec<String>,

    /// Weights to start from: a .hce.toml file, or default-hce, untuned-hce
    #[arg(long, default_value = "untuned-hce", value_name = "EVAL", requires = "hce")]
    start: PathBuf,

    /// Also write the weights as source code, beside the output
    #[arg(long, value_enum, value_name = "LANGUAGE", requires = "hce")]
    export: Option<Language>,
}

fn terms_help() -> String {
    let names: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
    format!("Terms to tune, with commas between them, of {} [default: all]", names.join(", "))
}

/// Languages that weights can be exported to.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Language {
    /// C++ arrays, in a .hpp file
    Cpp,
    /// Rust constants, in a .rs file
    Rust,
}

pub(super) fn tune(args: &TuneArgs, ui: &Ui) -> Result<TuneResult> {
    let start = match Evaluation::load(&args.hce_args.start)? {
        Evaluation::Hce(weights) => weights,
        Evaluation::Nnue(_) => {
            return Err(Error::data(&args.hce_args.start, "is a network; --hce starts from weights"));
        }
    };
    let settings = settings(args);
    settings.validate()?;
    if args.hce_args.export.is_some() && args.output.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--export writes beside the output, and there is no place beside -o -"));
    }
    let (output, folder) = args.places("new.hce.toml")?;
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    let data = prepare(&args.data, split, ui, item)?;
    ui.note(data.summary());
    let mut log = Log::new(&folder);
    let bar = ui.progress("tuning", settings.epochs as u64);
    let outcome = tune::fit(&data.train, &data.validation, &start, &settings, &mut |epoch| {
        bar.inc(1);
        log.row(epoch.number, epoch.train_loss, epoch.validation_loss, epoch.learning_rate);
    })?;
    bar.finish_and_clear();
    outcome.weights.save(&output)?;
    if let Some(language) = args.hce_args.export {
        let (extension, code) = match language {
            Language::Cpp => ("hpp", export::cpp(&outcome.weights)),
            Language::Rust => ("rs", export::rust(&outcome.weights)),
        };
        io::write(&output.with_extension(extension), code.as_bytes())?;
    }
    write_settings(&folder, &settings, &args.data, &data.sources)?;
    log.finish()?;
    Ok(TuneResult {
        positions: data.train.len(),
        validation_positions: data.validation.len(),
        parameters: outcome.parameters,
        epochs: outcome.epochs,
        best_epoch: outcome.best_epoch,
        k: outcome.k,
        train_loss_before: Some(outcome.before.train),
        validation_loss_before: outcome.before.validation,
        train_loss: outcome.after.train,
        validation_loss: outcome.after.validation,
        positions_per_second: outcome.positions_per_second,
        output,
        remarks: vec![format!(
            "rounding to whole centipawns cost {:+.1e} of train loss",
            outcome.after.train - outcome.exact_losses.train
        )],
    })
}

fn settings(args: &TuneArgs) -> Settings {
    let default = Settings::default();
    let learning_rate = args.learning_rate.unwrap_or(default.learning_rate);
    Settings {
        epochs: args.epochs.unwrap_or(default.epochs),
        batch: args.batch.unwrap_or(default.batch),
        learning_rate,
        final_learning_rate: default.final_learning_rate.min(learning_rate),
        terms: args.hce_args.terms.clone(),
        k: args.k.map(f64::from),
        seed: args.seed.unwrap_or(default.seed),
        ..default
    }
}

/// The board to judge, against the game's result.
fn item(sample: &Sample, board: PackedBoard, turn: Color) -> std::result::Result<TuneItem, &'static str> {
    Ok(TuneItem { board, turn, target: f32::from(sample.result + 1) / 2.0 })
}
