//! Elo and LLR of a two-player match by games played.

use super::{Contest, Counts};
use crate::figure::{Drawing, Figure};
use crate::plot::{Band, Curves, Level};
use crate::section::Part;
use crate::style::{BLUE, GREEN, ORANGE, PURPLE};
use crate::table::{Cell, Table};
use patzer_match::stats::{Estimate, Sprt};

pub(super) const POINTS: usize = 400;

pub(super) fn progress(part: &mut Part, contest: &Contest) {
    let pairs = contest.pairs.len();
    let step = pairs.div_ceil(POINTS).max(1);
    let mut counts = Counts::default();
    let (mut elo, mut llr) = (Vec::new(), Vec::new());
    for (at, pair) in contest.pairs.iter().enumerate() {
        counts.add(pair.half_points);
        if (at + 1) % step != 0 && at + 1 != pairs {
            continue;
        }
        let games = counts.games.games() as f64;
        let estimate = Estimate::new(counts.pairs);
        if estimate.elo.is_finite() && estimate.elo_error.is_finite() {
            elo.push((games, estimate.elo, estimate.elo_error));
        }
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
    let mut curves = Curves::around("games", "LLR", points.iter().copied().chain(bounds));
    curves.levels = vec![
        Level { label: format!("H1 {upper:.3}"), y: upper, colour: GREEN },
        Level { label: format!("H0 {lower:.3}"), y: lower, colour: ORANGE },
    ];
    let caption = format!("Logarithm of the likelihood ratio for {test}; the test ends at either line.");
    Figure::new("llr", "LLR", &caption, Drawing::Curves(curves.line("", BLUE, points)))
}

fn elo_figure(elo: &[(f64, f64, f64)]) -> Figure {
    // The first pairs say little and would dominate the scale.
    let late = &elo[elo.len() / 12..];
    let ends = late.iter().flat_map(|(x, elo, error)| [(*x, elo - error), (*x, elo + error)]);
    let mut curves = Curves::around("games", "Elo", ends);
    curves.bands.push(Band {
        colour: BLUE,
        points: late.iter().map(|(x, elo, error)| (*x, elo - error, elo + error)).collect(),
    });
    curves.levels.push(Level { label: String::new(), y: 0.0, colour: PURPLE });
    if !curves.axes.y_range.contains(&0.0) {
        curves.levels.clear();
    }
    let curves = curves.line("", BLUE, late.iter().map(|(x, elo, _)| (*x, *elo)).collect());
    let mut data = Table::new(&["games", "Elo", "±"]);
    for (games, elo, error) in elo {
        data.row([*games, *elo, *error].map(Cell::exact));
    }
    let caption = "With the band of its 95 % error, from the pairs so far; the first twelfth is left out.";
    Figure::new("elo", "Elo", caption, Drawing::Curves(curves)).with_data(data)
}
