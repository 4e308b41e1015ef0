use std::fmt;

use serde::Serialize;

use super::args::{TraceArgs, report_phases};
use crate::prepare::warn_of_bad_lines;
use crate::{Error, Result, Status, Ui};
use patzer_fit::tune::eval_check::EvalCheck;
use patzer_fit::tune::phase_check::PhaseCheck;

/// Compare an engine's own evaluations in traces with their counts and the start values
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer traces check mine.txt --terms mine.toml                       do the counts give its evaluations?\n  \
    patzer traces check mine.txt --terms mine.toml --source evaluate.c   with the values in the source")]
pub struct CheckArgs {
    #[command(flatten)]
    traces: TraceArgs,
}

#[derive(Serialize)]
struct Checked {
    positions: u64,
    /// Centipawns.
    mean: f64,
    largest: f64,
    #[serde(skip)]
    text: String,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub fn run(args: &CheckArgs, ui: &Ui) -> Result<Status> {
    let terms = args.traces.start_terms()?;
    let model = terms.model(&[])?;
    let files = args.traces.files(&terms, &model);
    let mut check = EvalCheck::new(&model, args.traces.max_deviation);
    let mut phases = PhaseCheck::new(&terms, &args.traces.terms.terms, &model);
    let counts = files.each(&mut |path, position| {
        phases.see(path, &position);
        check.see(path, &position);
        Ok(())
    })?;
    for (path, of) in &counts {
        warn_of_bad_lines(path, of.read, of.bad, &of.first_bad, ui);
    }
    report_phases(&phases, ui)?;
    if check.positions() == 0 {
        return Err(Error::input("no line of the traces has eval=, so there is nothing to check"));
    }
    let text = check.to_string();
    if check.above > 0 {
        text.lines().for_each(|line| ui.note(line));
        check.verdict()?;
    }
    let largest = check.worst.first().map_or(0.0, |worst| worst.size());
    ui.result(&Checked { positions: check.positions(), mean: check.mean(), largest, text })
}
