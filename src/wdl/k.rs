use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::{Reading, WdlArgs, games_read};
use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_eval::Evaluation;
use patzer_fit::wdl::source::ReadCounts;
use patzer_fit::wdl::{self, Bucket, Inputs, ScoredPositions};
use patzer_io::number::grouped;
use patzer_report::wdl::draw_k;

pub(super) fn run(args: &WdlArgs, ui: &Ui) -> Result<Status> {
    let inputs = &args.inputs.open(true, ui)?;
    let (found, source, nothing) = match &args.eval {
        None if args.score || !inputs.games.is_empty() => {
            let of = if inputs.games.is_empty() { "dataset" } else { "games" };
            let mut reading = Reading::new(inputs, ui);
            let found = inputs.scores(&mut |event| reading.see(event))?;
            (found, format!("scores of the {of}"), "none of its positions has a score that is no mate")
        }
        eval => {
            let (found, source) = evaluations(eval.as_deref(), inputs, ui)?;
            (found, source, "no position can be evaluated")
        }
    };
    let name = inputs.name();
    if found.scored.is_empty() {
        return Err(Error::data(name, nothing));
    }
    let pairs: Vec<(f32, f32)> = found.scored.iter().map(|s| (s.cp, s.result)).collect();
    let fit = found.fit().map_err(|error| match error {
        Error::Input(reason) => Error::data(name, reason),
        other => other,
    })?;
    if let Some(folder) = &args.inputs.svg {
        ui.note(format_args!("drawn: {}", draw_k(folder, fit.k, &pairs)?.display()));
    }
    ui.result(&Report {
        k: fit.k,
        k_error: fit.k_error,
        loss: fit.loss,
        independent_positions: found.independent,
        positions: pairs.len(),
        games: (found.games.games > 0).then_some(found.games),
        left_out: found.positions.saturating_sub(pairs.len() as u64),
        resolved: found.resolved,
        source,
        buckets: wdl::buckets(fit.k, &pairs),
    })
}

fn evaluations(eval: Option<&Path>, inputs: &Inputs, ui: &Ui) -> Result<(ScoredPositions, String)> {
    if let Some(path) = inputs.games.first() {
        let reason = "holds games, and --eval needs positions: make a dataset of it with `patzer extract`";
        return Err(Error::data(path, reason));
    }
    let (source, evaluation) = match eval {
        Some(path) => (path.display().to_string(), load(Some(path), ui)?),
        None => ("the built-in hand-crafted evaluation".to_string(), Evaluation::default_hce()),
    };
    let mut reading = Reading::new(inputs, ui);
    Ok((inputs.evaluations(&evaluation, &mut |event| reading.see(event))?, source))
}

#[derive(Debug, Serialize)]
struct Report {
    k: f64,
    k_error: f64,
    loss: f64,
    /// The error takes positions as independent, of some file at least.
    independent_positions: bool,
    positions: usize,
    /// Positions without a score that is no mate, and records that hold no position.
    left_out: u64,
    #[serde(flatten)]
    games: Option<ReadCounts>,
    resolved: Option<String>,
    source: String,
    buckets: Vec<Bucket>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observation = match self.independent_positions {
            true => "positions taken as independent",
            false => "one observation a game",
        };
        writeln!(f, "K     {:.4} ± {:.4} (standard error, {observation})", self.k, self.k_error)?;
        let [positions, left_out] = [self.positions as u64, self.left_out].map(grouped);
        write!(f, "loss  {:.7}, mean squared, ", self.loss)?;
        writeln!(f, "over {positions} positions ({left_out} left out)")?;
        writeln!(f, "from  {}", patzer_io::printable(&self.source))?;
        if let Some(games) = &self.games {
            writeln!(f, "games {}", games_read(games))?;
        }
        writeln!(f, "\n{:>14}  {:>10}  {:>8}  {:>8}", "White, cp", "positions", "actual", "expected")?;
        for bucket in &self.buckets {
            let range = match (bucket.from, bucket.to) {
                (Some(from), Some(to)) => format!("{from} to {to}"),
                (Some(from), None) => format!("{from} and up"),
                (None, Some(to)) => format!("below {to}"),
                (None, None) => "all".to_string(),
            };
            let (actual, expected) = (bucket.actual, bucket.expected);
            writeln!(
                f,
                "{range:>14}  {:>10}  {actual:>8.4}  {expected:>8.4}",
                grouped(bucket.positions as u64)
            )?;
        }
        Ok(())
    }
}
