//! Drops positions at random so that the numbers of pieces of the rest follow a wanted distribution.
//!
//! The wanted distribution is a smooth curve through five points, at 0, 8, 16, 24 and 32 pieces (Catmull and Rom's
//! spline, 1974); the present one is a list of 33 counts, as `patzer data stats` prints them. Source: nnue-pytorch's
//! piece-count whose curve is the default. That filter learns the present distribution while it reads, so its
//! choice depends on the order of the data; here it is a parameter, and a shard decides as the whole does.
//!
//! The probability at n pieces is α · wanted(n) / present(n), at most 1. α is as large as the rarest of the wanted
//! numbers allows, or larger where that would skip more than `max_skip` of the most frequent one; then the rare numbers
//! stay rarer than wanted.

use serde::Deserialize;

use super::Record;
use super::draw::{SEED, Stream, draw};
use super::registry::{FilterRow, params, real};

pub(super) const ROWS: &[FilterRow] = &[FilterRow::position(
    "piece_target",
    "a random number by game and ply exceeds what makes the piece counts follow a curve",
    &[
        real(
            "curve",
            "wanted relative frequencies at 0, 8, 16, 24 and 32 pieces",
            (0.0, 1e6),
            &[0.0, 0.4, 1.0, 1.0, 0.75],
        ),
        real("present", "positions with 0 to 32 pieces in the data, in any unit", (0.0, 1e18), &PRESENT),
        real("max_skip", "the largest share that goes of any number of pieces", (0.0, 1.0), &[0.975]),
        SEED,
    ],
    |v| {
        let p: PieceTarget = params(v)?;
        let keep = probabilities(&p.curve, &p.present, p.max_skip);
        Ok(Box::new(move |r: &Record| {
            draw(p.seed, Stream::PieceTarget, r) < keep[r.board.count().min(32) as usize]
        }))
    },
)];

/// Positions by number of pieces, of 10,000 in the engine games of TCEC's seasons 20 to 28 (11,581 games, 1,683,595
/// positions).
const PRESENT: [f64; 33] = [
    0.0, 0.0, 0.0, 24.0, 254.0, 613.0, 63.0, 314.0, 275.0, 364.0, 308.0, 406.0, 316.0, 369.0, 334.0, 320.0,
    322.0, 295.0, 335.0, 274.0, 341.0, 259.0, 370.0, 251.0, 396.0, 227.0, 449.0, 195.0, 494.0, 163.0, 583.0,
    147.0, 938.0,
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PieceTarget {
    curve: [f64; 5],
    present: Vec<f64>,
    max_skip: f64,
    seed: u64,
}

fn probabilities(curve: &[f64], present: &[f64], max_skip: f64) -> [f64; 33] {
    let wanted: [f64; 33] = std::array::from_fn(|n| spline(curve, n as f64 / 8.0));
    let (all_wanted, all_present): (f64, f64) = (wanted.iter().sum(), present.iter().sum());
    let ratio = |n: usize| (wanted[n] / all_wanted) / (present[n] / all_present);
    let ratios = (0..33).filter(|n| wanted[*n] > 0.0 && present[*n] > 0.0).map(ratio);
    let (low, high) = ratios.fold((f64::INFINITY, 0.0f64), |(low, high), r| (low.min(r), high.max(r)));
    // An empty curve or an empty dataset gives no reason to drop anything.
    if high == 0.0 {
        return [1.0; 33];
    }
    let alpha = (1.0 / high).max((1.0 - max_skip) / low);
    std::array::from_fn(|n| match (wanted[n] > 0.0, present[n] > 0.0) {
        (false, _) => 0.0,
        (true, false) => 1.0,
        (true, true) => (alpha * ratio(n)).min(1.0),
    })
}

/// Catmull-Rom spline through `y` at 0, 1, …, never below 0.
fn spline(y: &[f64], x: f64) -> f64 {
    let last = y.len() - 1;
    let i = (x as usize).min(last - 1);
    let slope = |at: usize| match at {
        0 => y[1] - y[0],
        at if at == last => y[last] - y[last - 1],
        at => (y[at + 1] - y[at - 1]) / 2.0,
    };
    let t = x - i as f64;
    let (t2, t3) = (t * t, t * t * t);
    let value = (2.0 * t3 - 3.0 * t2 + 1.0) * y[i]
        + (t3 - 2.0 * t2 + t) * slope(i)
        + (3.0 * t2 - 2.0 * t3) * y[i + 1]
        + (t3 - t2) * slope(i + 1);
    value.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_follows_the_curve() {
        let curve = [0.0, 0.4, 1.0, 1.0, 0.75];
        let present: [f64; 33] = std::array::from_fn(|n| if n < 2 { 0.0 } else { (n * n) as f64 });
        let keep = probabilities(&curve, &present, 1.0);
        assert!(keep.iter().all(|p| (0.0..=1.0).contains(p)));
        assert!(keep.contains(&1.0), "no more goes than has to");
        // Kept counts are proportional to the curve.
        let factor = |n: usize| keep[n] * present[n] / spline(&curve, n as f64 / 8.0);
        for n in 3..33 {
            assert!((factor(n) / factor(2) - 1.0).abs() < 1e-9, "{n}");
        }
    }

    #[test]
    fn no_number_of_pieces_is_skipped_beyond_the_limit() {
        let present: [f64; 33] = std::array::from_fn(|n| if n == 32 { 1e6 } else { 1.0 });
        let keep = probabilities(&[1.0; 5], &present, 0.975);
        assert!((keep[32] - 0.025).abs() < 1e-12);
        assert_eq!(keep[10], 1.0);
    }

    #[test]
    fn the_curve_goes_through_its_points() {
        let curve = [0.1, 0.4, 1.0, 0.9, 0.75];
        for (at, y) in curve.iter().enumerate() {
            assert!((spline(&curve, at as f64) - y).abs() < 1e-12);
        }
        // Midway between level neighbours a cubic through 0, 0, 1, 1 is at 1/2.
        assert!((spline(&[0.0, 0.0, 1.0, 1.0, 1.0], 1.5) - 0.5).abs() < 1e-12);
    }
}
