//! Ratings of players.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use patzer_fit::rating::read;
use patzer_io::error::{Error, Result};
use patzer_io::number::grouped;
use patzer_match::record::check_named_once;
use patzer_stats::rating::{
    RatingReport, ReportOptions, ResultModel, Settings, White, bootstrap, covariance, fit,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::interruptible::interruptible;
use crate::stats::parsed;

/// Most samples of a bootstrap, as of the command.
const MOST_SAMPLES: u32 = 1_000_000;

/// One file, or several.
#[derive(FromPyObject)]
pub enum Files {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

/// Advantage of White: Elo, or "auto".
#[derive(FromPyObject)]
pub enum WhiteElo {
    Elo(f64),
    Word(String),
}

/// Rate the players of games; the dict is that of `patzer rate --json`.
///
/// games: a PGN file or several, plain or compressed. model: "elo", "davidson" or "rao-kupper". anchors: ratings to
/// keep, by name; average: the mean rating of a pool without anchors. white: White's advantage in Elo, or "auto" to
/// fit it. scale: the difference at which 76 % of the points are expected. prior: games against an average player,
/// half won and half lost, added to everyone. min_games: players with fewer are left out. bootstrap: samples for the
/// errors, 1,000,000 at most, 0 for the covariance; seed: of the samples.
#[pyfunction]
#[pyo3(signature = (games, *, model="elo", anchors=None, average=2300.0, white=WhiteElo::Elo(0.0), scale=202.0, prior=0.0,
    min_games=1, bootstrap=0, seed=0),
    text_signature = "(games, *, model='elo', anchors=None, average=2300.0, white=0.0, scale=202.0, prior=0.0, \
    min_games=1, bootstrap=0, seed=0)")]
#[allow(clippy::too_many_arguments)]
pub fn rate<'py>(
    py: Python<'py>,
    games: Files,
    model: &str,
    anchors: Option<BTreeMap<String, f64>>,
    average: f64,
    white: WhiteElo,
    scale: f64,
    prior: f64,
    min_games: u64,
    bootstrap: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let files = match games {
        Files::One(file) => vec![file],
        Files::Several(files) => files,
    };
    let white = match white {
        WhiteElo::Elo(elo) if elo.is_finite() => White::Fixed(elo),
        WhiteElo::Word(word) if word == "auto" => White::Fitted,
        _ => return Err(PyValueError::new_err("white: a number of Elo, or \"auto\"")),
    };
    let model = model
        .parse::<ResultModel>()
        .map_err(|_| PyValueError::new_err(format!("model {model:?}: elo, davidson or rao-kupper")))?;
    let settings = Settings { model, scale, average, anchors: Vec::new(), white, prior };
    let anchors: Vec<(String, f64)> = anchors.unwrap_or_default().into_iter().collect();
    if bootstrap > MOST_SAMPLES {
        return Err(PyValueError::new_err(format!(
            "bootstrap: at most {} samples",
            grouped(MOST_SAMPLES.into())
        )));
    }
    let report = interruptible(py, |stop| {
        ratings(&files, settings, &anchors, min_games, Sampling { samples: bootstrap, seed, stop })
    })?;
    parsed(py, &report)
}

/// The samples of a bootstrap, and the flag that ends it.
struct Sampling<'a> {
    samples: u32,
    seed: u64,
    stop: &'a AtomicBool,
}

fn ratings(
    files: &[PathBuf],
    settings: Settings,
    anchors: &[(String, f64)],
    min_games: u64,
    Sampling { samples, seed, stop }: Sampling<'_>,
) -> Result<RatingReport> {
    settings.check()?;
    if let Some((name, elo)) = anchors.iter().find(|(_, elo)| !elo.is_finite()) {
        return Err(Error::usage(format!("anchor \"{name}\": {elo} is no rating")));
    }
    check_named_once(files)?;
    let (all, mut counts) = read(files, stop, |_| ())?;
    let results = all.with_min_games(min_games, &mut counts);
    let settings = Settings { anchors: results.anchors(anchors)?, ..settings };
    let ratings = fit(&results, &settings)?;
    let errors = match samples {
        0 => covariance(&ratings, &settings),
        _ => Some(bootstrap(&results, &ratings, &settings, samples, seed, stop, || ())?),
    };
    let options = ReportOptions { all_players: all.players.len(), ..ReportOptions::default() };
    Ok(RatingReport::new(&results, &ratings, errors.as_ref(), counts, options))
}
