use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::check::Check;
use super::{Reading, WdlArgs, games_read};
use crate::prepare::check_new_output;
use crate::{Error, Result, Status, Ui};
use patzer_fit::wdl::source::ReadCounts;
use patzer_fit::wdl::{Bin, Bounds, By, Counted, Counting, FittedModel, Inputs, WdlModel, WdlTable, fit};
use patzer_io::number::grouped;
use patzer_match::record::check_named_once;
use patzer_report::wdl::draw_model;

pub(super) fn run(args: &WdlArgs, inputs: &Inputs, ui: &Ui) -> Result<Status> {
    let bounds = bounds(args)?;
    if let Some(path) = &args.bounds.histogram {
        check_new_output(path, inputs.datasets.iter().chain(&inputs.games), "inputs")?;
    }
    let rules = Counting {
        bin: Bin { width: args.bounds.bin, single_precision: args.bounds.single_precision },
        merge: args.bounds.merge.clone(),
        samples: args.bounds.check.is_some(),
    };
    let mut reading = Reading::new(inputs, ui);
    let Counted { histogram, counts, sample } = inputs.count(&rules, &mut |event| reading.see(event))?;
    if let Some(path) = &args.bounds.histogram {
        histogram.save(path)?;
    }
    let target = args.bounds.target.map_or(bounds.by.target(), f64::from);
    let table = WdlTable::new(&histogram, bounds);
    let fitted = fit(&table, target, None).map_err(|error| match error {
        Error::Input(reason) => Error::data(inputs.name(), reason),
        other => other,
    })?;
    if !fitted.valid {
        ui.warn("a or b falls to 0 or below within the range; narrow it, or give more games");
    }
    if let Some(folder) = &args.svg {
        for path in draw_model(folder, &fitted, &table)? {
            ui.note(format_args!("drawn: {}", path.display()));
        }
    }
    let check = args.bounds.check.as_ref();
    let check = check.map(|engine| Check::new(engine, &sample, (&fitted.model, &table), ui)).transpose()?;
    let report = Report { check, ..Report::new(&fitted, &table, counts) };
    ui.result_beside_all(args.bounds.histogram.as_deref(), &report)
}

fn bounds(args: &WdlArgs) -> Result<Bounds> {
    let args = &args.bounds;
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
