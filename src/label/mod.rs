mod any_teacher;
mod progress;
mod tables;
mod teacher;
mod teacher_args;
mod verify;

use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::evaluation::load;
use crate::given::Given;
use crate::prepare::{InputFormat, check_new_output, reporter};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::{AnyReader, DataFile, Target};
use patzer_formats::ReadOptions;
use patzer_formats::foreign::columns::Columns;
use patzer_formats::registry::{self, Format};
use patzer_io::Printable;
use patzer_io::number::{counted, rate};
use patzer_prepare::labelled_cache::label_file;
use patzer_prepare::leaf::{Method, Settings};

/// Resolve positions to the quiet leaf of a search, or give them the scores of another engine or network
///
/// The leaf is the end of the principal variation of the engine's own quiescence search: a position that a static
/// evaluation can judge.
///
/// With --engine, a UCI engine searches each position; its score and depth replace those of the dataset, and its best
/// move and win/draw/loss are added. With --static, each position gets the static evaluation of a network or weights
/// file instead, hundreds of thousands a second. With --tb, endgame tables correct results and scores. None of them
/// looks for leaves.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = "Examples:\n  \
    patzer label                           positions.parquet → labelled.parquet, by quiescence search\n  \
    patzer label --depth 4 --rescore       by a search of 4 plies, whose score replaces the game's\n  \
    patzer label --eval new.nnue -o relabelled.parquet\n  \
    patzer label --engine \"cmd=stockfish option.Hash=16\" --nodes 1000    by another engine → rescored.parquet\n  \
    patzer label --engine cmd=./lc0 --movetime 50 --concurrency 2\n  \
    patzer label --eval big.nnue --static  the static evaluation of a network → rescored.parquet\n  \
    patzer label --scores-from lichess.jsonl.zst  the scores that a file has of the same positions → rescored.parquet\n  \
    patzer label --verify 0.1% shard3.parquet --eval big.nnue --static   are its labels by this network?\n  \
    patzer label --resume                  go on after an interruption\n  \
    patzer label --tb syzygy/ --tb-game    results and scores by endgame tables\n\n\
    docs/teachers.md says what is stored, what a resumed run repeats, and what it costs.")]
pub struct LabelArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// Positions to label, in any format
    #[arg(default_value = "positions.parquet")]
    #[serde(serialize_with = "patzer_io::path_text")]
    data: PathBuf,

    #[command(flatten)]
    #[serde(flatten)]
    input: InputFormat,

    /// File to write; its ending says the format; `-` is standard output [default: labelled.parquet, or
    /// rescored.parquet with --engine, --static or --tb]
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    output: Option<PathBuf>,

    /// Format to write; `patzer data convert --help` lists them [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named, hide_short_help = true)]
    format: Option<&'static Format>,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    #[arg(long, default_value = "default-hce", value_name = "EVAL", conflicts_with_all = ["engine", "tb"])]
    #[serde(serialize_with = "patzer_io::path_text")]
    eval: PathBuf,

    /// Search this many plies instead, and resolve the end of the principal variation
    #[arg(long, value_name = "N", conflicts_with = "nodes", value_parser = clap::value_parser!(i32).range(1..=64))]
    depth: Option<i32>,

    /// Search this many nodes instead, and resolve the end of the principal variation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Replace each position's score by that of the search (with --depth or --nodes)
    #[arg(long, conflicts_with_all = ["engine", "tb"])]
    rescore: bool,

    #[command(flatten)]
    #[serde(flatten)]
    teacher: teacher_args::TeacherArgs,

    #[command(flatten)]
    #[serde(flatten)]
    tables: tables::TableArgs,
}

impl LabelArgs {
    fn options(&self, ui: &Ui) -> ReadOptions {
        ui.read_options(self.input.input_format)
    }

    fn data<'a>(&'a self, options: &'a ReadOptions) -> DataFile<'a> {
        DataFile { path: &self.data, options }
    }

    fn target(&self, ui: &Ui) -> Target {
        Target { format: self.format, notices: ui.notices.clone(), ..Target::default() }
    }

    /// The labelled dataset to verify.
    fn labelled(&self) -> PathBuf {
        if self.given.has("data") { self.data.clone() } else { "rescored.parquet".into() }
    }

    fn output(&self) -> PathBuf {
        let other = self.teacher.is_asked() || self.tables.tb.is_some();
        let name = if other { "rescored.parquet" } else { "labelled.parquet" };
        self.output.clone().unwrap_or_else(|| name.into())
    }
}

#[derive(Debug, Serialize)]
pub struct LabelResult {
    positions: u64,
    resolved_elsewhere: u64,
    /// Set with --depth or --nodes.
    #[serde(skip)]
    searched: bool,
    seconds: f64,
    positions_per_second: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for LabelResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "labelled  {} → {}",
            counted(self.positions, "position"),
            Printable(self.output.display())
        )?;
        let share = 100.0 * self.resolved_elsewhere as f64 / self.positions.max(1) as f64;
        let what = if self.searched { "led by a search" } else { "were not quiet and resolved" };
        writeln!(f, "          {share:.1} % {what} to another position")?;
        writeln!(f, "          {:.1} s, {}", self.seconds, rate(self.positions_per_second, "positions"))
    }
}

pub fn run(args: &LabelArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    if let Some(share) = args.teacher.verify {
        return verify::run(args, share, ui);
    }
    if args.teacher.is_asked() {
        return teacher::run(args, ui);
    }
    check_new_output(&args.output(), [&args.data, &args.eval], "inputs")?;
    if args.tables.tb.is_some() {
        return tables::run(args, ui);
    }
    let output = args.output();
    let method = match (args.depth, args.nodes) {
        (Some(depth), _) => Method::Depth(depth),
        (_, Some(nodes)) => Method::Nodes(nodes),
        _ => Method::Quiescence,
    };
    if args.rescore && method == Method::Quiescence {
        return Err(Error::usage("--rescore needs a search: add --depth or --nodes"));
    }
    let evaluation = load(Some(&args.eval), ui)?;
    let name = args.eval.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let settings = Settings { method, rescore: args.rescore, evaluation, name };
    let data = AnyReader::open_source(&args.data, args.options(ui), &Columns::default())?;
    let start = Instant::now();
    let target = args.target(ui);
    let counts = label_file(data, &output, &target, &settings, &reporter(ui))?;
    if let Some(warning) = counts.written.warning(&output, target.format(&output)?) {
        ui.warn(warning);
    }
    let seconds = start.elapsed().as_secs_f64();
    let result = LabelResult {
        positions: counts.positions,
        resolved_elsewhere: counts.resolved_elsewhere,
        searched: args.depth.is_some() || args.nodes.is_some(),
        seconds,
        positions_per_second: counts.positions as f64 / seconds,
        output: output.clone(),
    };
    ui.result_beside(&output, &result)
}
