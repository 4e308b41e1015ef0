//! Compares a fitted model with the chances that an engine shows by its own (`UCI_ShowWDL`).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use patzer_chess::fen;
use patzer_chess::score::{Score, is_mate};
use patzer_data::Record;
use patzer_fit::wdl::{Observation, WdlModel, WdlTable};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_label::teacher;
use patzer_match::Control;
use patzer_match::participant::{Defaults, Participant};
use serde::Serialize;
use shakmaty::Chess;

use crate::{Error, Result, Ui, interrupt, program};

/// Positions that the engine searches.
const POSITIONS: usize = 1_000;

/// Limit of the engine, unless the specification has one.
const NODES: u64 = 1_000;

/// The positions with the smallest keys: a sample of any number, whatever the order.
#[derive(Default)]
pub(super) struct Sample(BTreeMap<u128, (Chess, Observation)>);

impl Sample {
    pub(super) fn see(&mut self, record: &Record, observation: Observation) {
        let key = record.key();
        if self.0.len() < POSITIONS || self.0.last_key_value().is_some_and(|(last, _)| key < *last) {
            self.0.extend(record.position().map(|position| (key, (position, observation))));
            self.cut();
        }
    }

    pub(super) fn merge(&mut self, other: Sample) {
        self.0.extend(other.0);
        self.cut();
    }

    fn cut(&mut self) {
        while self.0.len() > POSITIONS {
            self.0.pop_last();
        }
    }
}

/// Differences of an engine's chances from a model's, in percentage points.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    engine: String,
    positions: u64,
    /// Left out: mates, and scores or rows beyond the model's data.
    left_out: u64,
    /// Mean of the engine's win, draw and loss minus the model's.
    mean: [f64; 3],
    mean_distance: [f64; 3],
    largest: Option<Largest>,
}

#[derive(Debug, Serialize)]
struct Largest {
    fen: String,
    score: Score,
    engine: [f64; 3],
    model: [f64; 3],
}

impl Check {
    pub(super) fn new(
        engine: &str,
        sample: &Sample,
        model: &WdlModel,
        table: &WdlTable,
        ui: &Ui,
    ) -> Result<Check> {
        let participant = participant(engine)?;
        let fault = |reason: String| Error::input(format!("{}: {reason}", participant.name));
        let started = teacher::start(&participant, interrupt::flag());
        let mut analyst = started.map_err(|e| fault(e.to_string()))?;
        let name = analyst.name().unwrap_or(&participant.name).to_string();
        let mut check = Check {
            engine: name,
            positions: 0,
            left_out: 0,
            mean: [0.0; 3],
            mean_distance: [0.0; 3],
            largest: None,
        };
        let (mut most, reach) = (0.0, f64::from(table.largest_score()));
        let bar = ui.progress("checking", sample.0.len() as u64);
        for (position, observation) in sample.0.values() {
            interrupt::check()?;
            let control = &participant.time_settings.control;
            let found = analyst.search(position, control, true, interrupt::flag());
            let info = found.map_err(|e| fault(e.to_string()))?.info;
            bar.inc(1);
            let row = table.bounds.by.row(observation);
            let score = info.score.filter(|score| !is_mate(*score) && table.seen_rows().contains(&row));
            let Some(score) = score else {
                check.left_out += 1;
                continue;
            };
            let wdl =
                info.wdl.ok_or_else(|| fault("shows no wins, draws and losses (UCI_ShowWDL)".into()))?;
            let cp = f64::from(score) * table.bounds.unit(observation);
            if cp.abs() > reach {
                check.left_out += 1;
                continue;
            }
            let engine = wdl.map(|share| f64::from(share) / 10.0);
            let model = model.chances(row.into(), cp).map(|share| 100.0 * share);
            let off: [f64; 3] = std::array::from_fn(|i| engine[i] - model[i]);
            check.positions += 1;
            for (i, off) in off.into_iter().enumerate() {
                check.mean[i] += off;
                check.mean_distance[i] += off.abs();
            }
            let distance = off.into_iter().map(f64::abs).fold(0.0, f64::max);
            if distance > most {
                most = distance;
                let fen = fen::text(position);
                check.largest = Some(Largest { fen, score, engine, model });
            }
        }
        bar.finish_and_clear();
        if check.positions == 0 {
            let searched = check.left_out;
            return Err(fault(format!(
                "none of {searched} positions got a score that the model's data reach"
            )));
        }
        let count = check.positions as f64;
        check.mean.iter_mut().chain(&mut check.mean_distance).for_each(|sum| *sum /= count);
        Ok(check)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (engine, positions, out) =
            (printable(&self.engine), grouped(self.positions), grouped(self.left_out));
        writeln!(
            f,
            "\ncheck      {engine}, {positions} positions, {out} left out; percentage points, engine − model:"
        )?;
        writeln!(f, "{:>10}  {:>8}  {:>8}", "", "mean", "distance")?;
        for (name, (mean, distance)) in
            ["win", "draw", "loss"].into_iter().zip(self.mean.iter().zip(&self.mean_distance))
        {
            writeln!(f, "{name:>10}  {mean:>+8.2}  {distance:>8.2}")?;
        }
        let Some(Largest { fen, score, engine, model }) = &self.largest else { return Ok(()) };
        let list = |shares: &[f64; 3]| shares.map(|share| format!("{share:.1}")).join("/");
        let (engine, model) = (list(engine), list(model));
        writeln!(f, "           farthest: {engine} against the model's {model} at {score} centipawns: {fen}")
    }
}

fn participant(engine: &str) -> Result<Participant> {
    let spec = program::spec("--check", engine)?;
    Participant::load(&spec, &Defaults::for_positions(Control::nodes(NODES), Duration::from_secs(60)))
}
