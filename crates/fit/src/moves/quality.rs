//! Quality of strengths as predictions of choices: likelihoods, and ranks of the moves played.

use serde::Serialize;

use super::choices::Competition;
use super::strengths::{Strengths, log_probability, sum};

/// Groups whose levels, in their order, order moves without a fit: the exchange, the piece taken.
const ORDERING: [usize; 2] = [2, 0];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quality {
    pub choices: u64,
    /// Mean log-probability of the move played, or of the moves visited by their shares, in nats.
    pub log_likelihood: f64,
    pub error: f64,
    /// `log_likelihood` of a model that knows the shares; 0 of moves played.
    pub attainable: f64,
    /// `log_likelihood` if all legal moves were equally likely.
    pub uniform: f64,
    /// Share of choices whose move played ranks first, among the first two, … five.
    pub among: [f64; 5],
    /// Counts for moves in the order of a search without history: by exchange, then by the piece taken.
    pub by_exchange: [f64; 5],
}

pub fn quality(competitions: &[Competition], gammas: &Strengths) -> Quality {
    const RANKS: usize = 5;
    let sums = sum(competitions.len(), 4 + 2 * RANKS, |choice, sums| {
        let competition = &competitions[choice];
        let log = log_probability(competition, gammas);
        sums[0] += log;
        sums[1] += log * log;
        sums[2] -= (competition.moves.len() as f64).ln();
        let shares = competition.shares.iter().filter(|share| **share > 0.0);
        sums[3] += shares.map(|share| share * share.ln()).sum::<f64>();
        let scores: Vec<f64> = competition.moves.iter().map(|features| gammas.strength(features)).collect();
        let exchanges: Vec<[u16; 2]> =
            competition.moves.iter().map(|features| ORDERING.map(|group| features[group])).collect();
        let ranks = [rank(&scores, competition.played), rank(&exchanges, competition.played)];
        for (place, rank) in [4, 4 + RANKS].into_iter().zip(ranks).filter(|(_, rank)| *rank <= RANKS) {
            sums[place + rank - 1] += 1.0;
        }
    });
    let n = competitions.len().max(1) as f64;
    let [mean, error] = mean_and_error([sums[0], sums[1]], n);
    let among = |place: usize| -> [f64; RANKS] {
        std::array::from_fn(|rank| sums[place..=place + rank].iter().sum::<f64>() / n)
    };
    Quality {
        choices: competitions.len() as u64,
        log_likelihood: mean,
        error,
        attainable: sums[3] / n,
        uniform: sums[2] / n,
        among: among(4),
        by_exchange: among(4 + RANKS),
    }
}

/// Rank of one of several scores, from 1 for the greatest; ties share their middle rank.
pub fn rank<T: PartialOrd>(scores: &[T], of: usize) -> usize {
    let greater = scores.iter().filter(|score| **score > scores[of]).count();
    let equal = scores.iter().filter(|score| **score == scores[of]).count();
    1 + greater + equal.saturating_sub(1) / 2
}

/// Gain of a model over another in the mean log-probability of a choice, in nats, with its standard error.
pub fn gain(competitions: &[Competition], with: &Strengths, without: &Strengths) -> [f64; 2] {
    let sums = sum(competitions.len(), 2, |choice, sums| {
        let [with, without] = [with, without].map(|gammas| log_probability(&competitions[choice], gammas));
        sums[0] += with - without;
        sums[1] += (with - without).powi(2);
    });
    mean_and_error([sums[0], sums[1]], competitions.len().max(1) as f64)
}

/// The mean of n values and its standard error, from their sum and the sum of their squares.
fn mean_and_error([sum, squares]: [f64; 2], n: f64) -> [f64; 2] {
    let mean = sum / n;
    [mean, ((squares / n - mean * mean).max(0.0) / n).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::features::GROUPS;

    #[test]
    fn moves_are_ordered_by_exchange_and_capture() {
        assert_eq!(ORDERING.map(|group| GROUPS[group].name), ["exchange", "capture"]);
    }

    #[test]
    fn a_gain_is_the_mean_of_the_differences_with_its_standard_error() {
        let mut strong = Strengths::default();
        strong.levels[0][1] = 3.0;
        let mut takes = [0; 11];
        takes[0] = 1;
        let choice = |played| Competition::of_move(vec![takes, [0; 11]], played);
        let choices = [choice(0), choice(0), choice(0), choice(1)];
        let [gain, error] = gain(&choices, &strong, &Strengths::default());
        // 3/4 and 1/4 instead of 1/2 each.
        let (good, bad) = (1.5f64.ln(), 0.5f64.ln());
        let mean = (3.0 * good + bad) / 4.0;
        assert!((gain - mean).abs() < 1e-12);
        let variance = (3.0 * (good - mean).powi(2) + (bad - mean).powi(2)) / 4.0;
        assert!((error - (variance / 4.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_rank_of_equal_scores_is_in_their_middle() {
        assert_eq!([0, 1, 2].map(|of| rank(&[3, 5, 1], of)), [2, 1, 3]);
        assert_eq!(rank(&[1, 1, 1, 1, 1], 0), 3);
        assert_eq!(rank(&[2, 2, 7], 0), 2);
    }
}
