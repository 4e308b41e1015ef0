//! Arguments that the commands on traces share.

use std::path::PathBuf;

use crate::{Result, Ui};
use patzer_fit::tune::TraceFiles;
use patzer_fit::tune::model::Model;
use patzer_fit::tune::phase_check::PhaseCheck;
use patzer_fit::tune::terms::Terms;

/// The file of terms.
#[derive(Debug, clap::Args)]
pub struct TermsArgs {
    /// TOML file that names the evaluation's terms, with their start values
    #[arg(long, value_name = "FILE")]
    pub terms: PathBuf,
}

impl TermsArgs {
    pub fn load(&self) -> Result<Terms> {
        Terms::load(&self.terms)
    }
}

/// Traces and their terms: arguments that check and fit share.
#[derive(Debug, clap::Args)]
pub struct TraceArgs {
    /// Traces of an evaluation: text or Parquet, plain or packed
    #[arg(value_name = "TRACES", required = true)]
    pub traces: Vec<PathBuf>,

    #[command(flatten)]
    pub terms: TermsArgs,

    /// Start from the values that the terms have in these source files, not from those in the file of terms
    ///
    /// The files declare the terms by name, in the language of their ending: C, C++, C#, Go, Java, JavaScript, Kotlin,
    /// Python, Rust, Swift or Zig.
    #[arg(long, value_name = "FILES", num_args = 1..)]
    pub source: Vec<PathBuf>,

    /// Largest deviation of weights and counts from the engine's evaluation that is no error, in centipawns
    ///
    /// The engine's evaluation is eval= in the traces.
    #[arg(long, value_name = "CP", default_value_t = 2.0)]
    pub max_deviation: f64,

    /// Stop at the first line of text that is bad; without it, bad lines are counted and named
    #[arg(long, hide_short_help = true)]
    pub strict: bool,
}

impl TraceArgs {
    /// The terms, with start values from the source if that is named.
    pub fn start_terms(&self) -> Result<Terms> {
        let terms = self.terms.load()?;
        if self.source.is_empty() { Ok(terms) } else { terms.from_source(&self.source) }
    }

    pub fn files<'a>(&'a self, terms: &'a Terms, model: &'a Model) -> TraceFiles<'a> {
        TraceFiles { paths: &self.traces, terms, model, strict: self.strict }
    }

    pub fn inputs(&self) -> Vec<PathBuf> {
        self.traces.iter().chain(&self.source).chain([&self.terms.terms]).cloned().collect()
    }
}

pub fn report_phases(phases: &PhaseCheck<'_>, ui: &Ui) -> Result<()> {
    phases.verdict()?;
    phases.note().iter().for_each(|note| ui.note(note));
    phases.warning().iter().for_each(|warning| ui.warn(warning));
    Ok(())
}
