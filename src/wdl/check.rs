//! Compares a fitted model with the chances that an engine shows by its own (`UCI_ShowWDL`).

use std::fmt;
use std::time::Duration;

use patzer_fit::wdl::{Agreement, Answer, LargestDifference, Sample, WdlModel, WdlTable};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_label::teacher;
use patzer_match::Control;
use patzer_match::participant::{Defaults, Participant};
use serde::Serialize;

use crate::{Error, Result, Ui, interrupt, program};

/// Limit of the engine, unless the specification has one.
const NODES: u64 = 1_000;

/// Differences of an engine's chances from a model's, in percentage points.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    engine: String,
    #[serde(flatten)]
    agreement: Agreement,
}

impl Check {
    pub(super) fn new(
        engine: &str,
        sample: &Sample,
        fitted: (&WdlModel, &WdlTable),
        ui: &Ui,
    ) -> Result<Check> {
        let participant = participant(engine)?;
        let fault = |reason: String| Error::input(format!("{}: {reason}", participant.name));
        let started = teacher::start(&participant, interrupt::flag());
        let mut analyst = started.map_err(|e| fault(e.to_string()))?;
        let engine = analyst.name().unwrap_or(&participant.name).to_string();
        let bar = ui.progress("checking", sample.positions().len() as u64);
        let agreement = Agreement::of(fitted, sample.positions(), |position| {
            interrupt::check()?;
            let control = &participant.time_settings.control;
            let found = analyst.search(position, control, true, interrupt::flag());
            let info = found.map_err(|e| fault(e.to_string()))?.info;
            bar.inc(1);
            Ok(Answer { score: info.score, wdl: info.wdl })
        })?;
        bar.finish_and_clear();
        let agreement =
            agreement.ok_or_else(|| fault("shows no wins, draws and losses (UCI_ShowWDL)".into()))?;
        if agreement.positions == 0 {
            let searched = agreement.left_out;
            return Err(fault(format!(
                "none of {searched} positions got a score that the model's data reach"
            )));
        }
        Ok(Check { engine, agreement })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Agreement { positions, left_out, mean, mean_distance, largest } = &self.agreement;
        let (engine, positions, out) = (printable(&self.engine), grouped(*positions), grouped(*left_out));
        writeln!(
            f,
            "\ncheck      {engine}, {positions} positions, {out} left out; percentage points, engine − model:"
        )?;
        writeln!(f, "{:>10}  {:>8}  {:>8}", "", "mean", "distance")?;
        for (name, (mean, distance)) in
            ["win", "draw", "loss"].into_iter().zip(mean.iter().zip(mean_distance))
        {
            writeln!(f, "{name:>10}  {mean:>+8.2}  {distance:>8.2}")?;
        }
        let Some(LargestDifference { fen, score, engine, model, .. }) = largest else { return Ok(()) };
        let list = |shares: &[f64; 3]| shares.map(|share| format!("{share:.1}")).join("/");
        let (engine, model) = (list(engine), list(model));
        writeln!(f, "           farthest: {engine} against the model's {model} at {score} centipawns: {fen}")
    }
}

fn participant(engine: &str) -> Result<Participant> {
    let spec = program::spec("--engine", engine)?;
    Participant::load(&spec, &Defaults::for_positions(Control::nodes(NODES), Duration::from_secs(60)))
}
