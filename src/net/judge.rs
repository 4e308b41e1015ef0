//! `net judge`: evaluations in an order without games.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::scored_sample::scored_sample;
use crate::{Result, Status, Ui, evaluation, interrupt};
use patzer_fit::judge::{Losses, Measure};
use patzer_io::number::counted;
use patzer_io::printable;

pub(super) const HELP: &str = "Examples:\n  \
    patzer net judge base.nnue seed1.nnue seed2.nnue --data own.parquet\n  \
    patzer net judge base.nnue run/*.nnue --data own.parquet --json     all epochs of a training\n\n\
    Positions of your engine's own games say most: patzer selfplay ./engine, patzer extract with scores.\n\
    docs/why.md says how well losses order strength.";

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// Evaluations, as for --eval; the first is the base of the changes
    #[arg(value_name = "EVALS", required = true)]
    evaluations: Vec<PathBuf>,

    /// Positions with scores and results by which they are compared
    #[arg(long, value_name = "DATA")]
    data: PathBuf,

    /// Positions that are scored, quiet ones spread over the dataset
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    positions: usize,
}

#[derive(Serialize)]
struct JudgeResult {
    positions: usize,
    /// K of the scores of the data.
    k: f64,
    evaluations: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    file: String,
    #[serde(flatten)]
    judged: Losses,
}

pub(super) fn run(args: &JudgeArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let load = |path: &PathBuf| evaluation::load(Some(path), ui);
    let evaluations = args.evaluations.iter().map(load).collect::<Result<Vec<_>>>()?;
    let records = scored_sample(&args.data, args.positions, ui)?;
    let measure = Measure::new(records)?;
    let files = args.evaluations.iter().map(|path| path.display().to_string());
    let mut rows: Vec<Row> =
        files.zip(measure.judge(&evaluations)).map(|(file, judged)| Row { file, judged }).collect();
    rows.sort_by(|a, b| a.judged.loss.total_cmp(&b.judged.loss));
    ui.result(&JudgeResult { positions: measure.positions(), k: measure.k, evaluations: rows })
}

impl fmt::Display for JudgeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.evaluations.iter().map(|row| printable(&row.file)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(10);
        writeln!(
            f,
            "{:<width$} {:>9} {:>19} {:>9} {:>19}",
            "evaluation", "scores", "change", "results", "change"
        )?;
        for (name, Row { judged, .. }) in names.iter().zip(&self.evaluations) {
            let change = |change: f64, error: f64| format!("{change:+.5} ± {error:.5}");
            let [scores, results] =
                [change(judged.change, judged.error), change(judged.results_change, judged.results_error)];
            let Losses { loss, results_loss, .. } = judged;
            writeln!(f, "{name:<width$} {loss:>9.5} {scores:>19} {results_loss:>9.5} {results:>19}")?;
        }
        let positions = counted(self.positions as u64, "quiet position");
        write!(
            f,
            "losses against scores and results of {positions}, each under its best K; \
             changes with their standard errors over games"
        )
    }
}
