//! `net identify`: layout, architecture and units of raw weights that nobody describes.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::static_eval::StaticEvalArgs;
use crate::prepare::check_output;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_eval::nnue::identify::{Candidate, ReferenceValues, identify};
use patzer_eval::nnue::layout::{Layout, NamedLayout};
use patzer_io::Printable;
use patzer_io::number::grouped;

pub(super) const HELP: &str = "Examples:\n  \
    patzer net identify net.bin                            the best readings, judged by the embedded network\n  \
    patzer net identify net.bin --engine ./engine          judged by the engine's own `eval`\n  \
    patzer net identify net.bin -o theirs.toml             and then\n  \
    patzer net convert net.bin -o theirs.nnue --from theirs.toml\n\n\
    Networks of one hidden layer and two perspectives are known. The exit code is 1 where two readings are about as\n\
    good.";

/// Agreements that are closer decide nothing.
const CLOSE: f64 = 0.002;
/// Random weights and wrong orders agree less.
const LEAST: f64 = 0.7;
/// Positions that an engine evaluates.
const POSITIONS: usize = 250;

#[derive(Debug, Args)]
pub(super) struct IdentifyArgs {
    /// Raw weights of another program
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The engine that has the network, whose static evaluation decides: a program, or "cmd=./engine ..." with the keys
    /// of `match --engine`
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,

    #[command(flatten)]
    eval: StaticEvalArgs,

    /// Layout file to write
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Identified {
    file: String,
    judge: String,
    #[serde(skip)]
    by_engine: bool,
    positions: usize,
    /// Whether no other reading is about as good.
    decided: bool,
    readings: Vec<Read>,
    /// The layout file of the best reading.
    layout_file: String,
}

#[derive(Serialize)]
struct Read {
    architecture: String,
    king_buckets: String,
    qa: i32,
    qb: i32,
    scale: i32,
    /// Rank correlation with the judge's evaluations.
    agreement: f64,
    /// Positions with the judge's evaluation.
    equal: usize,
    /// Centipawns of a pawn, knight, bishop, rook and queen.
    pieces: [f64; 5],
    /// Evidence for QA and QB.
    qa_source: String,
    qb_source: String,
}

impl Read {
    fn new(candidate: &Candidate, by_engine: bool) -> Read {
        let Candidate {
            layout, architecture, agreement, equal, values, clipped_at, outputs_clipped_at, ..
        } = candidate;
        let source = |clip: &Option<f64>, is_usual: bool| match clip {
            Some(clip) => format!("its largest weight, {clip:.0}, is bullet's clip of 1.98"),
            None if by_engine => "by the engine".to_string(),
            None if is_usual => "not shown by the weights: the usual one".to_string(),
            None => "not shown by the weights: by the size of the values".to_string(),
        };
        let usual = Layout::default();
        let (qa_source, qb_source) = match layout.is_float() {
            true => ("floats".to_string(), "floats".to_string()),
            false => {
                (source(clipped_at, layout.qa == usual.qa), source(outputs_clipped_at, layout.qb == usual.qb))
            }
        };
        let [qa, qb] = layout.quantisation();
        Read {
            architecture: architecture.to_string(),
            king_buckets: String::from(architecture.king_buckets.clone()),
            qa,
            qb,
            scale: layout.scale,
            agreement: *agreement,
            equal: *equal,
            pieces: *values,
            qa_source,
            qb_source,
        }
    }
}

impl fmt::Display for Identified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identified { file, judge, by_engine, positions, decided, readings, layout_file } = self;
        let Some((best, others)) = readings.split_first() else { return Ok(()) };
        writeln!(f, "{}: {}", Printable(file), best.architecture)?;
        writeln!(f, "  agreement     {:.4} with {}", best.agreement, Printable(judge))?;
        if *by_engine {
            writeln!(f, "  equal         {} of {positions} evaluations", best.equal)?;
        }
        writeln!(f, "  QA            {}, {}", best.qa, best.qa_source)?;
        writeln!(f, "  QB            {}, {}", best.qb, best.qb_source)?;
        writeln!(f, "  scale         {} centipawns", best.scale)?;
        if best.king_buckets != "none" {
            writeln!(f, "  king buckets  {}", best.king_buckets)?;
        }
        let [pawn, knight, bishop, rook, queen] = best.pieces;
        writeln!(
            f,
            "  pieces        pawn {pawn:.0}, knight {knight:.0}, bishop {bishop:.0}, rook {rook:.0}, queen {queen:.0}"
        )?;
        for other in others.iter().take(3) {
            let Read { architecture, qa, agreement, .. } = other;
            writeln!(f, "  next          {agreement:.4}  {architecture}, QA {qa}")?;
        }
        if !decided {
            writeln!(f, "  not decided: the next reading is about as good; --engine lets the engine decide")?;
        }
        write!(f, "\n{layout_file}")
    }
}

pub(super) fn run(args: &IdentifyArgs, ui: &Ui) -> Result<Status> {
    if let Some(output) = &args.output {
        check_output(output, [&args.file], "inputs")?;
    }
    let bytes = patzer_io::read(&args.file, patzer_io::Limit::NETWORK)?;
    if let Some(format) = super::raw::known_format(&bytes) {
        return Err(Error::data(&args.file, format!("is {format}, which says what it is")));
    }
    let (judge, name) = judge(args)?;
    let found = identify(&bytes, &judge);
    interrupt::check()?;
    let Some(best) = found.first() else {
        let size = grouped(bytes.len() as u64);
        return Err(Error::data(
            &args.file,
            format!("its {size} bytes are the size of no network of one hidden layer with two perspectives"),
        ));
    };
    if best.agreement < LEAST {
        let reason = format!(
            "no reading of its size makes sense: the best, {}, agrees by {:.2} with {name}",
            best.architecture, best.agreement
        );
        return Err(Error::data(&args.file, reason));
    }
    let file = args.file.display().to_string();
    let layout = NamedLayout::new("", &about(&args.file), best.layout.clone(), best.architecture.clone());
    let decided = decides(&found, judge.is_engine());
    let identified = Identified {
        file,
        judge: name,
        by_engine: judge.is_engine(),
        positions: judge.positions(),
        decided,
        readings: found.iter().map(|candidate| Read::new(candidate, judge.is_engine())).collect(),
        layout_file: layout.text.clone(),
    };
    if let Some(output) = &args.output {
        patzer_io::write(output, layout.text.as_bytes())?;
    }
    ui.result(&identified)?;
    Ok(if decided { Status::Done } else { Status::Unsound })
}

/// Tests whether no other reading is about as good as the first.
fn decides(found: &[Candidate], by_engine: bool) -> bool {
    match found {
        [best, next, ..] if by_engine => best.equal > next.equal || best.agreement > next.agreement + CLOSE,
        [best, next, ..] => best.agreement > next.agreement + CLOSE,
        _ => true,
    }
}

fn judge(args: &IdentifyArgs) -> Result<(ReferenceValues, String)> {
    let Some(engine) = &args.engine else {
        return Ok((ReferenceValues::embedded(), "the embedded network".into()));
    };
    let mut evaluating = args.eval.start("--engine", engine)?;
    let check = args.eval.check(&evaluating, POSITIONS, 0, 1);
    let values = check.ask(&mut evaluating.engine, interrupt::flag());
    let values = values.map_err(|error| args.eval.error(&evaluating, error))?;
    Ok((ReferenceValues::engine(values), evaluating.name().to_string()))
}

fn about(file: &std::path::Path) -> String {
    let name = file.file_name().map_or_else(|| "raw weights".into(), |name| name.to_string_lossy());
    format!("found by net identify from {name}")
}
