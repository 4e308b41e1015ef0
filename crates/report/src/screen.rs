//! The report section of a screen: effects of all changes, their courses, and the changes that played over time.

use super::bars::{Bar, Bars};
use super::figure::{Drawing, Figure};
use super::plot::{Band, Curves, Level};
use super::scale::ScaleKind;
use super::section::{Part, Section, SectionKind};
use super::style::{BLUE, ORANGE, PURPLE};
use super::table::{Cell, Table};
use patzer_experiments::screen::{EffectRow, Planner, ScreenReport, ScreenState, Standing, effects};
use patzer_match::record::PairEntry;
use patzer_match::{RunSummary, Standings};

/// Maximum number of points of a course.
const POINTS: usize = 200;
/// Maximum number of changes with a course; the table has all.
const COURSES: usize = 24;

/// The section of a screen of these players, replayed from the results of its journal.
pub fn section(name: &str, planner: Planner, players: &[String], entries: &[PairEntry]) -> Section {
    let mut state = ScreenState::new(planner, players);
    let step = (entries.len() / POINTS).max(1);
    let mut course = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        state.add(entry);
        if (at + 1) % step == 0 || at + 1 == entries.len() {
            course.push((state.games() as f64, effects(state.planner())));
        }
    }
    let ended = RunSummary { games: 0, seconds: 0.0, discarded: 0, single_games: 0, complete: true };
    let report = state.report(&ended);
    let mut section = Section::new(name, SectionKind::Match);
    section.summary = summary(&report);
    section.measure("games", "games", report.games);
    for (standing, key, label) in [
        (Standing::Kept, "kept", "changes known to gain"),
        (Standing::Dropped, "dropped", "changes known not to be worth it"),
        (Standing::Open, "open", "changes that are open"),
    ] {
        let count = report.effects.iter().filter(|row| row.standing == standing).count();
        section.measure(key, label, count as u64);
    }
    section.measure("together", "chosen changes together, Elo", Cell::number(report.together, 1));
    section.part(results(&report));
    if !report.effects.is_empty() {
        section.part(courses(&report, &course));
    }
    section
}

fn summary(report: &ScreenReport) -> String {
    let factors = report.effects.len() + report.ranges.len();
    let chosen = match report.chosen.is_empty() {
        true => "none is known to gain".to_string(),
        false => format!("chosen: {}", report.chosen.join(", ")),
    };
    format!("Screen of {factors} changes in the same games; {chosen}.")
}

fn results(report: &ScreenReport) -> Part {
    let mut part = Part::new("Effects");
    if !report.effects.is_empty() {
        part.say(format!(
            "± is the 95 % interval of each change; from and to hold together with {:.0} %, at any time.",
            100.0 * report.confidence
        ));
        part.table(switches(report));
        let longest = report.effects.iter().map(|row| row.elo.abs()).fold(0.0, f64::max);
        let row = |row: &EffectRow| Bar {
            label: row.name.clone(),
            parts: vec![row.elo.clamp(0.0, longest), (-row.elo).clamp(0.0, longest)],
            text: format!("{:+.1} ± {:.1}", row.elo + 0.0, row.error),
        };
        let bars = report.effects.iter().map(row).collect();
        let bars = Bars::new("change", &[("gains Elo", BLUE), ("loses Elo", ORANGE)], bars);
        let caption = "Elo of each change, over both levels of the others.";
        part.add(Figure::new("screen-effects", "Effects", caption, Drawing::Bars(bars)));
    }
    if !report.ranges.is_empty() {
        part.table(ranges(report));
    }
    if !report.interactions.is_empty() {
        let mut table = Table::new(&["interaction", "Elo beyond the sum", "± 95 %", "from", "to"]);
        for row in &report.interactions {
            let numbers = [row.elo, row.error, row.low, row.high].map(|value| Cell::number(value, 1));
            table.row(std::iter::once(Cell::text(&row.name)).chain(numbers));
        }
        part.table(table);
    }
    part
}

