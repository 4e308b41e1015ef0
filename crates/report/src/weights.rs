//! The report section of tuned weights.
//!
//! Names such as `psqt.knight[e4] midgame` decide how weights are drawn, for any engine: 64 squares as a board, a list
//! as a curve, all else as rows.

use std::path::Path;

use shakmaty::Square;

use super::csv_table::{CsvRow, CsvTable};
use super::evaluation::EvaluationReport;
use super::figure::{Drawing, Figure};
use super::log::{self, Log};
use super::plot::{Band, Curves};
use super::section::{OrMissing, Part, Section, SectionKind};
use super::squares::Squares;
use super::style::{BLUE, ORANGE};
use super::table::{Cell, Table};
use patzer_io::error::Result;

/// A row of `weights.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    /// Name, such as `psqt.knight[e4] midgame`.
    pub name: String,
    /// Value before the fit, in centipawns.
    pub before: Option<f64>,
    /// Value after the fit, in centipawns.
    pub after: f64,
    /// Standard error in centipawns.
    pub error: Option<f64>,
    /// Number of positions in which it counts.
    pub positions: Option<u64>,
    /// Set for a weight that was not tuned.
    pub fixed: bool,
}

/// Tuned weights for their section.
pub struct Weights {
    /// Weights in the order of the file.
    pub weights: Vec<Weight>,
    /// K of the sigmoid.
    pub k: Option<f64>,
    /// Losses and learning rates by epoch.
    pub log: Log,
    /// Training and validation loss before the fit.
    pub before: [Option<f64>; 2],
    /// Their values on positions.
    pub evaluation: OrMissing<EvaluationReport>,
}

/// Reads `weights.csv`; unknown columns are ignored.
pub fn read(path: &Path) -> Result<Vec<Weight>> {
    let table = CsvTable::read(path)?;
    let (name, before, after) = (table.needed("name")?, table.needed("before")?, table.needed("after")?);
    let (error, positions) = (table.needed("standard_error")?, table.needed("positions")?);
    let fixed = table.needed("fixed")?;
    let read = |row: CsvRow<'_>| {
        Ok(Weight {
            name: row.text(name).to_string(),
            before: row.number(before)?,
            after: row.required(after)?,
            error: row.number(error)?,
            positions: row.number(positions)?.map(|count| count as u64),
            fixed: row.text(fixed) == "true",
        })
    };
    table.rows().map(read).collect()
}

/// The section of tuned weights.
pub fn section(name: &str, data: &Weights) -> Section {
    let mut section = Section::new(name, SectionKind::Weights);
    let tuned = data.weights.iter().filter(|weight| !weight.fixed && weight.before.is_some()).count();
    section.measure("weights", "weights", data.weights.len() as u64);
    if tuned > 0 {
        section.measure("parameters", "of these tuned", tuned as u64);
    }
    if let Some(k) = data.k {
        section.measure("k", "K", Cell::number(k, 4));
    }
    let before =
        [("train_loss_before", "training loss before"), ("validation_loss_before", "validation loss before")];
    for ((key, label), loss) in before.into_iter().zip(data.before) {
        if let Some(loss) = loss {
            section.measure(key, label, Cell::number(loss, 7));
        }
    }
    log::measures(&mut section, &data.log);
    if let Ok(evaluation) = &data.evaluation {
        evaluation.measures(&mut section);
    }
    log::part("Fit", &data.log).into_iter().for_each(|part| section.part(part));
    let terms = terms(&data.weights);
    section.part(single_values(&terms));
    section.part(boards(&terms));
    section.part(lists(&terms));
    section.part(other_tables(&terms));
    add_evaluation(&mut section, &data.evaluation, |part, evaluation| {
        evaluation.by_phase().into_iter().for_each(|figure| part.add(figure));
    });
    section
}

pub(super) fn add_evaluation(
    section: &mut Section,
    evaluation: &OrMissing<EvaluationReport>,
    more: impl FnOnce(&mut Part, &EvaluationReport),
) {
    let mut part = Part::new("Against positions");
    match evaluation {
        Ok(evaluation) => {
            part.say(format!("{}.", evaluation.what));
            more(&mut part, evaluation);
            part.add(evaluation.against_results());
            evaluation.against_scores().into_iter().for_each(|figure| part.add(figure));
            section.part(part);
            section.part(evaluation.moves.part());
            section.part(evaluation.worst(12));
        }
        Err(reason) => {
            part.missing(format!("No residuals and no positions: {reason}."));
            section.part(part);
        }
    }
}

/// Weights of one name, such as `psqt.knight`.
struct Term<'a> {
    name: &'a str,
    /// Halves, `midgame`, `endgame` or nameless, with the weights by the text in brackets.
    halves: Vec<(&'a str, Vec<(&'a str, &'a Weight)>)>,
}

