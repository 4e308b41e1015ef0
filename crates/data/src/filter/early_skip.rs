//! Drops early positions at random, the earlier the more of them.
//!
//! In: a record's ply by its move number, and a draw by game and ply. Out: keep or drop. The share that stays is
//! given at five plies and runs straight between them; from the last on everything stays. Source: nnue-pytorch's
//! `soft_early_fen_skipping`, whose points are the defaults.

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record, chance};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "early_skip",
    doc: "it is early in the game (by its move number) and its draw by game and ply comes out above a share",
    parameters: &[
        Parameter {
            name: "plies",
            doc: "five plies at which shares are given, ascending",
            kind: Kind::Whole(0, 65_535),
            default: &[0.0, 6.0, 10.0, 18.0, 20.0],
        },
        Parameter {
            name: "keep",
            doc: "the shares that stay there",
            kind: Kind::Real(0.0, 1.0),
            default: &[0.1, 0.15, 0.25, 0.75, 1.0],
        },
        Parameter { name: "seed", doc: "seed of the draw", kind: Kind::Whole(0, 1 << 53), default: &[0.0] },
    ],
    make: Make::Position(|v| {
        let last = v[4] as u32;
        let shares = (0..last).map(|ply| share(f64::from(ply), &v[..5], &v[5..10])).collect();
        Box::new(EarlySkip { shares, seed: v[10] as u64 })
    }),
};

/// Early positions whose draw lies above the share that stays.
#[derive(Debug, Clone)]
struct EarlySkip {
    /// What stays at each ply; at later ones everything does.
    shares: Vec<f64>,
    seed: u64,
}

impl Filter for EarlySkip {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        match self.shares.get(record.game_ply() as usize) {
            Some(share) => chance::draw(self.seed, chance::EARLY_SKIP, record) < *share,
            None => true,
        }
    }
}

/// The straight line between the points around `x`; level before the first.
fn share(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
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
            assert!((share(x, &xs, &ys) - y).abs() < 1e-12, "{x}");
        }
    }
}
