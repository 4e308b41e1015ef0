//! `traces numeric`: traces of an engine whose weights are UCI options, from differences of its evaluation.

mod blocks;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use self::blocks::{BLOCK, TraceBlock, Tracer};
use crate::data::check_terms;
use crate::earlier::{self, EarlierArgs};
use crate::given::{self, Given};
use crate::prepare::{DataArgs, check_new_output, reporter};
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_experiments::spsa::{self, Param};
use patzer_fit::tune::terms::Terms;
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_match::journal::{Opened, Start};
use patzer_match::participant::Participant;
use patzer_match::{Control, LinePattern};
use patzer_uci_client::StaticEval;

/// Trace an engine whose weights are UCI options, without any code in it
///
/// Each option is moved up and down, and the difference of the static evaluation is its coefficient. The file of terms is
/// written beside the traces; `patzer tune traces` fits them. docs/traces.md says what this costs, and how an engine in C,
/// C++ or Rust does it in its own process.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = "Examples:\n  \
    patzer traces numeric ./engine quiet.parquet --params weights.txt          options → traces.txt, traces.toml\n  \
    patzer traces numeric ./engine quiet.parquet --params weights.txt --eval-command \"go depth 1\"\n  \
    patzer traces numeric --resume                                             go on after an interruption\n  \
    patzer tune traces traces.txt --terms traces.toml -o tuned.txt             fitted, as lines of setoption\n\n\
    --params has the lines that `patzer spsa` reads: name, int|float, value, min, max, c_end, r_end.")]
pub struct NumericArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// The engine: a program, or "cmd=./engine option.Hash=1" with the keys of `match --engine`
    #[arg(value_name = "ENGINE")]
    engine: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    data: DataArgs,

    /// File of the options that are weights, with their values and ranges, as `patzer spsa` reads it
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,

    /// Command that makes the engine say its static evaluation; a search such as "go depth 1" is slower
    #[arg(long, value_name = "COMMAND", default_value = "eval")]
    eval_command: String,

    /// Regular expression whose first group is the value: pawns with a decimal point, else centipawns [default: patterns
    /// of known engines]
    #[arg(long, value_name = "REGEX")]
    pattern: Option<String>,

    /// Engines at the same time [default: --threads, divided by the engine's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// Seconds after which an engine that does not answer counts as hanging, beyond the time of a search
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    stall_timeout: u64,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    /// File of the traces, text; the terms go beside it under the ending .toml
    #[arg(short, long, value_name = "FILE", default_value = "traces.txt", help_heading = "Output")]
    #[serde(skip)]
    output: PathBuf,
}

#[derive(Debug, Default, Serialize)]
struct Traced {
    engine: String,
    positions: u64,
    /// Positions of which the engine said no evaluation.
    silent: u64,
    /// Mean absolute value of what the evaluation has beside the weights, in centipawns.
    beside: f64,
    /// Options that no position counts.
    unused: Vec<String>,
    /// Options with the share of their positions in which the evaluation bends, of at least 1 %.
    bent: Vec<(String, f64)>,
    seconds: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
    #[serde(serialize_with = "patzer_io::path_text")]
    terms: PathBuf,
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, terms) = (Printable(self.output.display()), Printable(self.terms.display()));
        let [positions, silent] = [self.positions, self.silent].map(grouped);
        writeln!(f, "traced    {positions} positions → {output}")?;
        writeln!(f, "          terms → {terms}")?;
        if self.silent > 0 {
            writeln!(f, "          {silent} positions left out: the engine says no evaluation there")?;
        }
        writeln!(f, "beside    {:.1} centipawns in the mean that no option is in", self.beside)?;
        if !self.unused.is_empty() {
            writeln!(f, "unused    {}", Printable(self.unused.join(", ")))?;
        }
        for (name, share) in &self.bent {
            writeln!(f, "bends     {} in {:.0} % of its positions", Printable(name), 100.0 * share)?;
        }
        writeln!(f, "time      {:.1} s", self.seconds)
    }
}

