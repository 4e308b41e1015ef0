//! `bench --engine`: speeds of programs by their own benchmarks, run in turn.

use std::time::Duration;

use crate::{Error, Result, Status, Ui, interrupt, players};
use patzer_io::printable;
use patzer_match::Spec;
use patzer_match::participant::{Defaults, Participant, load_all};
use patzer_uci_client::speeds::{Speed, Speeds, in_turn};
use patzer_uci_client::{Benched, Control, PlayerError};

/// Runs the benchmarks of all programs `runs` times and shows their speeds.
pub fn run(texts: &[String], runs: usize, timeout: Duration, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    let specs = texts.iter().map(|text| spec(text)).collect::<Result<Vec<Spec>>>()?;
    let programs = load_all(&specs, &Defaults::for_positions(Control::default(), Duration::ZERO))?;
    let (benched, outcome) = ui.with_progress("benchmarking", (runs * programs.len()) as u64, |bar| {
        in_turn(programs.len(), runs, &mut |engine| {
            let benched = bench(&programs[engine], timeout)?;
            bar.inc(1);
            Ok(benched)
        })
    });
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let speeds = Speeds::new(&names, benched);
    if speeds.runs > 0 {
        warn(&speeds.engines, ui);
        ui.result(&speeds)?;
    }
    outcome.map(|()| Status::Done)
}

fn bench(program: &Participant, timeout: Duration) -> Result<Benched> {
    match program.bench(timeout, interrupt::flag()) {
        None => Err(Error::usage(format!("{}: is an evaluation, not a program", program.name))),
        Some(Err(PlayerError::Stopped)) => Err(Error::Interrupted("fewer runs than asked for")),
        Some(found) => found.map_err(|error| Error::input(format!("{}: {error}", program.name))),
    }
}

fn spec(text: &str) -> Result<Spec> {
    let spec = players::spec("--engine", text)?;
    if !spec.options.is_empty() || !spec.control.is_unlimited() {
        return Err(Error::usage(
            "--engine: a benchmark takes neither options nor limits; write what the program knows as args='…'",
        ));
    }
    Ok(spec)
}

fn warn(engines: &[Speed], ui: &Ui) {
    for engine in engines.iter().filter(|engine| !engine.reproducible) {
        ui.warn(format!("{}: the number of nodes differs from run to run", printable(&engine.name)));
    }
    if engines.iter().any(|engine| engine.nodes != engines[0].nodes) {
        ui.note("the engines search different trees, so their speeds compare only roughly");
    }
}
