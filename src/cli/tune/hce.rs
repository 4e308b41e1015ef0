//! `patzer tune --hce`: leaves and results in, weights of the bundled evaluation out.

use std::path::{Path, PathBuf};

use super::fitting::FitArgs;
use super::{TuneArgs, TuneResult};
use crate::cli::Ui;
use crate::cli::prepare::{Offer, Split, stream};
use crate::cli::run_folder::{Log, write_settings};
use crate::error::{Error, Result};
use crate::eval::Evaluation;
use crate::eval::hce::{TERMS, export};
use crate::io;
use crate::tune::hce::{Boards, Selection, model, weights};
use crate::tune::model::Space;
use crate::tune::traces::Gather;
use crate::tune::{self, TuneItem};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Hand-crafted evaluation")]
pub(super) struct HceArgs {
    #[arg(long, value_delimiter = ',', value_name = "NAMES|FILE", help = terms_help())]
    pub(super) terms: Vec<String>,

    /// Weights to start from: a .hce.toml file, or default-hce, untuned-hce
    #[arg(long, default_value = "untuned-hce", value_name = "EVAL", requires = "hce")]
    start: PathBuf,

    /// Also write the weights as source code, beside the output
    #[arg(long, value_enum, value_name = "LANGUAGE", requires = "hce")]
    export: Option<Language>,

    /// Boards whose files a to d are to be the same as h to e, such as psqt.king; with commas between them
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "hce")]
    mirror: Vec<String>,

    /// Let the phase grow beyond that of the start position, as evaluations do that do not clamp it
    #[arg(long, requires = "hce")]
    unclamped_phase: bool,
}

fn terms_help() -> String {
    let names: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
    format!(
        "With --hce: terms to tune, with commas between them, of {} [default: all]. With --traces: the TOML file \
         that names the terms",
        names.join(", ")
    )
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
    let hce = &args.hce_args;
    let start = match Evaluation::load(&hce.start)? {
        Evaluation::Hce(weights) => weights,
        Evaluation::Nnue(_) => {
            return Err(Error::data(&hce.start, "is a network; --hce starts from weights"));
        }
    };
    let settings = args.fit.settings(args);
    settings.validate()?;
    let selection =
        Selection { terms: hce.terms.clone(), fixed: args.fit.fix.clone(), mirrored: hce.mirror.clone() };
    let model = model(&start, &selection)?;
    let space = Space::new(&model);
    if hce.export.is_some() && args.output.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--export writes beside the output, and there is no place beside -o -"));
    }
    let (output, folder) = args.places("new.hce.toml")?;
    let split = Split { validation: args.validation.unwrap_or(0.1), seed: settings.seed };
    let boards = Boards { unclamped: hce.unclamped_phase };
    let mut train = Gather::new(&boards, &model, &space, settings.chunk(), settings.seed);
    let mut validation = Gather::new(&boards, &model, &space, settings.chunk(), settings.seed);
    let account = stream(&args.data, split, ui, &mut |offer| {
        let item = item(offer, &args.fit);
        if offer.held_out { validation.push(item)? } else { train.push(item)? }
        Ok(None)
    })?;
    let (train, validation) = (train.finish()?, validation.finish()?);
    ui.note(account.summary(train.positions, validation.positions));
    if train.positions == 0 {
        return Err(Error::usage("no positions are left to learn from"));
    }
    ui.note(format!(
        "{} parameters, {:.1} bytes a position",
        space.parameters(),
        train.bytes() as f64 / train.positions as f64
    ));
    let mut log = Log::new(&folder);
    let bar = ui.progress("tuning", 0);
    let outcome = tune::fit(&model, &space, &train, &validation, &settings, &mut |epoch| {
        bar.inc(1);
        bar.set_message(format!("loss {:.7}", epoch.validation_loss.unwrap_or(epoch.train_loss)));
        log.row(epoch.number, epoch.train_loss, epoch.validation_loss, epoch.learning_rate as f32);
    })?;
    bar.finish_and_clear();
    let weights = weights(&model, &outcome.values, outcome.k)?;
    weights.save(&output)?;
    if let Some(language) = hce.export {
        let (extension, code) = match language {
            Language::Cpp => ("hpp", export::cpp(&weights)),
            Language::Rust => ("rs", export::rust(&weights)),
        };
        io::write(&output.with_extension(extension), code.as_bytes())?;
    }
    write_settings(&folder, &settings, &args.data, &account.sources)?;
    log.finish()?;
    Ok(TuneResult::of_fit(&outcome, train.positions, validation.positions, output))
}

/// The board to judge, against the game's result.
fn item(offer: &Offer, _fit: &FitArgs) -> TuneItem {
    TuneItem {
        board: offer.board,
        turn: offer.turn,
        target: offer.result,
        weight: 1.0,
        group: crate::rng::mix(0, offer.group) as u8,
    }
}
