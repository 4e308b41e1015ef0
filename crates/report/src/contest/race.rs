//! A race: bounds of each candidate, games allotted over time, and regret.

use super::results::Contest;
use crate::figure::{Drawing, Figure};
use crate::plot::{Curves, Legend};
use crate::scale::ScaleKind;
use crate::section::{Part, Section};
use crate::style::{BLUE, GREEN, ORANGE, PURPLE};
use crate::table::{Cell, Table};
use patzer_experiments::race::{Evidence, Meetings, RaceSettings};

const COLOURS: [plotters::style::RGBColor; 4] = [BLUE, GREEN, ORANGE, PURPLE];

/// Maximum number of points of a curve.
const POINTS: usize = 200;

pub(super) fn race(section: &mut Section, contest: &Contest, settings: &RaceSettings) {
    let mut meetings = Meetings::new(settings.players());
    for pair in &contest.pairs {
        meetings.add(pair.players, pair.half_points.iter().map(|points| usize::from(*points)).sum());
    }
    if meetings.pairs() == 0 {
        return;
    }
    let evidence = Evidence::from_meetings(*settings, &meetings);
    let (leader, best) = (evidence.leader(), evidence.best());
    section.measure("winner", "winner", Cell::text(&contest.players[leader]));
    section.measure("probability", "probability of being best, %", Cell::number(100.0 * best[leader], 1));
    let mut part = Part::new("Race");
    part.table(bounds(contest, &evidence, &best));
    let over = settings.anchor().map_or("the winner".into(), |anchor| contest.players[anchor].clone());
    part.say(format!(
        "Elo over {over}; all bounds hold together with {:.0} %, at any time.",
        100.0 * settings.confidence
    ));
    part.add(allocation(contest, settings));
    part.add(regret(contest, &evidence));
    section.part(part);
}

fn bounds(contest: &Contest, evidence: &Evidence, best: &[f64]) -> Table {
    let settings = evidence.settings();
    let reference = settings.anchor().unwrap_or(evidence.leader());
    let mut table = Table::new(&["candidate", "Elo", "from", "to", "best, %"]);
    let mut order: Vec<usize> = (0..settings.candidates).collect();
    order.sort_by(|a, b| evidence.elo([*b, *a]).total_cmp(&0.0));
    let number = |value: f64| match value.is_finite() {
        true => Cell::number(value, 1),
        false => Cell::text("unbounded"),
    };
    for candidate in order {
        let [low, high] = evidence.interval([candidate, reference]);
        let elo = [evidence.elo([candidate, reference]), low, high].map(number);
        let best = Cell::number(100.0 * best[candidate], 1);
        table.row(std::iter::once(Cell::text(&contest.players[candidate])).chain(elo).chain([best]));
    }
    table
}

fn allocation(contest: &Contest, settings: &RaceSettings) -> Figure {
    let candidates = settings.candidates;
    let mut games = vec![0u64; settings.players()];
    let mut rows: Vec<(f64, Vec<u64>)> = Vec::new();
    for (at, pair) in contest.pairs.iter().enumerate() {
        pair.players.iter().for_each(|player| games[*player] += 2);
        if contest.has_point(at, POINTS) {
            rows.push((2.0 * (at + 1) as f64, games[..candidates].to_vec()));
        }
    }
    let mut order: Vec<usize> = (0..candidates).collect();
    order.sort_by_key(|candidate| std::cmp::Reverse(games[*candidate]));
    let last = rows.last().map_or(0.0, |(x, _)| *x);
    let ends = [(0.0, 0.0), (last, games[order[0]] as f64)];
    let mut curves = Curves::around("games", "games of the candidate", ends.into_iter()).of_counts();
    curves.axes.scales[1] = ScaleKind::Whole;
    for (candidate, colour) in order.iter().zip(COLOURS) {
        let points = rows.iter().map(|(x, games)| (*x, games[*candidate] as f64)).collect();
        curves = curves.line(&contest.players[*candidate], colour, points);
    }
    curves.legend = Legend::Within(plotters::prelude::SeriesLabelPosition::UpperLeft);
    let head: Vec<&str> =
        std::iter::once("games").chain(contest.players[..candidates].iter().map(String::as_str)).collect();
    let mut data = Table::new(&head);
    for (x, games) in &rows {
        data.row(std::iter::once(Cell::exact(*x)).chain(games.iter().map(|games| Cell::Count(*games))));
    }
    let caption = "Games allotted over time; the four candidates with the most are drawn.";
    Figure::new("race-allocation", "Allocation", caption, Drawing::Curves(curves)).with_data(data)
}

/// Draws the points lost in games of weaker candidates, by the final strengths.
fn regret(contest: &Contest, evidence: &Evidence) -> Figure {
    let (mut sum, mut points) = (0.0, vec![(0.0, 0.0)]);
    for (at, pair) in contest.pairs.iter().enumerate() {
        sum += 2.0 * evidence.regret(pair.players);
        if contest.has_point(at, POINTS) {
            points.push((2.0 * (at + 1) as f64, sum));
        }
    }
    let uniform = evidence.uniform_regret();
    let even: Vec<(f64, f64)> = points.iter().map(|(games, _)| (*games, games * uniform)).collect();
    let mut curves = Curves::around("games", "points lost", points.iter().chain(&even).copied()).of_counts();
    curves.legend = Legend::Within(plotters::prelude::SeriesLabelPosition::UpperLeft);
    let curves = curves.line("equal games", ORANGE, even.clone()).line("this race", BLUE, points.clone());
    let mut data = Table::new(&["games", "points lost", "with equal games"]);
    for ((games, lost), (_, even)) in points.iter().zip(&even) {
        data.row([*games, *lost, *even].map(Cell::exact));
    }
    let caption =
        "Points that the best candidate would have scored beyond those allotted, by the final strengths.";
    Figure::new("race-regret", "Regret", caption, Drawing::Curves(curves)).with_data(data)
}
