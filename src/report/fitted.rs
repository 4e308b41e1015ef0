use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use shakmaty::{Board, Color};

use super::ReportArgs;
use super::positions::{Positions, Source, of_run, read};
use crate::evaluation::warn_missing;
use crate::{Error, Result, Ui};
use patzer_eval::Evaluation;
use patzer_eval::hce;
use patzer_eval::nnue::Network;
use patzer_fit::tune::hce::terms;
use patzer_fit::tune::model::Slot;
use patzer_fit::tune::terms::Terms;
use patzer_io as io;
use patzer_match::participant::load_evaluation;
use patzer_report::evaluation::{Case, EvaluationReport, evaluate};
use patzer_report::log::{self, Kept, Log};
use patzer_report::network::{self, Quantisation, Trained};
use patzer_report::section::{Missing, OrMissing, Section};
use patzer_report::weights::{self, Weight, Weights};
use patzer_train::Settings;

fn result(folder: &Path) -> Value {
    let text = io::read_text(&folder.join("result.json"), io::Limit::RUN).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// The run's result says that a signal came before its end.
pub(super) fn is_cut_short(folder: &Path) -> bool {
    result(folder).get("interrupted") == Some(&Value::Bool(true))
}

fn kept(result: &Value) -> Option<Kept> {
    let number = |key: &str| result.get(key).and_then(Value::as_f64);
    let epoch = result.get("best_epoch")?.as_u64()?;
    Some(Kept { epoch, train: number("train_loss")?, validation: number("validation_loss") })
}

fn output(folder: &Path, result: &Value, ending: &str) -> Option<PathBuf> {
    let named = result.get("output").and_then(Value::as_str).map(PathBuf::from);
    let whole = std::path::absolute(folder).ok()?;
    let usual = PathBuf::from(format!("{}.{ending}", whole.file_name()?.to_string_lossy()));
    [named, Some(usual)].into_iter().flatten().find_map(|path| of_run(folder, &path))
}

pub(super) fn tuning(name: &str, folder: &Path, args: &ReportArgs, ui: &Ui) -> Result<Section> {
    let rows = weights::read(&folder.join("weights.csv"))?;
    let log_path = folder.join("log.csv");
    let epochs = if log_path.is_file() { log::read(&log_path)? } else { Vec::new() };
    let result = result(folder);
    let log = Log { epochs, kept: kept(&result) };
    let loaded = match output(folder, &result, "toml") {
        Some(path) => of_these(&path, &rows),
        None => Err(Missing("the file of its weights is not there".to_string())),
    };
    let k = result.get("k").and_then(Value::as_f64);
    let k = loaded.as_ref().ok().map(|weights| weights.k()).or(k);
    let judged = match loaded {
        Ok(weights) => {
            let evaluation = Evaluation::Hce(Arc::new(weights));
            judged(args, Source::of_folder(folder), &evaluation, k, ui)?.map(|(judged, _)| judged)
        }
        Err(reason) => Err(reason),
    };
    let before =
        ["train_loss_before", "validation_loss_before"].map(|key| result.get(key).and_then(Value::as_f64));
    Ok(weights::section(name, &Weights { weights: rows, k, log, before, evaluation: judged }))
}

fn of_these(path: &Path, rows: &[Weight]) -> OrMissing<hce::Weights> {
    let skipped = |e: Error| Missing(format!("the weights cannot be judged here ({e})"));
    let weights = io::read_text(path, io::Limit::WEIGHTS)
        .and_then(|text| parse_weights(&text, path))
        .map_err(skipped)?;
    let model = terms(&weights).model(&[]).map_err(skipped)?;
    let same = |row: &&Weight| {
        model.slots.iter().any(|slot| slot.name == row.name && (slot.start - row.after.round()).abs() < 0.5)
    };
    // About 200 rows suffice to notice a file that a later run has overwritten.
    let step = (rows.len() / 200).max(1);
    match rows.iter().step_by(step).find(|row| !same(row)) {
        Some(row) => {
            Err(Missing(format!("{} has another value of {} than the run", path.display(), row.name)))
        }
        None => Ok(weights),
    }
}

pub(super) fn weights(name: &str, path: &Path, args: &ReportArgs, ui: &Ui) -> Result<Section> {
    let text = io::read_text(path, io::Limit::WEIGHTS)?;
    let table: Option<toml::Table> = toml::from_str(&text).ok();
    let (model, k, evaluation) = if table.is_some_and(|table| table.contains_key("terms")) {
        let terms = Terms::parse(&text, path)?;
        let reason = "only patzer's own evaluation can be judged here";
        (terms.model(&[])?, terms.k, Err(Missing(reason.into())))
    } else {
        let loaded = parse_weights(&text, path)?;
        warn_missing(path.display(), loaded.missing(), ui);
        let (k, model) = (Some(loaded.k()), terms(&loaded).model(&[])?);
        let judged = judged(args, Err(unnamed()), &Evaluation::Hce(Arc::new(loaded)), k, ui)?;
        (model, k, judged.map(|(judged, _)| judged))
    };
    let row = |slot: &Slot| Weight {
        name: slot.name.clone(),
        before: None,
        after: slot.start,
        error: None,
        positions: None,
        fixed: slot.fixed,
    };
    let weights = model.slots.iter().map(row).collect();
    Ok(weights::section(name, &Weights { weights, k, log: Log::default(), before: [None; 2], evaluation }))
}

/// No positions to judge a file by that is of no run.
fn unnamed() -> Missing {
    Missing("positions are needed; name some with --data".to_string())
}

pub(super) fn training(name: &str, folder: &Path, args: &ReportArgs, ui: &Ui) -> Result<Section> {
    let epochs = log::read(&folder.join("log.csv"))?;
    let recipe = folder.join("recipe.toml");
    let settings = Settings::load(&recipe.to_string_lossy())?;
    let result = result(folder);
    let log = Log { epochs, kept: kept(&result) };
    let quantisation = result.get("quantisation").and_then(|value| {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        Some(Quantisation { mean_error: number("mean_error")?, max_error: number("max_error")? })
    });
    let network = match output(folder, &result, "nnue") {
        Some(path) => Ok(load(&path)?),
        None => Err(Missing("its file is not there".to_string())),
    };
    let k = settings.output_k.or(settings.k).map(f64::from);
    let source = Source::of_folder(folder);
    shown(name, network, log, quantisation, (source, k), args, ui)
}

pub(super) fn network(name: &str, path: &Path, args: &ReportArgs, ui: &Ui) -> Result<Section> {
    shown(name, Ok(load(path)?), Log::default(), None, (Err(unnamed()), None), args, ui)
}

fn parse_weights(text: &str, path: &Path) -> Result<hce::Weights> {
    hce::Weights::parse(text).map_err(|error| Error::data(path, error.to_string()))
}

fn load(path: &Path) -> Result<Arc<Network>> {
    match load_evaluation(path)? {
        Evaluation::Nnue(network) => Ok(network),
        Evaluation::Hce(_) => Err(Error::data(path, "holds weights, not a network")),
    }
}

/// Most boards on which neuron activity is counted.
const ACTIVITY: usize = 16_384;

fn shown(
    name: &str,
    network: OrMissing<Arc<Network>>,
    log: Log,
    quantisation: Option<Quantisation>,
    (source, k): (OrMissing<Source>, Option<f64>),
    args: &ReportArgs,
    ui: &Ui,
) -> Result<Section> {
    if let (Ok(network), Some(neuron)) = (&network, args.neurons.iter().max())
        && *neuron >= network.hidden()
    {
        let hidden = network.hidden();
        return Err(Error::usage(format!("--neurons {neuron}: {name} has the neurons 0 to {}", hidden - 1)));
    }
    let found = match &network {
        Ok(network) => judged(args, source, &Evaluation::Nnue(network.clone()), k, ui)?,
        Err(reason) => Err(reason.clone()),
    };
    let (evaluation, boards) = match found {
        Ok((judged, cases)) => (Ok(judged), boards(&cases)),
        Err(reason) => (Err(reason), Vec::new()),
    };
    let neurons = args.neurons.clone();
    Ok(network::section(name, &Trained { network, log, quantisation, evaluation, boards, neurons }))
}

fn boards(cases: &[Case]) -> Vec<(Board, u8, Color)> {
    let step = cases.len().div_ceil(ACTIVITY).max(1);
    cases
        .iter()
        .step_by(step)
        .filter_map(|case| Some((case.board.board()?, case.halfmoves, case.turn)))
        .collect()
}

fn judged(
    args: &ReportArgs,
    source: OrMissing<Source>,
    evaluation: &Evaluation,
    k: Option<f64>,
    ui: &Ui,
) -> Result<OrMissing<(EvaluationReport, Vec<Case>)>> {
    let Positions { cases, moves, what } = match read(args, source, ui)? {
        Ok(positions) => positions,
        Err(reason) => return Ok(Err(reason)),
    };
    let unfitted = |e| Missing(format!("K cannot be fitted ({e})"));
    Ok(evaluate(&cases, &moves, evaluation, k, &what).map_err(unfitted).map(|judged| (judged, cases)))
}
