//! Sections of tunings, weights and networks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use shakmaty::{Board, Color};

use super::ReportSettings;
use super::positions::{Positions, Source, of_run, read};
use crate::evaluation::{Case, EvaluationReport, evaluate};
use crate::log::{self, Kept, Log};
use crate::network::{self, Quantisation, Trained};
use crate::section::{Missing, OrMissing, Section};
use crate::weights::{self, Weight, Weights};
use patzer_eval::Evaluation;
use patzer_eval::hce;
use patzer_eval::nnue::Network;
use patzer_fit::tune::hce::terms;
use patzer_fit::tune::model::Slot;
use patzer_fit::tune::terms::Terms;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::run_folder::{NETWORK, WEIGHTS, is_unfinished};
use patzer_match::participant::load_evaluation;

fn result(folder: &Path) -> Value {
    let text = io::read_text(&folder.join("result.json"), io::Limit::RUN).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

fn kept(result: &Value) -> Option<Kept> {
    let number = |key: &str| result.get(key).and_then(Value::as_f64);
    let epoch = result.get("best_epoch")?.as_u64()?;
    Some(Kept { epoch, train: number("train_loss")?, validation: number("validation_loss") })
}

/// The run's own copy of its network or weights, else its output; a file that has changed since is none.
fn output(folder: &Path, result: &Value, copy: &str) -> OrMissing<PathBuf> {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    let own = Some(folder.join(copy)).filter(|path| path.is_file());
    let whole = std::path::absolute(folder).unwrap_or_default();
    let ending = if copy == NETWORK { "nnue" } else { "toml" };
    let usual = whole.file_name().map(|name| PathBuf::from(format!("{}.{ending}", name.to_string_lossy())));
    let outputs = [text("output").map(PathBuf::from), usual];
    let others = outputs.into_iter().flatten().filter_map(|path| of_run(folder, &path));
    let found: Vec<PathBuf> = own.into_iter().chain(others).collect();
    let Some(first) = found.first() else { return Err(Missing("its file is not there".to_string())) };
    let Some(sha256) = text("sha256") else { return Ok(first.clone()) };
    let same = |path: &&PathBuf| std::fs::read(path).is_ok_and(|bytes| io::sha256(&bytes) == sha256);
    let changed = || Missing(format!("{} has changed since the run", first.display()));
    found.iter().find(same).cloned().ok_or_else(changed)
}

pub(super) fn tuning(name: &str, folder: &Path, settings: &ReportSettings<'_>) -> Result<Section> {
    let rows = weights::read(&folder.join("weights.csv"))?;
    let log_path = folder.join("log.csv");
    let epochs = if log_path.is_file() { log::read(&log_path)? } else { Vec::new() };
    let result = result(folder);
    let log = Log { epochs, kept: kept(&result) };
    let loaded = output(folder, &result, WEIGHTS).and_then(|path| of_these(&path, &rows));
    let k = result.get("k").and_then(Value::as_f64);
    let k = loaded.as_ref().ok().map(|weights| weights.k()).or(k);
    let judged = match loaded {
        Ok(weights) => {
            let evaluation = Evaluation::Hce(Arc::new(weights));
            judged(settings, Source::of_folder(folder, settings.remedy), &evaluation, k)?
                .map(|(judged, _)| judged)
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

pub(super) fn weights(name: &str, path: &Path, settings: &ReportSettings<'_>) -> Result<Section> {
    let text = io::read_text(path, io::Limit::WEIGHTS)?;
    let table: Option<toml::Table> = toml::from_str(&text).ok();
    let (model, k, evaluation) = if table.is_some_and(|table| table.contains_key("terms")) {
        let terms = Terms::parse(&text, path)?;
        let reason = "only patzer's own evaluation can be judged here";
        (terms.model(&[])?, terms.k, Err(Missing(reason.into())))
    } else {
        let loaded = parse_weights(&text, path)?;
        if !loaded.missing().is_empty() {
            (settings.missing)(path, loaded.missing());
        }
        let (k, model) = (Some(loaded.k()), terms(&loaded).model(&[])?);
        let judged = judged(settings, Err(unnamed(settings)), &Evaluation::Hce(Arc::new(loaded)), k)?;
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
fn unnamed(settings: &ReportSettings<'_>) -> Missing {
    Missing(format!("positions are needed; {}", settings.remedy))
}

/// Values of K in the recipe of a training run.
#[derive(Deserialize)]
struct Recipe {
    k: Option<f32>,
    output_k: Option<f32>,
}

impl Recipe {
    fn read(path: &Path) -> Result<Recipe> {
        let text = io::read_text(path, io::Limit::RECIPE)?;
        toml::from_str(&text).map_err(|error| Error::data(path, error.message()))
    }
}

pub(super) fn training(name: &str, folder: &Path, settings: &ReportSettings<'_>) -> Result<Section> {
    let epochs = log::read(&folder.join("log.csv"))?;
    let recipe = Recipe::read(&folder.join("recipe.toml"))?;
    let result = result(folder);
    let log = Log { epochs, kept: kept(&result) };
    let quantisation = result.get("quantisation").and_then(|value| {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        Some(Quantisation { mean_error: number("mean_error")?, max_error: number("max_error")? })
    });
    let network = match output(folder, &result, NETWORK) {
        _ if is_unfinished(folder) => Err(Missing("the run is not finished".to_string())),
        Ok(path) => Ok(load(&path)?),
        Err(reason) => Err(reason),
    };
    let k = recipe.output_k.or(recipe.k).map(f64::from);
    let source = Source::of_folder(folder, settings.remedy);
    shown(name, network, log, quantisation, (source, k), settings)
}

pub(super) fn network(name: &str, path: &Path, settings: &ReportSettings<'_>) -> Result<Section> {
    shown(name, Ok(load(path)?), Log::default(), None, (Err(unnamed(settings)), None), settings)
}

fn parse_weights(text: &str, path: &Path) -> Result<hce::Weights> {
    hce::Weights::parse(text).map_err(|error| Error::data(path, error.to_string()))
}

fn load(path: &Path) -> Result<Arc<Network>> {
    match load_evaluation(path)? {
        Evaluation::Nnue(network) => Ok(network),
        Evaluation::Hce(_) => Err(Error::data(path, "holds weights, not a network")),
        Evaluation::Stockfish(_) => {
            Err(Error::data(path, "is a network of Stockfish, of which there is no report"))
        }
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
    settings: &ReportSettings<'_>,
) -> Result<Section> {
    if let (Ok(network), Some(neuron)) = (&network, settings.neurons.iter().max())
        && *neuron >= network.hidden()
    {
        let hidden = network.hidden();
        return Err(Error::input(format!("neuron {neuron}: {name} has the neurons 0 to {}", hidden - 1)));
    }
    let found = match &network {
        Ok(network) => judged(settings, source, &Evaluation::Nnue(network.clone()), k)?,
        Err(reason) => Err(reason.clone()),
    };
    let (evaluation, boards) = match found {
        Ok((judged, cases)) => (Ok(judged), boards(&cases)),
        Err(reason) => (Err(reason), Vec::new()),
    };
    let neurons = settings.neurons.to_vec();
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
    settings: &ReportSettings<'_>,
    source: OrMissing<Source>,
    evaluation: &Evaluation,
    k: Option<f64>,
) -> Result<OrMissing<(EvaluationReport, Vec<Case>)>> {
    let Positions { cases, moves, what } = match read(settings, source)? {
        Ok(positions) => positions,
        Err(reason) => return Ok(Err(reason)),
    };
    let unfitted = |e| Missing(format!("K cannot be fitted ({e})"));
    Ok(evaluate(&cases, &moves, evaluation, k, &what).map_err(unfitted).map(|judged| (judged, cases)))
}
