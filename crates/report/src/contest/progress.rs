//! Elo and LLR of a two-player match by games played.

use std::ops::Range;

use super::results::Contest;
use crate::figure::{Drawing, Figure};
use crate::plot::{Band, Curves, Level};
use crate::section::Part;
use crate::style::{BLUE, GREEN, ORANGE, PURPLE};
use crate::table::{Cell, Table};
use patzer_stats::{Estimate, Sprt};

pub(super) const POINTS: usize = 400;

pub(super) fn progress(part: &mut Part, contest: &Contest) {
    let (mut elo, mut llr) = (Vec::new(), Vec::new());
    for (at, counts) in contest.counts().enumerate() {
        if !contest.has_point(at, POINTS) {
            continue;
        }
        let games = counts.games.games() as f64;
        let estimate = Estimate::new(counts.results());
        elo.push((games, estimate.elo, estimate.elo_error));
        llr.extend(contest.test.as_ref().map(|test| (games, counts.llr(test))));
    }
    if let Some(test) = &contest.test {
        part.add(llr_figure(test, llr));
    }
    part.add(elo_figure(&elo));
}

fn llr_figure(test: &Sprt, points: Vec<(f64, f64)>) -> Figure {
    let (lower, upper) = (test.lower(), test.upper());
    let bounds = points.first().into_iter().flat_map(|(x, _)| [(*x, lower), (*x, upper)]);
    let mut curves = Curves::around("games", "LLR", points.iter().copied().chain(bounds)).of_counts();
    curves.levels = vec![
        Level { label: format!("H1 {upper:.3}"), y: upper, colour: GREEN },
        Level { label: format!("H0 {lower:.3}"), y: lower, colour: ORANGE },
    ];
    let caption = format!("Logarithm of the likelihood ratio for {test}; the test ends at either line.");
    Figure::new("llr", "LLR", &caption, Drawing::Curves(curves.line("", BLUE, points)))
}

/// Points that the axes hold: all numbers of games, 0 Elo, the later pairs with their errors, and where an error is
/// unknown the Elo and as much again, at least 100. The first pairs are drawn, but do not widen the axis.
fn elo_bounds(elo: &[(f64, f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let late = elo[elo.len() / 12..].iter().filter(|(_, elo, _)| elo.is_finite());
    let ends = late.flat_map(|&(x, elo, error)| {
        let error = if error.is_finite() { error } else { elo.abs().max(100.0) };
        [(x, elo - error), (x, elo + error)]
    });
    let begin = elo.iter().map(|(x, ..)| (*x, 0.0));
    ends.chain(begin)
}

fn elo_figure(elo: &[(f64, f64, f64)]) -> Figure {
    let mut curves = Curves::around("games", "Elo", elo_bounds(elo)).of_counts();
    let Range { start: low, end: high } = curves.axes.y_range;
    let within = |value: f64, unknown: f64| if value.is_nan() { unknown } else { value.clamp(low, high) };
    let band = |(x, elo, error): &(f64, f64, f64)| (*x, within(elo - error, low), within(elo + error, high));
    curves.bands.push(Band { colour: BLUE, points: elo.iter().map(band).collect() });
    curves.levels.push(Level { label: String::new(), y: 0.0, colour: PURPLE });
    let line = |(x, elo, _): &(f64, f64, f64)| (*x, if elo.is_finite() { within(*elo, low) } else { *elo });
    let curves = curves.line("", BLUE, elo.iter().map(line).collect());
    let mut data = Table::new(&["games", "Elo", "±"]);
    for (games, elo, error) in elo {
        data.row([*games, *elo, *error].map(Cell::exact));
    }
    let caption = "From the pairs so far, with the band of the 95 % error. What lies beyond the axis, or has no bound, \
                   is drawn at its edge; an arrow there is an infinite Elo.";
    Figure::new("elo", "Elo", caption, Drawing::Curves(curves)).with_data(data)
}
