//! Plots of two values of the same positions: tiles of counts, and the mean of one by the other.

use std::collections::BTreeMap;

use super::axes::Axes;
use super::figure::{Drawing, Figure};
use super::plot::{Curves, Tile};
use super::style::{GREEN, ORANGE};
use super::table::{Cell, Table};

/// Width of a group of values, in centipawns.
pub(crate) const WIDTH: i32 = 50;
/// Largest value drawn, in centipawns.
pub(crate) const REACH: i32 = 800;

pub(crate) struct Labels<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub caption: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub mean: &'a str,
    /// Heads of the columns of x and of counts in the table.
    pub table: [&'a str; 2],
}

/// Draws pairs of x and y in centipawns; `None` if no x is within reach.
pub(crate) fn figure(pairs: impl Iterator<Item = (i32, i32)>, labels: &Labels<'_>) -> Option<Figure> {
    let place = |cp: i32| cp.div_euclid(WIDTH) * WIDTH;
    let mut counts: BTreeMap<(i32, i32), u64> = BTreeMap::new();
    let mut means: BTreeMap<i32, (u64, f64)> = BTreeMap::new();
    for (x, y) in pairs.filter(|(x, _)| x.abs() < REACH) {
        let mean = means.entry(place(x)).or_default();
        *mean = (mean.0 + 1, mean.1 + f64::from(y));
        if y.abs() < REACH {
            *counts.entry((place(x), place(y))).or_default() += 1;
        }
    }
    let most = counts.values().copied().max().unwrap_or(1);
    let range = |cp: i32| f64::from(cp)..f64::from(cp + WIDTH);
    // Logarithmic, so that small counts show.
    let shade = |count: u64| (1.0 + count as f64).ln() / (1.0 + most as f64).ln();
    let tiles =
        counts.iter().map(|((x, y), count)| Tile { x: range(*x), y: range(*y), value: shade(*count) });
    let reach = f64::from(REACH);
    let axes = Axes::new("", labels.x, labels.y, -reach..reach, -reach..reach);
    let middle = |cp: i32| f64::from(cp) + f64::from(WIDTH) / 2.0;
    let line = means.iter().map(|(x, (n, sum))| (middle(*x), sum / *n as f64)).collect();
    let curves = Curves { tiles: tiles.collect(), ..Curves::within(axes) };
    let curves = curves.line("equal", GREEN, vec![(-reach, -reach), (reach, reach)]);
    let curves = curves.line(labels.mean, ORANGE, line);
    let mut data = Table::new(&[labels.table[0], labels.table[1], labels.mean]);
    for (x, (n, sum)) in &means {
        data.row([Cell::exact(f64::from(*x)), Cell::Count(*n), Cell::exact(sum / *n as f64)]);
    }
    let drawing = Drawing::Curves(curves);
    (!means.is_empty()).then(|| Figure::new(labels.id, labels.title, labels.caption, drawing).with_data(data))
}
