use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use super::ChoiceArgs;
use crate::{Result, Status, Ui, interrupt};
use patzer_engine::engine;
use patzer_fit::moves::choices::Target;
use patzer_fit::moves::predict::{Ranks, by_evaluation, by_search, by_strengths};
use patzer_fit::moves::table;
use patzer_io::number::grouped;

/// Measure how often the played move is an engine's first, second, third choice
///
/// Searches of N nodes are compared with the evaluation alone, which ranks moves by the position after them. The second
/// choice of a search is what it plays when the first is forbidden, and so on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer moves predict                                  evaluation alone, and 1,000 nodes\n  \
    patzer moves predict games.parquet --eval new.nnue --nodes 1000 --nodes 10000\n  \
    patzer moves predict --positions 500 --model moves.toml --json")]
pub struct PredictArgs {
    #[command(flatten)]
    choices: ChoiceArgs,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL")]
    eval: Option<PathBuf>,

    /// Nodes of each search; may be given several times
    #[arg(long, value_name = "N", default_values_t = [1000], value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Vec<u64>,

    /// Also measure a table of `patzer moves fit`
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// Positions to sample
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,

    /// Ranks to count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    ranks: u8,

    /// Transposition table of each search, MiB
    #[arg(long, value_name = "MIB", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

#[derive(Serialize)]
struct PredictResult {
    positions_read: u64,
    dropped: BTreeMap<&'static str, u64>,
    predictors: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// `evaluation`, `N nodes`, `model`.
    name: String,
    #[serde(flatten)]
    ranks: Ranks,
    /// Share of choices whose move ranks first, among the first two, and so on.
    among: Vec<f64>,
    errors: Vec<f64>,
}

impl Row {
    fn new(name: String, ranks: Ranks) -> Row {
        let (among, errors) = (1..=ranks.ranks.len()).map(|rank| ranks.among(rank)).unzip();
        Row { name, ranks, among, errors }
    }
}

impl fmt::Display for PredictResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let choices = grouped(self.predictors.first().map_or(0, |row| row.ranks.choices));
        writeln!(f, "the played move is among the first (of {choices} choices, in percent)")?;
        write!(f, "{:<14}", "")?;
        for rank in 1..=self.predictors.first().map_or(0, |row| row.among.len()) {
            write!(f, "{rank:>12}")?;
        }
        for Row { name, among, errors, .. } in &self.predictors {
            write!(f, "\n{name:<14}")?;
            for (share, error) in among.iter().zip(errors) {
                write!(f, "{:>6.1} ± {:.1}", 100.0 * share, 100.0 * error)?;
            }
        }
        Ok(())
    }
}

pub fn run(args: &PredictArgs, ui: &Ui) -> Result<Status> {
    let evaluation = crate::evaluation::load(args.eval.as_deref(), ui)?;
    let model = args.model.as_deref().map(table::read).transpose()?;
    let chosen = args.choices.read(args.positions as usize, Target::Played, ui)?;
    let (choices, most) = (&chosen.choices, usize::from(args.ranks));
    let bar = ui.progress("predicting", (choices.len() * (1 + args.nodes.len())) as u64);
    let new = || engine(&evaluation, args.hash as usize);
    let mut predictors = Vec::new();
    let mut measure = |name: String, ranks: Vec<Option<usize>>| -> Result<()> {
        interrupt::check()?;
        let mut counts = Ranks::new(most);
        ranks.into_iter().for_each(|rank| counts.add(rank));
        predictors.push(Row::new(name, counts));
        Ok(())
    };
    if let Some(strengths) = &model {
        measure(
            "model".into(),
            choices.par_iter().map(|choice| Some(by_strengths(strengths, choice))).collect(),
        )?;
    }
    let alone = choices.par_iter().map_init(new, |engine, choice| {
        bar.inc(1);
        Some(by_evaluation(&mut **engine, choice))
    });
    measure("evaluation".into(), alone.collect())?;
    for &nodes in &args.nodes {
        let searched = choices.par_iter().map_init(new, |engine, choice| {
            bar.inc(1);
            by_search(&mut **engine, choice, nodes, most, interrupt::flag())
        });
        measure(format!("{nodes} nodes"), searched.collect())?;
    }
    bar.finish_and_clear();
    ui.result(&PredictResult { positions_read: chosen.read, dropped: chosen.dropped, predictors })
}
