//! Drops positions at random.
//!
//! In: a record's game and ply, and a seed. Out: keep or drop. Every position draws its own number, so the choice
//! depends on nothing else in the data. nnue-pytorch's `random_fen_skipping` of n is a probability of n / (n + 1).

use super::chance;
use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "random_skip",
    doc: "a draw by its game and ply comes out below a probability",
    parameters: &[
        Parameter {
            name: "probability",
            doc: "share of positions that go",
            kind: Kind::Real(0.0, 1.0),
            default: &[0.5],
        },
        Parameter { name: "seed", doc: "seed of the draw", kind: Kind::Whole(0, 1 << 53), default: &[0.0] },
    ],
    make: Make::Position(|v| Box::new(RandomSkip { probability: v[0], seed: v[1] as u64 })),
};

/// Positions that drew a number below the probability.
#[derive(Debug, Clone, Copy)]
struct RandomSkip {
    probability: f64,
    seed: u64,
}

impl Filter for RandomSkip {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        chance::draw(self.seed, chance::RANDOM_SKIP, record) >= self.probability
    }
}
