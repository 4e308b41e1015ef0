//! `patzer wdl`: arguments and wiring.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Color;

use crate::chess::packed::NO_EP;
use crate::chess::score::{Score, is_mate};
use crate::cli::prepare::default_dataset;
use crate::cli::{Status, Ui};
use crate::error::{Error, Result};
use crate::eval::hce::Hce;
use crate::eval::nnue::Nnue;
use crate::eval::{Evaluation, Evaluator};
use crate::label::judged;
use crate::positions::{Dataset, Sample};
use crate::wdl::{self, Bucket};

/// Fit the sigmoid that turns centipawns into an expected result
#[derive(Debug, Args)]
#[command(
    after_help = "Expected result = 1 / (1 + exp(-K * cp / 400)). Positions whose score is a mate are left out.\n\n\
    Examples:\n  \
    patzer wdl                          K of the built-in evaluation on the dataset at hand\n  \
    patzer wdl --eval new.hce.toml      K of tuned weights\n  \
    patzer wdl --score games.parquet    K of the scores that the playing engine left in the games"
)]
pub struct WdlArgs {
    /// Dataset to read [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,

    /// Evaluation to fit K for: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default-hce]
    #[arg(long, value_name = "FILE", conflicts_with = "score")]
    eval: Option<PathBuf>,

    /// Fit K for the scores stored with the positions, not for an evaluation
    #[arg(long)]
    score: bool,
}

/// Runs the command.
///
/// # Errors
/// If the dataset or the evaluation cannot be read, or K cannot be fitted to it.
pub fn run(args: &WdlArgs, ui: &Ui) -> Result<Status> {
    let path = args.data.clone().map_or_else(default_dataset, Ok)?;
    let dataset = Dataset::open(&path)?;
    if dataset.rows() == 0 {
        return Err(Error::data(&path, "holds no positions"));
    }
    let (source, scored) = if args.score {
        ("scores of the dataset".to_string(), stored(&dataset.read_all()?))
    } else {
        let (name, evaluation) = match &args.eval {
            Some(path) => (path.display().to_string(), Evaluation::load(path)?),
            None => ("the built-in hand-crafted evaluation".to_string(), Evaluation::default_hce()),
        };
        let resolved = dataset.metadata().resolved.is_some();
        if !resolved {
            ui.note(format!(
                "{}: not resolved, so the positions themselves are evaluated; `patzer label` finds quiet ones",
                path.display()
            ));
        }
        (name, evaluated(&dataset.read_all()?, &evaluation, resolved))
    };
    if scored.is_empty() {
        let reason = if args.score {
            "none of its positions has a score that is no mate"
        } else {
            "no position can be evaluated"
        };
        return Err(Error::data(&path, reason));
    }
    let (pairs, games): (Vec<_>, Vec<_>) = scored.into_iter().map(|s| ((s.cp, s.result), s.game)).unzip();
    let fit = wdl::fit_k_by_game(&pairs, &games).map_err(|error| match error {
        Error::Usage(reason) => Error::data(&path, reason),
        other => other,
    })?;
    ui.result(&Report {
        k: fit.k,
        k_error: fit.k_error,
        loss: fit.loss,
        positions: pairs.len(),
        left_out: dataset.rows().saturating_sub(pairs.len() as u64),
        resolved: dataset.metadata().resolved.clone(),
        source,
        buckets: wdl::buckets(fit.k, &pairs),
    })?;
    Ok(Status::Done)
}

/// A position's score and the result of its game, from White's side.
struct Scored {
    cp: f32,
    result: f32,
    game: u32,
}

fn scored(sample: &Sample, turn: Color, score: Score) -> Option<Scored> {
    let cp = turn.fold_wb(score, -score) as f32;
    let result = (f32::from(sample.result) + 1.0) / 2.0;
    (!is_mate(score)).then_some(Scored { cp, result, game: sample.game })
}

/// The scores that the playing engine gave, where it gave one.
fn stored(samples: &[Sample]) -> Vec<Scored> {
    samples.iter().filter_map(|sample| scored(sample, sample.turn, sample.score?.into())).collect()
}

fn evaluated(samples: &[Sample], evaluation: &Evaluation, resolved: bool) -> Vec<Scored> {
    match evaluation {
        Evaluation::Hce(weights) => evaluated_by(samples, &Hce::new(weights.clone()), resolved),
        Evaluation::Nnue(network) => evaluated_by(samples, &Nnue::new(network.clone()), resolved),
    }
}

/// The static evaluation of each position, or of its leaf if the dataset is resolved. Leaves at which the game is over have
/// no static evaluation.
fn evaluated_by<E: Evaluator + Sync>(samples: &[Sample], evaluator: &E, resolved: bool) -> Vec<Scored> {
    const CHUNK: usize = 4096;
    let of_chunk = |chunk: &[Sample]| -> Vec<Scored> {
        let mut evaluator = evaluator.clone();
        let evaluate = |sample: &Sample| {
            let (board, turn) = judged(sample, resolved).ok()?;
            let score = evaluator.evaluate(&board.unpack(turn, NO_EP, 0, 1)?, 0);
            scored(sample, turn, score)
        };
        chunk.iter().filter_map(evaluate).collect()
    };
    samples.par_chunks(CHUNK).flat_map_iter(of_chunk).collect()
}

/// The result of the command.
#[derive(Debug, Serialize)]
struct Report {
    k: f64,
    k_error: f64,
    loss: f64,
    positions: usize,
    /// Positions without a score that is no mate, and records that hold no position.
    left_out: u64,
    resolved: Option<String>,
    source: String,
    buckets: Vec<Bucket>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "K     {:.4} ± {:.4} (standard error, one observation a game)", self.k, self.k_error)?;
        writeln!(
            f,
            "loss  {:.7}, mean squared, over {} positions ({} left out)",
            self.loss, self.positions, self.left_out
        )?;
        writeln!(f, "from  {}", self.source)?;
        writeln!(f, "\n{:>14}  {:>10}  {:>8}  {:>8}", "White, cp", "positions", "actual", "expected")?;
        for bucket in &self.buckets {
            let range = match (bucket.from, bucket.to) {
                (Some(from), Some(to)) => format!("{from} to {to}"),
                (Some(from), None) => format!("{from} and up"),
                (None, Some(to)) => format!("below {to}"),
                (None, None) => "all".to_string(),
            };
            let (actual, expected) = (bucket.actual, bucket.expected);
            writeln!(f, "{range:>14}  {:>10}  {actual:>8.4}  {expected:>8.4}", bucket.positions)?;
        }
        Ok(())
    }
}
