//! Results by opening: how often the opening decided, and the most one-sided openings.

use std::collections::BTreeMap;

use super::counts::Counts;
use super::results::{Contest, Pair};
use crate::bars::{Bar, Bars};
use crate::figure::{Drawing, Figure};
use crate::section::{Item, Part};
use crate::style::BLUE;
use crate::table::{Cell, Table};
use patzer_stats::Trinomial;

const OPENINGS: usize = 40;

pub(super) fn openings(contest: &Contest) -> Part {
    let mut part = Part::new("Openings");
    if contest.pairs.is_empty() {
        return part;
    }
    if contest.pairs.iter().any(|pair| pair.colours[0] == pair.colours[1]) {
        part.missing("No results by opening: players kept their colours, and each game had its own opening.");
        return part;
    }
    type Is = fn([u8; 2]) -> bool;
    let kinds: [(&str, Is); 6] = [
        ("won both", |p| p == [2, 2]),
        ("won one, drew one", |p| p == [2, 1] || p == [1, 2]),
        ("White won both games", |p| p == [2, 0]),
        ("Black won both games", |p| p == [0, 2]),
        ("drew both", |p| p == [1, 1]),
        ("lost one or both", |p| p[0] + p[1] < 2),
    ];
    let row = |(label, is): (&str, Is)| {
        let count = contest.pairs.iter().filter(|pair| is(by_colour(pair))).count();
        Bar::counted(label, count as u64, contest.pairs.len() as u64)
    };
    let bars = Bars::new("the pair's first player", &[("pairs", BLUE)], kinds.into_iter().map(row).collect());
    let caption = "Where one colour wins both games, the opening decides and not the player.";
    part.add(Figure::new("opening-kinds", "Pairs by opening", caption, Drawing::Bars(bars)));
    let mut counts: BTreeMap<usize, (Counts, i64)> = BTreeMap::new();
    for pair in &contest.pairs {
        let (counts, white) = counts.entry(pair.opening).or_default();
        counts.add(pair);
        let [with_white, with_black] = by_colour(pair).map(i64::from);
        *white += with_white - with_black;
    }
    let mut order: Vec<usize> = counts.keys().copied().collect();
    order.sort_by_key(|opening| {
        let (counts, white) = &counts[opening];
        (std::cmp::Reverse((white.unsigned_abs(), counts.pairs.pairs())), *opening)
    });
    let mut table = Table::new(&[
        "opening",
        "pairs",
        "won",
        "drawn",
        "lost",
        "White's points less Black's",
        "FEN or moves",
    ]);
    for opening in order.iter().take(OPENINGS) {
        let (counts, white) = &counts[opening];
        let Trinomial { wins, draws, losses } = counts.games;
        let numbers = [*opening as u64 + 1, counts.pairs.pairs(), wins, draws, losses].map(Cell::Count);
        let fen = contest.openings.get(opening).map_or(Cell::Nothing, Cell::text);
        table.row(numbers.into_iter().chain([Cell::number(*white as f64, 0), fen]));
    }
    let words = format!("the {} most one-sided of {} openings", table.rows.len(), counts.len());
    part.items.push(Item::Folded(words, table));
    part
}

/// Half points of the pair's first player: with White, with Black.
fn by_colour(pair: &Pair) -> [u8; 2] {
    let [first, second] = pair.half_points;
    if pair.colours[0] == 0 { [first, second] } else { [second, first] }
}
