//! Speeds of engines by their own benchmarks, run in turn.

use std::fmt;

use serde::Serialize;

use crate::Benched;
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_stats::interval::{Median, median};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Speeds of engines, the first of which the others are compared with.
#[derive(Debug, Serialize)]
pub struct Speeds {
    /// Rounds in which every engine ran once.
    pub runs: usize,
    pub engines: Vec<Speed>,
}

/// Speed of one engine.
#[derive(Debug, Serialize)]
pub struct Speed {
    pub name: String,
    /// Nodes of the last run.
    pub nodes: u64,
    /// The number is the same in all runs.
    pub reproducible: bool,
    pub nps_median: f64,
    pub nps_best: u64,
    /// Median of the rounds' ratios to the first engine; `None` for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Median>,
}

impl Speed {
    fn new(name: &str, runs: &[Benched], first: Option<&[Benched]>) -> Speed {
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

impl Speeds {
    /// Speeds of the engines of these names by their runs; a round that not every engine has finished counts for none,
    /// and without a round there are no speeds.
    pub fn new(names: &[&str], mut benched: Vec<Vec<Benched>>) -> Speeds {
        let runs = benched.iter().map(Vec::len).min().unwrap_or(0);
        benched.iter_mut().for_each(|own| own.truncate(runs));
        let speed = |(at, (name, own)): (usize, (&&str, &Vec<Benched>))| {
            Speed::new(name, own, (at > 0).then_some(benched[0].as_slice()))
        };
        let named = names.iter().filter(|_| runs > 0);
        Speeds { runs, engines: named.zip(&benched).enumerate().map(speed).collect() }
    }
}

/// Runs the benchmark of each of `engines` engines in every round, beginning with another engine each time, until one
/// fails; the runs until then, by engine.
pub fn in_turn<E>(
    engines: usize,
    rounds: usize,
    bench: &mut dyn FnMut(usize) -> Result<Benched, E>,
) -> (Vec<Vec<Benched>>, Result<(), E>) {
    let mut benched = vec![Vec::with_capacity(rounds); engines];
    let mut order = (0..rounds).flat_map(|round| (0..engines).map(move |at| (at + round) % engines));
    let outcome = order.try_for_each(|engine| {
        benched[engine].push(bench(engine)?);
        Ok(())
    });
    (benched, outcome)
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