/// Splits `psqt.knight[e4] midgame` into name, `e4` and `midgame`.
fn split(name: &str) -> (&str, &str, &str) {
    let (name, half) = match name.rsplit_once(' ') {
        Some((name, half)) if matches!(half, "midgame" | "endgame") => (name, half),
        _ => (name, ""),
    };
    match name.split_once('[').and_then(|(name, entry)| Some((name, entry.strip_suffix(']')?))) {
        Some((name, entry)) => (name, entry, half),
        None => (name, "", half),
    }
}

fn terms(weights: &[Weight]) -> Vec<Term<'_>> {
    let mut terms: Vec<Term<'_>> = Vec::new();
    for weight in weights {
        let (name, entry, half) = split(&weight.name);
        if terms.last().is_none_or(|term| term.name != name) {
            terms.push(Term { name, halves: Vec::new() });
        }
        let Some(term) = terms.last_mut() else { continue };
        match term.halves.iter_mut().find(|(known, _)| *known == half) {
            Some((_, entries)) => entries.push((entry, weight)),
            None => term.halves.push((half, vec![(entry, weight)])),
        }
    }
    terms
}

fn square(name: &str) -> Option<usize> {
    name.parse().ok().map(Square::to_usize)
}

impl Term<'_> {
    fn is_single(&self) -> bool {
        self.halves.iter().all(|(_, entries)| entries.len() == 1)
    }

    fn is_board(&self) -> bool {
        let all = |entries: &Vec<(&str, &Weight)>| entries.iter().all(|(entry, _)| square(entry).is_some());
        self.halves.iter().all(|(_, entries)| entries.len() > 8 && all(entries))
    }

    fn is_list(&self) -> bool {
        let all =
            |entries: &Vec<(&str, &Weight)>| entries.iter().all(|(entry, _)| entry.parse::<u32>().is_ok());
        self.halves.iter().all(|(_, entries)| entries.len() > 2 && all(entries))
    }

    fn title(&self, half: &str) -> String {
        if half.is_empty() { self.name.to_string() } else { format!("{} {half}", self.name) }
    }
}

fn cells(weight: &Weight) -> [Cell; 3] {
    let number = |value: Option<f64>, decimals| value.map_or(Cell::Nothing, |v| Cell::number(v, decimals));
    [number(weight.before, 0), Cell::number(weight.after, 1), number(weight.error, 1)]
}

fn exact(weight: &Weight) -> [Cell; 4] {
    let count = weight.positions.map_or(Cell::Nothing, Cell::Count);
    [Cell::known(weight.before), Cell::exact(weight.after), Cell::known(weight.error), count]
}

