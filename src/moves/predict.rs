use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use super::ChoiceArgs;
use crate::program::{NamedProgram, ProgramArgs, warn_of_restarts};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_engine::engine;
use patzer_eval::Evaluation;
use patzer_experiments::Ranking;
use patzer_experiments::puzzles::ready;
use patzer_fit::moves::choices::{MoveChoice, Target};
use patzer_fit::moves::predict::{Ranks, by_evaluation, by_search, by_strengths};
use patzer_fit::moves::table;
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_match::Control;

/// Measure how often the played move is an engine's first, second, third choice
///
/// Searches of N nodes are compared with the evaluation alone, which ranks moves by the position after them. The
/// second choice of a search is what it plays when the first is forbidden, and so on. A UCI engine is asked for its
/// searches alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer moves predict                                  evaluation alone, and 1,000 nodes\n  \
    patzer moves predict games.parquet --eval new.nnue --nodes 1000 --nodes 10000\n  \
    patzer moves predict --count 500 --table moves.toml --json\n  \
    patzer moves predict --engine ./myengine --nodes 10000         the same of a UCI engine\n  \
    patzer moves predict --engine \"cmd=./myengine st=0.1\" --ranks 1")]
pub struct PredictArgs {
    #[command(flatten)]
    choices: ChoiceArgs,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL", conflicts_with = "engine")]
    eval: Option<PathBuf>,

    #[command(flatten)]
    program: ProgramArgs,

    /// Nodes of each search; may be given several times. A limit in the description of --engine, such as `depth=8`,
    /// stands in place of it
    #[arg(long, value_name = "N", default_values_t = [1000], value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Vec<u64>,

    /// Also measure a table of `patzer moves fit`
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,

    /// Number of positions to sample
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Ranks to count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    ranks: u8,

    /// Transposition table of each search, MiB
    #[arg(long, value_name = "MIB", conflicts_with = "engine", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,
}

#[derive(Serialize)]
struct PredictResult {
    /// Program that was asked, by its own name; `None` for the bundled engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    positions_read: u64,
    dropped: BTreeMap<&'static str, u64>,
    /// Crashes and hangs of the program, after which it was started again.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<u64>,
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
    /// Positions on which the program crashed, hung, or said no legal move; its choice there counts as another.
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<usize>,
}

impl Row {
    fn new(name: String, ranks: Ranks) -> Row {
        let (among, errors) = (1..=ranks.ranks.len()).map(|rank| ranks.among(rank)).unzip();
        Row { name, ranks, among, errors, failures: None }
    }
}

impl fmt::Display for PredictResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(engine) = &self.engine {
            writeln!(f, "{}", printable(engine))?;
        }
        let choices = grouped(self.predictors.first().map_or(0, |row| row.ranks.choices));
        writeln!(
            f,
            "the played move is among the first (of {choices} choices, in percent, ± one standard error)"
        )?;
        write!(f, "{:<14}", "")?;
        for rank in 1..=self.predictors.first().map_or(0, |row| row.among.len()) {
            write!(f, "{rank:>12}")?;
        }
        for Row { name, among, errors, failures, .. } in &self.predictors {
            write!(f, "\n{name:<14}")?;
            for (share, error) in among.iter().zip(errors) {
                write!(f, "{:>6.1} ± {:.1}", 100.0 * share, 100.0 * error)?;
            }
            if let Some(failures @ 1..) = failures {
                write!(f, "  failed on {}", grouped(*failures as u64))?;
            }
        }
        Ok(())
    }
}

/// Predictors, read before the positions.
enum Asked {
    Bundled(Evaluation),
    Program(Box<NamedProgram>),
}

