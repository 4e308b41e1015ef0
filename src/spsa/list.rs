//! Lines of the parameters that the bundled engine can tune.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_engine::Params;
use patzer_eval::Evaluation;
use patzer_experiments::spsa::{Param, ParamError, weights};

const EXAMPLES: &str = "Examples:\n  \
    patzer spsa list > params.txt                       parameters of the bundled engine's search\n  \
    patzer spsa list my.hce.toml --terms mobility,tempo     weights of these terms\n  \
    patzer spsa list my.nnue --terms 'output.*.bias'        biases of the output layers";

/// Print the lines of a file PARAMS for the bundled engine: its search's, or an evaluation's
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// Evaluation with the weights of --terms: a .nnue or .hce.toml file, default, default-hce, untuned-hce
    /// [default: default]
    #[arg(value_name = "ENGINE", requires = "terms")]
    engine: Option<PathBuf>,

    /// Weights of the evaluation: names with `*`, and beginnings of names, with commas between them
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
    let params = match &args.terms {
        Some(patterns) => weights_of(&load(args.engine.as_deref(), ui)?, patterns)?,
        None => {
            let lines: std::result::Result<Vec<_>, _> =
                Params::spsa_lines().map(|line| line.parse()).collect();
            lines.map_err(|error: ParamError| Error::internal(error.to_string()))?
        }
    };
    ui.result(&ParamList(params))
}

/// Weights of an evaluation whose names match.
pub fn weights_of(evaluation: &Evaluation, patterns: &str) -> Result<Vec<Param>> {
    weights::params(evaluation, patterns).map_err(|error| Error::usage(format!("--terms: {error}")))
}