fn single_values(terms: &[Term<'_>]) -> Part {
    let mut part = Part::new("Single weights");
    let mut table = Table::new(&["", "midgame before", "now", "±", "endgame before", "now", "±"]);
    for term in terms.iter().filter(|term| term.is_single()) {
        let half = |name: &str| {
            let of = |(known, _): &&(&str, Vec<(&str, &Weight)>)| {
                *known == name || (known.is_empty() && name == "midgame")
            };
            let found = term.halves.iter().find(of);
            found.map_or([Cell::Nothing, Cell::Nothing, Cell::Nothing], |(_, entries)| cells(entries[0].1))
        };
        let values = half("midgame").into_iter().chain(half("endgame"));
        table.row(std::iter::once(Cell::text(term.name)).chain(values));
    }
    part.table(table);
    part
}

fn boards(terms: &[Term<'_>]) -> Part {
    let mut part = Part::new("Tables by square");
    let boards: Vec<&Term<'_>> = terms.iter().filter(|term| term.is_board()).collect();
    if boards.is_empty() {
        return part;
    }
    part.say("From the piece's own side, in centipawns, with standard errors where they are known; blue is good for the piece's side.");
    for term in boards {
        let all = || term.halves.iter().flat_map(|(_, entries)| entries);
        let deepest = all().map(|(_, weight)| weight.after.abs()).fold(1.0, f64::max);
        for (half, entries) in &term.halves {
            let place = |value: fn(&Weight) -> Option<f64>| {
                let mut values = vec![None; 64];
                let known = entries.iter().filter_map(|(entry, weight)| Some((square(entry)?, weight)));
                known.for_each(|(square, weight)| values[square] = value(weight));
                values
            };
            let id = term.title(half);
            let mut data = Table::new(&["square", "before", "now", "standard error", "positions"]);
            for (entry, weight) in entries {
                data.row(std::iter::once(Cell::text(*entry)).chain(exact(weight)));
            }
            // A tuning from zero has no board of values before it.
            let before = place(|weight| weight.before);
            if before.iter().flatten().any(|value| *value != 0.0) {
                let deepest = before.iter().flatten().fold(deepest, |most, value| most.max(value.abs()));
                let squares = Squares { values: before, below: Vec::new(), deepest, root: false };
                let title = format!("{}, before", term.title(half));
                part.add(Figure::new(&format!("{id}-before"), &title, "", Drawing::Squares(squares)));
            }
            let (values, below) = (place(|weight| Some(weight.after)), place(|weight| weight.error));
            let squares = Squares { values, below, deepest, root: false };
            part.add(Figure::new(&id, &term.title(half), "", Drawing::Squares(squares)).with_data(data));
        }
    }
    part
}

fn lists(terms: &[Term<'_>]) -> Part {
    let mut part = Part::new("Lists");
    for term in terms.iter().filter(|term| !term.is_single() && term.is_list()) {
        let mut data = Table::new(&["entry", "half", "before", "now", "standard error", "positions"]);
        let (mut lines, mut bands) = (Vec::new(), Vec::new());
        for ((half, entries), colour) in term.halves.iter().zip([BLUE, ORANGE]) {
            let x = |entry: &str| entry.parse().unwrap_or(0.0);
            let points: Vec<_> = entries.iter().map(|(entry, w)| (x(entry), w.after)).collect();
            lines.push((*half, colour, points));
            let around =
                |(entry, w): &(&str, &Weight)| Some((x(entry), w.after - w.error?, w.after + w.error?));
            let points: Vec<(f64, f64, f64)> = entries.iter().filter_map(around).collect();
            bands.push(Band { colour, points });
            for (entry, weight) in entries {
                data.row([Cell::exact(x(entry)), Cell::text(*half)].into_iter().chain(exact(weight)));
            }
        }
        // Only the values set the limits: those without positions have huge errors.
        let points = lines.iter().flat_map(|(_, _, points)| points.iter().copied());
        let mut curves = Curves::around("entry", "centipawns", points).roomy().of_counts();
        let (low, high) = (curves.axes.y_range.start, curves.axes.y_range.end);
        for band in &mut bands {
            band.points.iter_mut().for_each(|p| (p.1, p.2) = (p.1.clamp(low, high), p.2.clamp(low, high)));
        }
        curves.bands = bands.into_iter().filter(|band| band.points.len() > 1).collect();
        let curves = lines.into_iter().fold(curves, |curves, (half, colour, points)| {
            curves.line(if half.is_empty() { "value" } else { half }, colour, points)
        });
        part.add(Figure::new(term.name, term.name, "", Drawing::Curves(curves)).with_data(data));
    }
    part
}

fn other_tables(terms: &[Term<'_>]) -> Part {
    let mut part = Part::new("Other tables");
    let mut table = Table::new(&["weight", "before", "now", "±"]);
    for term in terms.iter().filter(|term| !term.is_single() && !term.is_board() && !term.is_list()) {
        for (_, weight) in term.halves.iter().flat_map(|(_, entries)| entries) {
            table.row(std::iter::once(Cell::text(&weight.name)).chain(cells(weight)));
        }
    }
    if !table.is_empty() {
        part.items.push(super::section::Item::Folded(format!("{} weights", table.rows.len()), table));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Missing;

    #[test]
    fn names_split_into_term_entry_and_half() {
        assert_eq!(split("psqt.knight[e4] midgame"), ("psqt.knight", "e4", "midgame"));
        assert_eq!(split("pawns.doubled[1][3] endgame"), ("pawns.doubled", "1][3", "endgame"));
        assert_eq!(split("tempo"), ("tempo", "", ""));
        assert_eq!((square("a1"), square("h8"), square("i1"), square("12")), (Some(0), Some(63), None, None));
    }

    #[test]
    fn weights_are_drawn_as_boards_lists_and_single_values() {
        let weight = |name: String, after: f64| Weight {
            name,
            before: Some(0.0),
            after,
            error: Some(1.0),
            positions: Some(3),
            fixed: false,
        };
        let mut weights: Vec<Weight> = (0..64)
            .map(|s| weight(format!("t.knight[{}] midgame", crate::figure::square_name(s)), s as f64))
            .collect();
        weights.extend((0..4).map(|i| weight(format!("t.list[{i}]"), f64::from(i))));
        weights.push(weight("t.single".into(), 7.0));
        let data = Weights {
            weights,
            k: Some(1.0),
            log: Log::default(),
            before: [None; 2],
            evaluation: Err(Missing("no data".into())),
        };
        let section = section("x", &data);
        let titles: Vec<&str> = section.parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["Single weights", "Tables by square", "Lists", "Against positions"]);
        let figures: Vec<&str> = section.figures().map(|figure| figure.id.as_str()).collect();
        assert_eq!(figures, ["t-knight-midgame", "t-list"]);
        let board = section.figures().next().unwrap();
        assert_eq!(board.data.rows[63][2], Cell::exact(63.0));
    }
}
