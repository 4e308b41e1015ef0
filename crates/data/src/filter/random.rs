//! Filters that thin out a dataset: every n-th position, or at random.
//!
//! A random draw depends on the seed, the filter's stream, and the record's game and ply alone, so a position is drawn
//! alike at `extract`, later on the dataset, in any order and by any number of threads.

use serde::Deserialize;

use super::Record;
use super::draw::{SEED, Stream, draw};
use super::registry::{FilterRow, filter, params, real, whole};
use patzer_formats::capabilities::Capabilities;

pub(super) const ROWS: &[FilterRow] = &[
    // Neighbours in a game are nearly the same position with the same result. An odd n takes both sides in turn, an
    // even one only one side's positions.
    FilterRow::position(
        "every_nth",
        "its ply is not offset plus a multiple of n",
        &[
            whole("n", "how many plies from one position kept to the next", (1, 65535), &[2]),
            whole("offset", "the first ply kept, from 0", (0, 65534), &[0]),
        ],
        |v| filter(v, |p: &EveryNth, r: &Record| u32::from(r.ply) % p.n == p.offset % p.n),
    )
    .seeing(|_| Capabilities::PLY.and(Capabilities::FULLMOVE)),
    // nnue-pytorch's `random_fen_skipping` of n is a probability of n / (n + 1).
    FilterRow::position(
        "random_skip",
        "a random number by game and ply is below a probability",
        &[real("probability", "share of positions that go", (0.0, 1.0), &[0.5]), SEED],
        |v| filter(v, |p: &RandomSkip, r: &Record| draw(p.seed, Stream::RandomSkip, r) >= p.probability),
    ),
    // The share kept is linear between the given plies, and everything from the last on stays. Source: nnue-pytorch's
    // `soft_early_fen_skipping`, whose points are the defaults.
    FilterRow::position(
        "early_skip",
        "it is early in the game (by its move number) and a random number by game and ply exceeds a share",
        &[
            whole(
                "plies",
                "five plies at which shares are given, ascending",
                (0, 65_535),
                &[0, 6, 10, 18, 20],
            ),
            real("keep", "the shares that stay there", (0.0, 1.0), &[0.1, 0.15, 0.25, 0.75, 1.0]),
            SEED,
        ],
        |v| {
            let p: EarlySkip = params(v)?;
            let shares = p.shares();
            Ok(Box::new(move |r: &Record| match shares.get(r.game_ply() as usize) {
                Some(share) => draw(p.seed, Stream::EarlySkip, r) < *share,
                None => true,
            }))
        },
    )
    .seeing(|_| Capabilities::FULLMOVE),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EveryNth {
    n: u32,
    offset: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RandomSkip {
    probability: f64,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EarlySkip {
    plies: [u32; 5],
    keep: [f64; 5],
    seed: u64,
}

impl EarlySkip {
    /// The share kept at each ply before the last of the given ones.
    fn shares(&self) -> Vec<f64> {
        let plies = self.plies.map(f64::from);
        (0..self.plies[4]).map(|ply| interpolate(f64::from(ply), &plies, &self.keep)).collect()
    }
}

/// Linear interpolation; level before the first point, 1 from the last on.
fn interpolate(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    let Some(right) = xs.iter().position(|point| x < *point) else { return 1.0 };
    let Some(left) = right.checked_sub(1) else { return ys[0] };
    ys[left] + (ys[right] - ys[left]) * (x - xs[left]) / (xs[right] - xs[left])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_runs_straight_between_the_points() {
        let (xs, ys) = ([0.0, 6.0, 10.0, 18.0, 20.0], [0.1, 0.15, 0.25, 0.75, 1.0]);
        for (x, y) in
            [(0.0, 0.1), (3.0, 0.125), (6.0, 0.15), (8.0, 0.2), (14.0, 0.5), (19.0, 0.875), (20.0, 1.0)]
        {
            assert!((interpolate(x, &xs, &ys) - y).abs() < 1e-12, "{x}");
        }
    }

    /// A dataset does not say where a game's tags were, so draws must not depend on anything but game and ply.
    #[test]
    fn draws_depend_on_game_and_ply_alone() {
        let record = |game, ply| Record { game, ply, ..patzer_formats::EMPTY };
        let draws = |game, ply| draw(7, Stream::RandomSkip, &record(game, ply));
        assert_eq!(draws(3, 4), draws(3, 4));
        assert_ne!(draws(3, 4), draws(4, 3));
        assert_ne!(draws(3, 4), draw(8, Stream::RandomSkip, &record(3, 4)));
        assert_ne!(draws(3, 4), draw(7, Stream::WdlSkip, &record(3, 4)));
        let mean: f64 = (0..10_000).map(|game| draws(game, 9)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }
}
