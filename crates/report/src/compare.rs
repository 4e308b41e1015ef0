//! Compares several runs of a kind: a table with differences to the first run, and the losses in one plot.

use super::figure::{Drawing, Figure};
use super::plot::{Curves, Mark};
use super::section::{Part, Section, SectionKind};
use super::style::{BLUE, GREEN, ORANGE, PURPLE};
use super::table::{Cell, Table};

/// Parts that compare each kind of run of which there are several; empty if there are none.
pub fn compare(sections: &[Section]) -> Vec<Part> {
    let kinds = [
        SectionKind::Dataset,
        SectionKind::Weights,
        SectionKind::Network,
        SectionKind::Moves,
        SectionKind::Match,
    ];
    kinds.iter().filter_map(|kind| of_kind(sections, *kind)).collect()
}

fn of_kind(sections: &[Section], kind: SectionKind) -> Option<Part> {
    let runs: Vec<&Section> = sections.iter().filter(|section| section.kind == kind).collect();
    let [first, others @ ..] = &runs[..] else { return None };
    if others.is_empty() {
        return None;
    }
    let plural = match kind {
        SectionKind::Dataset => "Datasets",
        SectionKind::Weights => "Tunings",
        SectionKind::Network => "Networks",
        SectionKind::Moves => "Models of moves",
        SectionKind::Match => "Matches",
    };
    let mut part = Part::new(&format!("{plural} compared"));
    part.say(format!("In brackets: the difference to {}.", first.name));
    part.table(measures(first, others));
    if let Some(figure) = losses(&runs, kind) {
        part.add(figure);
    }
    Some(part)
}

fn measures(first: &Section, others: &[&Section]) -> Table {
    let mut table = Table::new(&["", first.name.as_str()]);
    table.head.extend(others.iter().map(|run| run.name.clone()));
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for measure in std::iter::once(first).chain(others.iter().copied()).flat_map(|run| &run.measures) {
        if !keys.iter().any(|(key, _)| *key == measure.key) {
            keys.push((measure.key, measure.label));
        }
    }
    for (key, label) in keys {
        let of = |run: &Section| {
            run.measures.iter().find(|m| m.key == key).map_or(Cell::Nothing, |m| m.value.clone())
        };
        let base = of(first);
        let row = others.iter().map(|run| difference(&of(run), &base));
        table.row([Cell::text(label), base.clone()].into_iter().chain(row));
    }
    table
}

/// A value with its difference to `base` in brackets.
fn difference(cell: &Cell, base: &Cell) -> Cell {
    let (Some(value), Some(from)) = (cell.value(), base.value()) else { return cell.clone() };
    let change = value - from;
    let change = match (cell, base) {
        (Cell::Number(_, Some(decimals)), _) | (_, Cell::Number(_, Some(decimals))) => {
            format!("{change:+.decimals$}")
        }
        (Cell::Number(..), _) | (_, Cell::Number(..)) => format!("{change:+}"),
        _ => {
            let size = patzer_io::number::grouped(change.abs() as u64);
            format!("{}{size}", if change < 0.0 { "-" } else { "+" })
        }
    };
    Cell::text(format!("{} ({change})", cell.shown()))
}

/// Draws the validation losses, or the training losses of runs without any.
fn losses(runs: &[&Section], kind: SectionKind) -> Option<Figure> {
    if !matches!(kind, SectionKind::Weights | SectionKind::Network) {
        return None;
    }
    let mut found = Vec::new();
    for (run, colour) in runs.iter().zip([BLUE, ORANGE, GREEN, PURPLE].into_iter().cycle()) {
        let Some(figure) = run.figures().find(|figure| figure.id == "losses") else { continue };
        let Drawing::Curves(curves) = &figure.drawing else { continue };
        let lines = || curves.series.iter().filter(|series| series.mark == Mark::Line);
        let line = lines().find(|series| series.label == "validation").or_else(|| lines().next());
        found.extend(line.map(|line| (run.name.clone(), colour, line.points.clone())));
    }
    if found.len() < 2 {
        return None;
    }
    let points = found.iter().flat_map(|(_, _, points)| points.iter().copied());
    let curves =
        Curves::around("epoch", "loss", points.clone()).of_counts().log(points.map(|(_, loss)| loss));
    let add = |curves: Curves, (name, colour, points): (String, _, _)| curves.line(&name, colour, points);
    let curves = found.into_iter().fold(curves, add);
    let id = format!("losses-{}", kind.name());
    let caption = "Loss on the positions held out; where none are, of training. Comparable where data and target are the same.";
    Some(Figure::new(&id, "Losses", caption, Drawing::Curves(curves)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_compared_with_the_first_of_their_kind() {
        let run = |name: &str, kind, elo: f64, games: u64| {
            let mut section = Section::new(name, kind);
            section.measure("elo", "Elo", Cell::number(elo, 1));
            section.measure("games", "games", games);
            section
        };
        let mut b = run("b", SectionKind::Match, 3.25, 900);
        b.measure("llr", "LLR", Cell::number(2.0, 2));
        let runs = [run("a", SectionKind::Match, 1.0, 12_000), run("d", SectionKind::Dataset, 0.0, 1), b];
        let parts = compare(&runs);
        assert_eq!(parts.len(), 1);
        let crate::section::Item::Table(table) = &parts[0].items[1] else { panic!() };
        assert_eq!(table.head, ["", "a", "b"]);
        let shown: Vec<Vec<String>> =
            table.rows.iter().map(|r| r.iter().map(Cell::shown).collect()).collect();
        assert_eq!(shown[0], ["Elo", "1.0", "3.2 (+2.2)"]);
        assert_eq!(shown[1], ["games", "12,000", "900 (-11,100)"]);
        assert_eq!(shown[2], ["LLR", "", "2.00"]);
    }
}