pub fn run(args: &NumericArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let resumed =
        args.earlier.resumed::<TraceBlock, _>("traces numeric", &["engine"], &args.output, &args.given)?;
    let args = &resumed.unwrap_or_else(|| args.clone());
    let (engine, params) = (args.engine()?, args.params()?);
    let terms_path = args.check_output()?;
    let terms = terms(&params).to_toml()?;
    check_terms(&terms_path, &terms, &args.data.inputs())?;
    let spec = program::spec("ENGINE", engine)?;
    args.earlier.check_trust::<TraceBlock>(&args.output, std::slice::from_ref(&spec), ui)?;
    let stall = Duration::from_secs(args.stall_timeout);
    let participant = program::load("ENGINE", engine, Control::default(), stall)?;
    let positions = blocks::positions(&args.data.selection(ui), &reporter(ui))?;
    let eval = StaticEval::new(&args.eval_command, args.pattern()?, spec.white_pov);
    let concurrency = program::at_once(args.concurrency, &participant);
    let begin = Instant::now();
    let mut tracer = Tracer::start(&participant, &params, eval, concurrency)?;
    ui.note(tracer.settle(spec.white_pov, &positions)?);
    let conditions = conditions(args, &participant, &params, positions.len())?;
    let settings = given::settings(args)?.into();
    let key = earlier::signing_key(true, ui);
    let start =
        Start { command: "traces numeric", settings: &settings, conditions: &conditions, key: key.as_ref() };
    let Opened { mut record, entries, .. } = earlier::open(&args.output, args.earlier.choice(), &start, ui)?;
    patzer_io::write(&terms_path, terms.as_bytes())?;
    let bar = ui.progress("tracing", positions.len() as u64);
    let mut done = entries;
    bar.set_position((done.len() * BLOCK) as u64);
    let traced = tracer.trace(&positions, done.len(), &mut |block, text| {
        bar.inc(block.positions + block.silent);
        record.append(&block, &text)?;
        done.push(block);
        Ok(())
    });
    bar.finish_and_clear();
    record.finish(traced.is_ok())?;
    traced?;
    let result = Traced {
        engine: tracer.name(&participant),
        seconds: begin.elapsed().as_secs_f64(),
        output: args.output.clone(),
        terms: terms_path,
        ..summed(&done, &params)
    };
    ui.result(&result)
}

impl NumericArgs {
    fn engine(&self) -> Result<&str> {
        let missing = || Error::usage("name an engine: patzer traces numeric ENGINE DATA --params FILE");
        self.engine.as_deref().ok_or_else(missing)
    }

    fn params(&self) -> Result<Vec<Param>> {
        let missing = || Error::usage("--params names the file of the options that are weights");
        spsa::read(self.params.as_deref().ok_or_else(missing)?)
    }

    fn pattern(&self) -> Result<Option<LinePattern>> {
        let Some(text) = &self.pattern else { return Ok(None) };
        let pattern: LinePattern =
            text.parse().map_err(|error| Error::usage(format!("--pattern: {error}")))?;
        program::check_pattern(&pattern)?;
        Ok(Some(pattern))
    }

    /// Checks the file of the traces; the name of the file of terms.
    fn check_output(&self) -> Result<PathBuf> {
        let output = &self.output;
        let refused = |reason: &str| Err(Error::data(output, reason));
        if output == Path::new("-") || patzer_io::is_stream(output) {
            return refused("cannot hold traces that grow and their terms; name a file with -o");
        }
        match output.extension().and_then(|ending| ending.to_str()) {
            Some("gz" | "zst" | "bz2") => refused("grows while it is written, so it is not compressed"),
            Some("toml" | "parquet") => refused("is no name of traces, which are text"),
            _ => {
                check_new_output(output, self.data.inputs(), "inputs").map(|()| output.with_extension("toml"))
            }
        }
    }
}

/// Conditions that decide the traces; a resumed run has the same.
fn conditions(
    args: &NumericArgs,
    participant: &Participant,
    params: &[Param],
    positions: usize,
) -> Result<serde_json::Value> {
    let player = [participant.conditions()];
    let params: Vec<String> = params.iter().map(Param::to_string).collect();
    let (command, pattern) = (&args.eval_command, &args.pattern);
    Ok(json!({
        "player": serde_json::to_value(player).map_err(|e| Error::internal(e.to_string()))?,
        "params": params,
        "eval_command": command,
        "pattern": pattern,
        "positions": positions,
    }))
}

/// A term for each option, which is written as a line of setoption.
fn terms(params: &[Param]) -> Terms {
    let options = params.iter().map(|param| (param.name.as_str(), param.start, [param.min, param.max]));
    Terms::of_options(options)
}

fn summed(blocks: &[TraceBlock], params: &[Param]) -> Traced {
    let sum = |of: fn(&TraceBlock) -> u64| blocks.iter().map(of).sum::<u64>();
    let positions = sum(|block| block.positions);
    let beside = blocks.iter().map(|block| block.beside).sum::<f64>();
    let mut traced = Traced { positions, silent: sum(|block| block.silent), ..Traced::default() };
    traced.beside = if positions > 0 { beside / positions as f64 } else { 0.0 };
    for (index, param) in params.iter().enumerate() {
        let [counted, bent] =
            [0, 1].map(|at| blocks.iter().map(|block| u64::from(block.counted[index][at])).sum::<u64>());
        match counted {
            0 => traced.unused.push(param.name.clone()),
            _ if bent * 100 >= counted => {
                traced.bent.push((param.name.clone(), bent as f64 / counted as f64));
            }
            _ => {}
        }
    }
    traced
}
