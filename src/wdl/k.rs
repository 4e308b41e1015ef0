use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::{Inputs, WdlArgs, each_batch, games_read, read_games};
use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_data::{DataFile, Record};
use patzer_eval::Evaluation;
use patzer_fit::wdl::source::{ReadCounts, Scored};
use patzer_fit::wdl::{self, Bucket};
use patzer_formats::capabilities::Capabilities;
use patzer_io::number::grouped;
use patzer_report::wdl::draw_k;

pub(super) fn run(args: &WdlArgs, inputs: &Inputs, ui: &Ui) -> Result<Status> {
    let input = match &args.eval {
        None if args.score || !inputs.games.is_empty() => scores(args, inputs, ui)?,
        eval => evaluations(eval.as_deref(), inputs, ui)?,
    };
    let name = inputs.name();
    if input.scored.is_empty() {
        return Err(Error::data(name, input.nothing));
    }
    let (pairs, games): (Vec<_>, Vec<_>) = input.scored.iter().map(|s| ((s.cp, s.result), s.game)).unzip();
    let fit = wdl::fit_k_by_game(&pairs, &games).map_err(|error| match error {
        Error::Input(reason) => Error::data(name, reason),
        other => other,
    })?;
    if let Some(folder) = &args.svg {
        ui.note(format_args!("drawn: {}", draw_k(folder, fit.k, &pairs)?.display()));
    }
    ui.result(&Report {
        k: fit.k,
        k_error: fit.k_error,
        loss: fit.loss,
        independent_positions: input.independent,
        positions: pairs.len(),
        games: (input.games.games > 0).then_some(input.games),
        left_out: input.positions.saturating_sub(pairs.len() as u64),
        resolved: input.resolved,
        source: input.source,
        buckets: wdl::buckets(fit.k, &pairs),
    })
}

#[derive(Default)]
struct Input {
    scored: Vec<Scored>,
    positions: u64,
    games: ReadCounts,
    resolved: Option<String>,
    /// Some file does not say which positions are of one game.
    independent: bool,
    source: String,
    nothing: &'static str,
}

impl Input {
    /// Adds the positions of a dataset that `score` finds; its second argument is whether they have leaves.
    fn add(
        &mut self,
        data: DataFile<'_>,
        ui: &Ui,
        score: impl Fn(&[Record], bool) -> Vec<Scored>,
    ) -> Result<()> {
        let reader = data.open()?;
        self.resolved.clone_from(&reader.metadata().resolved);
        if reader.metadata().lacks.contains(Capabilities::GAME) {
            self.independent = true;
            ui.warn(format_args!(
                "{}: does not say which positions are of one game, so that K's error is too small",
                data.path.display()
            ));
        }
        let first_game = self.scored.iter().map(|s| s.game.wrapping_add(1)).max().unwrap_or(0);
        let positions = each_batch(reader, ui, |records| {
            let found = score(records, self.resolved.is_some()).into_iter();
            self.scored.extend(found.map(|s| Scored { game: s.game.wrapping_add(first_game), ..s }));
        })?;
        self.positions += positions;
        if positions == 0 { Err(Error::data(data.path, "holds no positions")) } else { Ok(()) }
    }
}

fn scores(args: &WdlArgs, inputs: &Inputs, ui: &Ui) -> Result<Input> {
    let source = if inputs.games.is_empty() { "scores of the dataset" } else { "scores of the games" };
    let nothing = "none of its positions has a score that is no mate";
    let mut input = Input { source: source.into(), nothing, ..Input::default() };
    let see = |seen: &mut Vec<Scored>, record: &Record| seen.extend(Scored::stored(record));
    let counts = read_games(args, &inputs.games, ui, see, |seen| input.scored.extend(seen))?;
    input.positions = counts.positions_read;
    input.games = counts;
    for data in inputs.data() {
        input.add(data, ui, |records, _| records.iter().filter_map(Scored::stored).collect())?;
    }
    Ok(input)
}

fn evaluations(eval: Option<&Path>, inputs: &Inputs, ui: &Ui) -> Result<Input> {
    if let Some(path) = inputs.games.first() {
        let reason = "holds games, and --eval needs positions: make a dataset of it with `patzer extract`";
        return Err(Error::data(path, reason));
    }
    let (source, evaluation) = match eval {
        Some(path) => (path.display().to_string(), load(Some(path), ui)?),
        None => ("the built-in hand-crafted evaluation".to_string(), Evaluation::default_hce()),
    };
    let mut input = Input { source, nothing: "no position can be evaluated", ..Input::default() };
    for data in inputs.data() {
        input.add(data, ui, |records, resolved| wdl::evaluated(records, &evaluation, resolved))?;
        if input.resolved.is_none() {
            ui.note(format!(
                "{}: not resolved, so the positions themselves are evaluated; `patzer label` finds quiet ones",
                data.path.display()
            ));
        }
    }
    Ok(input)
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
