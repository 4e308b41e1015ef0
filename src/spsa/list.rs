//! Lines of the parameters of an engine that can be tuned.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::evaluation::load;
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_engine::Params;
use patzer_eval::Evaluation;
use patzer_experiments::spsa::{Param, ParamError, options, weights};
use patzer_label::teacher;
use patzer_match::Control;
use patzer_match::participant::Participant;

const EXAMPLES: &str = "Examples:\n  \
    patzer spsa list > params.txt                       parameters of the bundled engine's search\n  \
    patzer spsa list my.hce.toml --terms mobility,tempo     weights of these terms\n  \
    patzer spsa list my.nnue --terms 'output.*.bias'        biases of the output layers\n  \
    patzer spsa list ./engine --terms 'Knight*,Bishop*' > params.txt    options of another engine";

/// Print the lines of a file PARAMS: of the bundled engine's search, of an evaluation, or of another engine's options
///
/// A UCI engine's options that are numbers are printed with their defaults and ranges, without --terms all but settings
/// such as Hash. `patzer spsa` tunes them by games, `patzer traces numeric` traces those that are weights.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Evaluation with the weights of --terms (a .nnue or .hce.toml file, default, default-hce, untuned-hce), or a UCI
    /// engine: a program, or "cmd=./engine args=…" [default: default]
    engine: Option<String>,

    /// Weights of the evaluation, or options: names with `*`, and beginnings of names, with commas between them
    #[arg(long, value_name = "PATTERN,…")]
    terms: Option<String>,
}

/// Lines of parameters, as a file of them has.
#[derive(Serialize)]
#[serde(transparent)]
struct ParamList(Vec<Param>);

impl fmt::Display for ParamList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|param| writeln!(f, "{param}"))
    }
}

pub fn run(args: &ListArgs, ui: &Ui) -> Result<Status> {
    let (engine, patterns) = (args.engine.as_deref(), args.terms.as_deref());
    let params = match (engine.map(program).transpose()?.flatten(), patterns) {
        (Some(program), _) => options_of(&program, patterns)?,
        (None, Some(patterns)) => weights_of(&load(engine.map(Path::new), ui)?, patterns)?,
        (None, None) if engine.is_some() => {
            return Err(Error::usage("--terms names the weights of the evaluation that are to be tuned"));
        }
        (None, None) => {
            let lines: std::result::Result<Vec<_>, _> =
                Params::spsa_lines().map(|line| line.parse()).collect();
            lines.map_err(|error: ParamError| Error::internal(error.to_string()))?
        }
    };
    ui.result(&ParamList(params))
}

/// The engine, if it is a program.
fn program(engine: &str) -> Result<Option<Participant>> {
    let spec = program::spec("ENGINE", engine)?;
    let participant = program::participant(&spec, Control::default(), Duration::from_secs(60))?;
    Ok(participant.is_program().then_some(participant))
}

/// Options of a program that are numbers.
fn options_of(program: &Participant, patterns: Option<&str>) -> Result<Vec<Param>> {
    let fault = |reason: String| Error::input(format!("{}: {reason}", program.name));
    let engine = teacher::start(program, interrupt::flag()).map_err(|e| fault(e.to_string()))?;
    let params = options::params(&engine.spins(), patterns).map_err(|e| fault(e.to_string()))?;
    match params.is_empty() {
        true => Err(fault("has no options that are numbers, but for settings such as Hash".to_string())),
        false => Ok(params),
    }
}

/// Weights of an evaluation whose names match.
pub fn weights_of(evaluation: &Evaluation, patterns: &str) -> Result<Vec<Param>> {
    weights::params(evaluation, patterns).map_err(|error| Error::usage(format!("--terms: {error}")))
}
