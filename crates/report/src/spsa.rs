//! The report section of a tuning by games: the course of every parameter.

use std::sync::Arc;

use super::figure::{Drawing, Figure};
use super::plot::{Band, Curves, Level};
use super::section::{Part, Section, SectionKind};
use super::style::{BLUE, PURPLE};
use super::table::{Cell, Table};
use patzer_experiments::spsa::{SpsaState, Tuner, Tuning, Value};
use patzer_match::Standings;
use patzer_match::record::PairEntry;
use patzer_stats::Trinomial;

/// Maximum number of points of a course.
const POINTS: usize = 400;
/// Maximum number of parameters with a figure; the table has all.
const FIGURES: usize = 64;

/// The section of a tuning, replayed from the results of its journal.
pub fn section(name: &str, tuning: Tuning, entries: &[PairEntry]) -> Section {
    let tuner = Arc::new(Tuner::new(tuning));
    let mut state = SpsaState::new(tuner);
    let mut course = vec![(0.0, state.now())];
    let step = (entries.len() / POINTS).max(1);
    for (at, entry) in entries.iter().enumerate() {
        state.add(entry);
        if (at + 1) % step == 0 || at + 1 == entries.len() {
            course.push((state.games() as f64, state.now()));
        }
    }
    let mut section = Section::new(name, SectionKind::Weights);
    let now = state.now();
    section.summary = format!("SPSA of {} parameters by games of an engine against itself.", now.len());
    let Trinomial { wins, draws, losses } = state.tally().games;
    section.measure("games", "games", state.games());
    section.measure("iterations", "iterations", state.iterations() as u64);
    section.measure("planned", "iterations of the schedule", state.planned() as u64);
    section.measure("parameters", "parameters", now.len() as u64);
    section.measure(
        "beyond_chance",
        "parameters beyond chance",
        now.iter().filter(|now| is_beyond(now)).count() as u64,
    );
    section.measure(
        "draws",
        "share of draws, %",
        Cell::number(100.0 * draws as f64 / (wins + draws + losses).max(1) as f64, 1),
    );
    section.part(values(&now));
    section.part(courses(&now, &course));
    section
}

fn is_beyond(now: &Value) -> bool {
    (now.value - now.param.start).abs() > now.noise
}

fn values(now: &[Value]) -> Part {
    let mut part = Part::new("Values");
    part.say(
        "± chance is 95 % of how far results that say nothing would have moved a value: 1.96 times the root of the \
         sum of its squared moves.",
    );
    let mut table =
        Table::new(&["parameter", "start", "value", "± chance", "beyond chance", "least", "most"]);
    for now in now {
        table.row([
            Cell::text(&now.param.name),
            Cell::exact(now.param.start),
            Cell::number(now.value, 3),
            Cell::number(now.noise, 3),
            Cell::text(if is_beyond(now) { "yes" } else { "" }),
            Cell::exact(now.param.min),
            Cell::exact(now.param.max),
        ]);
    }
    part.table(table);
    part
}

fn courses(now: &[Value], course: &[(f64, Vec<Value>)]) -> Part {
    let mut part = Part::new("Courses");
    let mut order: Vec<usize> = (0..now.len()).collect();
    if order.len() > FIGURES {
        let moved = |at: &usize| (now[*at].value - now[*at].param.start).abs() / now[*at].noise.max(1e-9);
        order.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
        order.truncate(FIGURES);
        order.sort_unstable();
        part.say(format!("The {FIGURES} parameters that moved farthest beyond chance."));
    }
    for at in order {
        let points: Vec<(f64, f64)> = course.iter().map(|(games, now)| (*games, now[at].value)).collect();
        let start = now[at].param.start;
        let band: Vec<_> = course
            .iter()
            .map(|(games, now)| (*games, start - now[at].noise, start + now[at].noise))
            .collect();
        let ends = band.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]);
        let mut curves = Curves::around("games", "value", points.iter().copied().chain(ends)).of_counts();
        curves.bands.push(Band { colour: PURPLE, points: band });
        curves.levels.push(Level { label: String::new(), y: start, colour: PURPLE });
        let name = &now[at].param.name;
        let caption = "The band is the 95 % interval of chance around the start.";
        let drawing = Drawing::Curves(curves.line("", BLUE, points));
        part.add(Figure::new(&format!("course-{name}"), name, caption, drawing));
    }
    part
}