pub fn run(args: &PredictArgs, ui: &Ui) -> Result<Status> {
    let asked = match args.program.named(Control::default())? {
        Some(program) => Asked::Program(Box::new(program)),
        None => Asked::Bundled(crate::evaluation::load(args.eval.as_deref(), ui)?),
    };
    let model = args.table.as_deref().map(table::read).transpose()?;
    let chosen = args.choices.read(args.count as usize, Target::Played, ui)?;
    let (choices, most) = (&chosen.choices, usize::from(args.ranks));
    let mut predictors = Vec::new();
    if let Some(strengths) = &model {
        let ranks = choices.par_iter().map(|choice| Some(by_strengths(strengths, choice)));
        predictors.push(Row::new("model".into(), Ranks::of(ranks.collect(), most)));
    }
    predictors.extend(match &asked {
        Asked::Program(program) => by_program(args, program, choices, ui)?,
        Asked::Bundled(evaluation) => by_bundled(args, evaluation, choices, ui)?,
    });
    let (engine, restarts) = match asked {
        Asked::Program(named) => {
            warn_of_restarts(&named.program, ui);
            (Some(named.name), Some(named.program.restarts.count()))
        }
        Asked::Bundled(_) => (None, None),
    };
    let (positions_read, dropped) = (chosen.read, chosen.dropped);
    ui.result(&PredictResult { engine, positions_read, dropped, restarts, predictors })
}

fn by_bundled(
    args: &PredictArgs,
    evaluation: &Evaluation,
    choices: &[MoveChoice],
    ui: &Ui,
) -> Result<Vec<Row>> {
    let most = usize::from(args.ranks);
    let new = || engine(evaluation, args.hash as usize);
    ui.with_progress("predicting", (choices.len() * (1 + args.nodes.len())) as u64, |bar| {
        let alone = choices.par_iter().map_init(new, |engine, choice| {
            bar.inc(1);
            Ok(Some(by_evaluation(ready(engine)?, choice)))
        });
        let alone = alone.collect::<Result<Vec<_>>>()?;
        let mut rows = vec![Row::new("evaluation".into(), Ranks::of(alone, most))];
        for &nodes in &args.nodes {
            let searched = choices.par_iter().map_init(new, |engine, choice| {
                bar.inc(1);
                Ok(by_search(ready(engine)?, choice, nodes, most, interrupt::flag()))
            });
            let searched = searched.collect::<Result<Vec<_>>>()?;
            rows.push(Row::new(format!("{nodes} nodes"), Ranks::of(searched, most)));
            interrupt::check()?;
        }
        Ok(rows)
    })
}

fn by_program(args: &PredictArgs, named: &NamedProgram, choices: &[MoveChoice], ui: &Ui) -> Result<Vec<Row>> {
    let NamedProgram { program, threads, .. } = named;
    let (most, threads) = (usize::from(args.ranks), *threads);
    let own = program.time_settings.control;
    let nodes = args.nodes.iter().map(|&nodes| Control::nodes(nodes));
    let controls: Vec<Control> = if own.is_unlimited() { nodes.collect() } else { vec![own] };
    let moves: Vec<_> = choices.iter().map(|choice| (&choice.position, choice.played)).collect();
    ui.with_progress("predicting", (choices.len() * controls.len()) as u64, |bar| {
        let one = |control: Control| {
            let ranking = Ranking { program, control, most, threads };
            let ranked = ranking.rank(&moves, interrupt::flag(), &|| bar.inc(1))?;
            let ranked = ranked.ok_or(Error::Interrupted("nothing was counted"))?;
            let failed: Vec<&String> = ranked.iter().filter_map(|rank| rank.as_ref().err()).collect();
            if let Some(first) = failed.first() {
                ui.warn(format!("{}: {first}", program.name));
            }
            let failures = Some(failed.len());
            let ranks = ranked.iter().map(|rank| rank.as_ref().ok().copied().flatten()).collect();
            let name = control.to_string().replace(" a move", "");
            Ok(Row { failures, ..Row::new(name, Ranks::of(ranks, most)) })
        };
        controls.into_iter().map(one).collect()
    })
}