fn switches(report: &ScreenReport) -> Table {
    let mut table = Table::new(&["change", "options", "Elo", "± 95 %", "from", "to", "games", "standing"]);
    for row in &report.effects {
        let numbers = [row.elo, row.error, row.low, row.high].map(|value| Cell::number(value, 1));
        let head = [Cell::text(&row.name), Cell::text(&row.change)];
        table.row(
            head.into_iter().chain(numbers).chain([Cell::Count(row.games), Cell::text(row.standing_text())]),
        );
    }
    table
}

fn ranges(report: &ScreenReport) -> Table {
    let head = ["range", "middle", "optimum", "from", "to", "Elo over the middle", "± 95 %", "games"];
    let mut table = Table::new(&head);
    for row in &report.ranges {
        let values = [row.values[1], row.optimum, row.low, row.high].map(|value| Cell::number(value, 3));
        let gains = [row.gain, row.error].map(|value| Cell::number(value, 1));
        let name = std::iter::once(Cell::text(&row.name));
        table.row(name.chain(values).chain(gains).chain([Cell::Count(row.games)]));
    }
    table
}

fn courses(report: &ScreenReport, course: &[(f64, Vec<EffectRow>)]) -> Part {
    let mut part = Part::new("Courses");
    part.add(open(course));
    let mut largest: Vec<&EffectRow> = report.effects.iter().collect();
    largest.sort_by(|a, b| b.elo.abs().total_cmp(&a.elo.abs()));
    if largest.len() > COURSES {
        part.say(format!("The {COURSES} largest effects."));
        largest.truncate(COURSES);
    }
    for row in largest {
        part.add(of_change(&row.name, course));
    }
    part
}

fn of_change(name: &str, course: &[(f64, Vec<EffectRow>)]) -> Figure {
    let rows: Vec<(f64, &EffectRow)> = course
        .iter()
        .filter_map(|(games, rows)| Some((*games, rows.iter().find(|row| row.name == name)?)))
        .collect();
    let points: Vec<(f64, f64)> = rows.iter().map(|(games, row)| (*games, row.elo)).collect();
    // Bounds of the first pairs would make all others look like a line.
    let last = rows.last().map_or(0.0, |(_, row)| 4.0 * (row.high - row.low));
    let within =
        |row: &EffectRow| [row.low, row.high].map(|bound| bound.clamp(row.elo - last, row.elo + last));
    let band: Vec<(f64, f64, f64)> =
        rows.iter().map(|(games, row)| (*games, within(row)[0], within(row)[1])).collect();
    let ends = band.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]);
    let mut curves = Curves::around("games", "Elo", ends.chain([(0.0, 0.0)])).of_counts();
    curves.bands.push(Band { colour: PURPLE, points: band });
    curves.levels.push(Level { label: String::new(), y: 0.0, colour: PURPLE });
    let caption = "The band holds at any time, together with the bands of all other changes.";
    Figure::new(&format!("effect-{name}"), name, caption, Drawing::Curves(curves.line("", BLUE, points)))
}

/// Draws the number of changes that play with both levels.
fn open(course: &[(f64, Vec<EffectRow>)]) -> Figure {
    let count = |rows: &[EffectRow]| rows.iter().filter(|row| row.standing == Standing::Open).count() as f64;
    let all = course.first().map_or(0.0, |(_, rows)| rows.len() as f64);
    let points: Vec<(f64, f64)> =
        std::iter::once((0.0, all)).chain(course.iter().map(|(games, rows)| (*games, count(rows)))).collect();
    let mut curves =
        Curves::around("games", "open changes", points.iter().copied().chain([(0.0, 0.0)])).of_counts();
    curves.axes.scales[1] = ScaleKind::Whole;
    let caption = "Changes that are decided leave the games, which then measure the others alone.";
    let drawing = Drawing::Curves(curves.line("", BLUE, points));
    Figure::new("screen-open", "Open changes", caption, drawing)
}
