//! Evaluations of a reading compared with the embedded network's, or with an engine's.

use std::sync::Arc;

use patzer_chess::random_positions;
use shakmaty::{Chess, Color, EnPassantMode, FromSetup, Position, Role};

use super::candidate::Candidate;
use crate::evaluator::Evaluator;
use crate::nnue::plain::{PlainNnue, Reading, Units};
use crate::nnue::{Network, Nnue};
use patzer_chess::score::Score;

const POSITIONS: usize = 250;

/// Positions of random games with evaluations for the side to move, in centipawns.
#[derive(Debug)]
pub struct ReferenceValues {
    positions: Vec<Chess>,
    values: Vec<f64>,
    ranks: Vec<f64>,
    is_engine: bool,
}

impl ReferenceValues {
    /// The embedded network.
    pub fn embedded() -> ReferenceValues {
        let positions = random_positions(POSITIONS, 1);
        let mut nnue = Nnue::new(Arc::new(Network::embedded()));
        let values = positions.iter().map(|position| f64::from(nnue.evaluate(position, 0))).collect();
        ReferenceValues::new(positions, values, false)
    }

    /// The engine that has the network, by its static evaluations.
    pub fn engine(evaluated: Vec<(Chess, Score)>) -> ReferenceValues {
        let (positions, values) =
            evaluated.into_iter().map(|(position, value)| (position, f64::from(value))).unzip();
        ReferenceValues::new(positions, values, true)
    }

    fn new(positions: Vec<Chess>, values: Vec<f64>, is_engine: bool) -> ReferenceValues {
        ReferenceValues { ranks: ranks(&values), positions, values, is_engine }
    }

    /// Tests for values of the network itself, not of another one.
    pub fn is_engine(&self) -> bool {
        self.is_engine
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    fn evaluations(&self, network: &Network, units: Units) -> Option<Vec<f64>> {
        let plain = PlainNnue::in_units(network, units)?;
        let value = |position: &Chess| f64::from(plain.evaluate(position, &Reading::default()));
        Some(self.positions.iter().map(value).collect())
    }

    /// Sets the agreement of a reading; `None` if it cannot be evaluated.
    pub fn compared(&self, mut candidate: Candidate) -> Option<Candidate> {
        let values = self.evaluations(&candidate.network, candidate.layout.units())?;
        candidate.agreement = correlation(&self.ranks, &ranks(&values));
        candidate.equal = self.equal(&values);
        Some(candidate)
    }

    fn equal(&self, values: &[f64]) -> usize {
        self.values.iter().zip(values).filter(|(own, value)| own == value).count()
    }

    /// Factor from a reading's evaluations to the reference.
    fn factor(&self, candidate: &Candidate) -> Option<f64> {
        let values = self.evaluations(&candidate.network, candidate.layout.units())?;
        let size = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>().max(1.0);
        Some(size(&self.values) / size(&values))
    }

    /// Sets QB so that evaluations are about as large as the reference, unless it is known or the usual one will do.
    pub fn with_qb(&self, mut candidate: Candidate, is_known: bool, qbs: &[i32]) -> Candidate {
        let Some(factor) = self.factor(&candidate) else { return candidate };
        let distance = |qb: &&i32| (factor * f64::from(**qb) / f64::from(candidate.layout.qb)).ln().abs();
        if let Some(qb) = qbs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
            && !is_known
            && factor.ln().abs() > 4f64.ln()
        {
            candidate.layout.qb = *qb;
        }
        candidate
    }

    /// Sets the scale with which most evaluations equal the engine's.
    pub fn with_scale(&self, mut candidate: Candidate) -> Candidate {
        let Some(factor) = self.factor(&candidate).filter(|_| self.is_engine) else { return candidate };
        let near = (factor * f64::from(candidate.layout.scale)).round() as i32;
        let equal_at = |scale: i32| {
            let units = Units { scale: scale.into(), ..candidate.layout.units() };
            Some((self.equal(&self.evaluations(&candidate.network, units)?), scale))
        };
        let tried = (near - 4..=near + 4).filter(|scale| *scale > 0).filter_map(equal_at);
        if let Some((equal, scale)) = tried.max_by_key(|(equal, scale)| (*equal, -(scale - near).abs())) {
            (candidate.equal, candidate.layout.scale) = (equal, scale);
        }
        candidate
    }

    /// Adds how far an evaluation falls for its side without a piece of each role.
    pub fn with_values(&self, mut candidate: Candidate) -> Candidate {
        if let Some(plain) = PlainNnue::in_units(&candidate.network, candidate.layout.units()) {
            let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
            candidate.values = roles.map(|role| self.value(&plain, role));
        }
        candidate
    }

    fn value(&self, plain: &PlainNnue, role: Role) -> f64 {
        let (mut sum, mut count) = (0.0, 0u32);
        for position in &self.positions {
            for side in Color::ALL {
                let Some(fewer) = without(position, side, role) else { continue };
                let sign = if side == position.turn() { 1.0 } else { -1.0 };
                let [before, after] = [position, &fewer]
                    .map(|position| f64::from(plain.evaluate(position, &Reading::default())));
                (sum, count) = (sum + sign * (before - after), count + 1);
            }
        }
        sum / f64::from(count.max(1))
    }
}

/// A position without one piece; `None` if there is none or the position would not be legal.
fn without(position: &Chess, side: Color, role: Role) -> Option<Chess> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    let square = (setup.board.by_color(side) & setup.board.by_role(role)).first()?;
    setup.board.discard_piece_at(square);
    setup.castling_rights = Default::default();
    setup.ep_square = None;
    Chess::from_setup(setup, position.castles().mode()).ok()
}

/// Ranks from 0, the mean of equal values.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut place = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = place as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|at| ranks[*at] = rank);
        place += equal.len();
    }
    ranks
}

/// Pearson's correlation; 0 where a list has one value alone.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let (both, squares_a, squares_b) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    if squares_a * squares_b > 0.0 { both / (squares_a * squares_b).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(correlation(&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]), 1.0));
        assert!(near(correlation(&[0.0, 1.0, 2.0], &[5.0, 3.0, 1.0]), -1.0));
        assert_eq!(correlation(&[0.0, 1.0], &[2.0, 2.0]), 0.0);
    }
}
