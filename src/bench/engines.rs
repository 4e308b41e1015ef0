//! `bench --engine`: speeds of programs by their own benchmarks, run in turn.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::{Error, Result, Status, Ui, interrupt, players};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_match::participant::{Defaults, Participant, load_all};
use patzer_match::{Benched, Control, PlayerError, Spec};
use patzer_stats::interval::{Median, median};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

#[derive(Serialize)]
struct Speeds {
    /// Rounds in which every engine ran once.
    runs: usize,
    engines: Vec<Speed>,
}

#[derive(Serialize)]
struct Speed {
    name: String,
    /// Nodes of the last run.
    nodes: u64,
    /// The number is the same in all runs.
    reproducible: bool,
    nps_median: f64,
    nps_best: u64,
    /// Median of the rounds' ratios to the first engine; `None` for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<Median>,
}

impl Speed {
    fn of(name: &str, runs: &[Benched], first: Option<&[Benched]>) -> Speed {
        let nps = |run: &Benched| run.nps.max(1) as f64;
        let ratios = first.map(|first| runs.iter().zip(first).map(|(own, first)| nps(own) / nps(first)));
        Speed {
            name: name.to_string(),
            nodes: runs.last().map_or(0, |run| run.nodes),
            reproducible: runs.windows(2).all(|pair| pair[0].nodes == pair[1].nodes),
            nps_median: median(runs.iter().map(nps).collect(), CONFIDENCE).value,
            nps_best: runs.iter().map(|run| run.nps).max().unwrap_or(0),
            ratio: ratios.map(|ratios| median(ratios.collect(), CONFIDENCE)),
        }
    }

    fn verdict(&self, first: &str) -> Option<String> {
        let (Median { value, low, high }, name) = (self.ratio?, printable(&self.name));
        let by = format!("by {:.1} %", 100.0 * (value - 1.0).abs());
        Some(match (low?, high?) {
            (low, _) if low > 1.0 => format!("{name} is faster than {first} {by}"),
            (_, high) if high < 1.0 => format!("{name} is slower than {first} {by}"),
            _ => format!("no difference shown between {name} and {first}"),
        })
    }
}

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.engines.iter().map(|engine| engine.name.chars().count()).max().unwrap_or(0).max(6);
        writeln!(
            f,
            "{:width$} {:>13} {:>13} {:>13}  ratio, 95 % interval",
            "engine", "nodes", "nps median", "nps best"
        )?;
        for Speed { name, nodes, nps_median, nps_best, ratio, .. } in &self.engines {
            let [nodes, median, best] = [*nodes, nps_median.round() as u64, *nps_best].map(grouped);
            write!(f, "{:width$} {nodes:>13} {median:>13} {best:>13}  ", printable(name))?;
            match ratio {
                None => writeln!(f, "1")?,
                Some(Median { value, low: Some(low), high: Some(high) }) => {
                    writeln!(f, "{value:.4}, {low:.4} to {high:.4}")?;
                }
                Some(Median { value, .. }) => writeln!(f, "{value:.4}, too few runs for an interval")?,
            }
        }
        write!(f, "{} run{} each, in turn", self.runs, if self.runs == 1 { "" } else { "s" })?;
        let first = self.engines.first().map_or_else(Default::default, |engine| printable(&engine.name));
        self.engines
            .iter()
            .filter_map(|engine| engine.verdict(&first))
            .try_for_each(|line| write!(f, "\n{line}"))
    }
}

/// Runs the benchmarks of all programs `runs` times and shows their speeds.
pub fn run(texts: &[String], runs: usize, timeout: Duration, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    let specs = texts.iter().map(|text| spec(text)).collect::<Result<Vec<Spec>>>()?;
    let programs = load_all(&specs, &Defaults::for_positions(Control::default(), Duration::ZERO))?;
    let mut benched = vec![Vec::with_capacity(runs); programs.len()];
    let outcome = ui.with_progress("benchmarking", (runs * programs.len()) as u64, |bar| {
        (0..runs).try_for_each(|round| one_round(&programs, round, timeout, &mut benched, &|| bar.inc(1)))
    });
    // An interrupted round counts for no engine.
    let runs = benched.iter().map(Vec::len).min().unwrap_or(0);
    benched.iter_mut().for_each(|own| own.truncate(runs));
    if runs == 0 {
        return outcome.map(|()| Status::Done);
    }
    let first = &benched[0];
    let named = programs.iter().zip(&benched).enumerate();
    let engines: Vec<Speed> = named
        .map(|(at, (program, own))| Speed::of(&program.name, own, (at > 0).then_some(first.as_slice())))
        .collect();
    warn(&engines, ui);
    ui.result(&Speeds { runs, engines })?;
    outcome.map(|()| Status::Done)
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

/// Runs every program once, beginning with another one in each round.
fn one_round(
    programs: &[Participant],
    round: usize,
    timeout: Duration,
    benched: &mut [Vec<Benched>],
    done: &dyn Fn(),
) -> Result<()> {
    for at in (0..programs.len()).map(|at| (at + round) % programs.len()) {
        let program = &programs[at];
        let Some(found) = program.bench(timeout, interrupt::flag()) else {
            return Err(Error::usage(format!("{}: is an evaluation, not a program", program.name)));
        };
        match found {
            Err(PlayerError::Stopped) => return Err(Error::Interrupted("fewer runs than asked for")),
            found => {
                benched[at].push(found.map_err(|error| Error::input(format!("{}: {error}", program.name)))?)
            }
        }
        done();
    }
    Ok(())
}

fn warn(engines: &[Speed], ui: &Ui) {
    for engine in engines.iter().filter(|engine| !engine.reproducible) {
        ui.warn(format!("{}: the number of nodes differs from run to run", printable(&engine.name)));
    }
    if engines.iter().any(|engine| engine.nodes != engines[0].nodes) {
        ui.note("the engines search different trees, so their speeds compare only roughly");
    }
}
