use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::check::Check;
use super::{InputArgs, Reading, games_read};
use crate::prepare::check_new_output;
use crate::{Error, Result, Status, Ui};
use patzer_fit::wdl::source::ReadCounts;
use patzer_fit::wdl::{Bin, Bounds, By, Counted, Counting, FittedModel, WdlModel, WdlTable, fit};
use patzer_io::number::grouped;
use patzer_match::record::check_named_once;
use patzer_report::wdl::draw_model;

/// Fit win, draw and loss by score and material, from the scores that the games hold
///
/// W = 1 / (1 + exp((a - cp) / b)) for the side to move, L(cp) = W(-cp), a and b cubic in material / 58. Positions whose
/// score is a mate are left out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    patzer wdl model games.pgn                         win, draw and loss by score and material\n  \
    patzer wdl model --by move games.pgn --svg plots\n  \
    patzer wdl model games.pgn --histogram 1.json      count a part; fit the sum of the parts later:\n  \
    patzer wdl model --merge 1.json\n  \
    patzer wdl model games.pgn --engine stockfish      does the engine show what its games say?")]
pub struct ModelArgs {
    #[command(flatten)]
    inputs: InputArgs,

    /// Variable in which a and b are cubic
    #[arg(long, value_enum, value_name = "WHAT", default_value = "material")]
    by: Rows,

    /// Material or move number at which a and b are the sums of their coefficients [default: 58; of moves 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    target: Option<u16>,

    /// Largest score of either sign, in centipawns; scores of 1000 and more are counted as one and never take part
    #[arg(long, value_name = "CP", default_value_t = 400,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    max_score: u16,

    /// Range of move numbers
    #[arg(long, value_name = "A..B", default_value = "1..120", value_parser = range)]
    moves: RangeInclusive<u16>,

    /// Range of material, 9Q + 5R + 3(B + N) + P of both sides
    #[arg(long, value_name = "A..B", default_value = "17..78", value_parser = range)]
    material: RangeInclusive<u16>,

    /// Round scores to multiples of this many centipawns
    #[arg(long, value_name = "CP", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=200))]
    bin: u16,

    /// Read scores as scoreWDLstat does, whose arithmetic takes 0.53 for 52 centipawns; for comparisons with it
    #[arg(long, hide_short_help = true)]
    single_precision: bool,

    /// Leave out materials (or move numbers) with fewer positions
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_count: u64,

    /// The engine's scores are already normalised by this a, one number or four coefficients over material / 58,
    /// highest power first: undo that first [default: scores as they are]
    #[arg(long, value_name = "A", value_delimiter = ',', allow_hyphen_values = true)]
    normalized_by: Vec<f64>,

    /// Compare the model with the chances that this engine shows (UCI_ShowWDL) on 1,000 positions of the data:
    /// stockfish, or "cmd=stockfish nodes=5000" with the keys of `match --engine` [default limit: 1000 nodes]
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,

    /// Write the counts to this file, in the JSON of Stockfish's scoreWDLstat
    #[arg(long, value_name = "FILE")]
    histogram: Option<PathBuf>,

    /// Add the counts of a file that --histogram or scoreWDLstat wrote; may be given several times
    #[arg(long, value_name = "FILE")]
    merge: Vec<PathBuf>,
}

/// Variable of the model's rows.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rows {
    /// Material of both sides
    Material,
    /// Move number
    Move,
}

impl From<Rows> for By {
    fn from(rows: Rows) -> By {
        match rows {
            Rows::Material => By::Material,
            Rows::Move => By::Move,
        }
    }
}

fn range(text: &str) -> std::result::Result<RangeInclusive<u16>, &'static str> {
    let ends = text.split_once("..").and_then(|(low, high)| {
        Some((low.trim().parse::<u16>().ok()?, high.trim_start_matches('=').trim().parse::<u16>().ok()?))
    });
    match ends {
        Some((low, high)) if low <= high => Ok(low..=high),
        _ => Err("must be two numbers such as 1..120, the lower first"),
    }
}

pub fn run(args: &ModelArgs, ui: &Ui) -> Result<Status> {
    let bounds = bounds(args)?;
    let inputs = args.inputs.open(args.merge.is_empty(), ui)?;
    if let Some(path) = &args.histogram {
        check_new_output(path, inputs.datasets.iter().chain(&inputs.games).chain(&args.merge), "inputs")?;
    }
    let rules = Counting {
        bin: Bin { width: args.bin, single_precision: args.single_precision },
        merge: args.merge.clone(),
        samples: args.engine.is_some(),
    };
    let mut reading = Reading::new(&inputs, ui);
    let Counted { histogram, counts, sample } = inputs.count(&rules, &mut |event| reading.see(event))?;
    if let Some(path) = &args.histogram {
        histogram.save(path)?;
    }
    let target = args.target.map_or(bounds.by.target(), f64::from);
    let table = WdlTable::new(&histogram, bounds);
    let fitted = fit(&table, target, None).map_err(|error| match error {
        Error::Input(reason) => Error::data(inputs.name(), reason),
        other => other,
    })?;
    if !fitted.valid {
        ui.warn("a or b falls to 0 or below within the range; narrow it, or give more games");
    }
    if let Some(folder) = &args.inputs.svg {
        for path in draw_model(folder, &fitted, &table)? {
            ui.note(format_args!("drawn: {}", path.display()));
        }
    }
    let check = args.engine.as_ref();
    let check = check.map(|engine| Check::new(engine, &sample, (&fitted.model, &table), ui)).transpose()?;
    let report = Report { check, ..Report::new(&fitted, &table, counts) };
    ui.result_beside_all(args.histogram.as_deref(), &report)
}

