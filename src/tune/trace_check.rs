//! Checks of traces and terms without a fit.

use std::fmt;

use serde::Serialize;

use super::TuneArgs;
use super::traces::{report_phases, start_terms, terms_file};
use crate::prepare::warn_of_bad_lines;
use crate::{Error, Result, Status, Ui};
use patzer_fit::tune::TraceFiles;
use patzer_fit::tune::eval_check::EvalCheck;
use patzer_fit::tune::phase_check::PhaseCheck;

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

/// Compares the engine's evaluations in traces with the counts and the start values.
pub(super) fn run(args: &TuneArgs, ui: &Ui) -> Result<Status> {
    let terms = start_terms(args)?;
    let model = terms.model(&[])?;
    let files =
        TraceFiles { paths: &args.traces.traces, terms: &terms, model: &model, strict: args.data.strict };
    let mut check = EvalCheck::new(&model, args.traces.max_deviation);
    let mut phases = PhaseCheck::new(&terms, terms_file(args)?, &model);
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

pub(super) fn indices(args: &TuneArgs, ui: &Ui) -> Result<Status> {
    ui.result(&start_terms(args)?.indices())
}