fn bounds(args: &ModelArgs) -> Result<Bounds> {
    check_named_once(&args.merge)?;
    let undo = match args.normalized_by[..] {
        [] => None,
        [constant] => Some([0.0, 0.0, 0.0, constant]),
        [a3, a2, a1, a0] => Some([a3, a2, a1, a0]),
        _ => return Err(Error::usage("--normalized-by takes one number or four")),
    };
    let sum = undo.map(|a| a.iter().sum::<f64>());
    if sum.is_some_and(|sum| sum.is_nan() || sum <= 0.0) {
        return Err(Error::usage("--normalized-by: the coefficients must have a sum above 0"));
    }
    Ok(Bounds {
        by: args.by.into(),
        score: args.max_score,
        moves: args.moves.clone(),
        material: args.material.clone(),
        least: args.min_count,
        undo: undo.map(|a| WdlModel { a, b: [0.0; 4], target: 58.0 }),
    })
}

#[derive(Debug, Serialize)]
struct Report {
    a: [f64; 4],
    b: [f64; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    material_target: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    move_target: Option<f64>,
    /// Mean negative log-likelihood per position, in nats.
    objective: f64,
    normalize_to_pawn_value: f64,
    spread: f64,
    draw_rate: f64,
    positions: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    passes: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
    #[serde(flatten)]
    counts: ReadCounts,
    #[serde(skip)]
    model: WdlModel,
    #[serde(skip)]
    rows: Vec<u16>,
    #[serde(skip)]
    by: By,
}

impl Report {
    fn new(fitted: &FittedModel, table: &WdlTable, mut counts: ReadCounts) -> Report {
        for (reason, count) in &table.dropped {
            counts.drop(reason, *count);
        }
        let model = fitted.model;
        let [wins, draws, losses] = table.counts;
        let by = table.bounds.by;
        let (low, high) = table.seen_rows().into_inner();
        let target = Some(model.target);
        Report {
            a: model.a,
            b: model.b,
            material_target: target.filter(|_| by == By::Material),
            move_target: target.filter(|_| by == By::Move),
            objective: fitted.objective,
            normalize_to_pawn_value: model.normalize_to_pawn_value(),
            spread: model.spread(),
            draw_rate: model.draw_rate(),
            positions: table.positions(),
            wins,
            draws,
            losses,
            passes: fitted.passes,
            check: None,
            counts,
            model,
            rows: (0..=4).map(|i| low + ((high - low) * i + 2) / 4).collect(),
            by,
        }
    }

    fn write_counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |reasons: &BTreeMap<&str, u64>| -> String {
            reasons.iter().map(|(reason, n)| format!(", {reason} {}", grouped(*n))).collect()
        };
        let counts = &self.counts;
        if counts.games > 0 {
            writeln!(f, "games      {}", games_read(counts))?;
        }
        let counted = [self.positions, self.wins, self.draws, self.losses].map(grouped);
        let [positions, wins, draws, losses] = counted;
        write!(f, "positions  {positions} fitted: {wins} wins, {draws} draws, {losses} losses")?;
        write!(f, " for the side to move")?;
        let left = list(&counts.dropped);
        if !left.is_empty() {
            write!(f, "\nleft out   {}", left.trim_start_matches(", "))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.by == By::Material { "material" } else { "move" };
        let (target, pawn) = (self.model.target, self.normalize_to_pawn_value);
        let list = |c: &[f64; 4]| c.map(|c| format!("{c:.8}")).join(", ");
        write!(f, "NormalizeToPawnValue  {pawn:.0} ({pawn:.4}), a at {what} {target}: ")?;
        writeln!(f, "wins half of the games")?;
        writeln!(f, "spread                {:.0} ({:.4}), b there", self.spread, self.spread)?;
        writeln!(f, "draw rate             {:.4} at a score of 0 there", self.draw_rate)?;
        let Report { objective, passes, .. } = self;
        writeln!(f, "objective             {objective:.10} nats a position, {passes} passes\n")?;
        self.write_counts(f)?;
        writeln!(f, "\n{what:>10}  {:>8}  {:>8}  {:>12}", "a", "b", "draws at 0")?;
        for &row in &self.rows {
            let (a, b) = self.model.at(f64::from(row));
            let [_, draw, _] = self.model.chances(f64::from(row), 0.0);
            writeln!(f, "{row:>10}  {a:>8.2}  {b:>8.2}  {draw:>12.4}")?;
        }
        if let Some(check) = &self.check {
            write!(f, "{check}")?;
        }
        let (a, b) = (list(&self.a), list(&self.b));
        writeln!(f, "\nCoefficients in {what} / {target}, highest power first:")?;
        writeln!(f, "C     static const double as[] = {{{a}}};\n      static const double bs[] = {{{b}}};")?;
        write!(f, "Rust  const AS: [f64; 4] = [{a}];\n      const BS: [f64; 4] = [{b}];")
    }
}
