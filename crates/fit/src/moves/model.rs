//! Generalised Bradley-Terry model of move choice, fitted by minorisation-maximisation. A move's strength is the
//! product of its levels' strengths; it is played with a probability proportional to it among the legal moves.
//! Sources: Hunter, "MM algorithms for generalized Bradley-Terry models" (2004); Coulom, "Computing Elo ratings of
//! move patterns in the game of Go" (2007), also for the prior: each level wins and loses one virtual game against
//! strength 1. A choice may be shared by moves, in proportion to the visits of a search: then its likelihood is the
//! mean of theirs in logarithms, and a level is played by the shares of its moves. [Pairs](Term::Pair) of groups may
//! have strengths of their own, by which the product of both groups' is multiplied. Sums run over fixed chunks in a
//! fixed order, so a fit does not depend on the number of threads.

use rayon::prelude::*;

use super::choices::Competition;
use super::errors::errors;
use super::strengths::{Strengths, log_probability, sum};
use super::terms::Term;
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub iterations: usize,
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { iterations: 400, tolerance: 1e-7 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Strength; 1 for the reference.
    pub gamma: f64,
    /// Standard error of ln strength; 0 for the reference.
    pub error: f64,
    /// Choices of moves that have it; a sum of shares.
    pub played: f64,
    pub offered: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub terms: Vec<Term>,
    pub levels: Vec<Vec<Level>>,
    pub iterations: usize,
    pub converged: bool,
}

impl Fit {
    pub fn strengths(&self) -> Strengths {
        let of = |levels: &Vec<Level>| levels.iter().map(|level| level.gamma).collect();
        Strengths { terms: self.terms.clone(), levels: self.levels.iter().map(of).collect() }
    }
}

/// Fits all groups and these pairs; a signal ends the iterations.
pub fn fit(competitions: &[Competition], pairs: &[Term], settings: &Settings) -> Fit {
    let mut gammas = Strengths::even(pairs);
    let (played, offered) = count(competitions, &gammas.terms);
    let (mut before, mut converged, mut iterations) = (f64::NEG_INFINITY, competitions.is_empty(), 0);
    while !converged && iterations < settings.iterations && !interrupt::requested() {
        iterations += 1;
        // Recomputed in every iteration, so that rounding errors do not add up.
        let mut products = products(competitions, &gammas);
        for (term, played) in played.iter().enumerate() {
            step(competitions, &mut products, &mut gammas, term, played);
        }
        let now = (log_likelihood(competitions, &gammas) + log_prior(&gammas)) / competitions.len() as f64;
        converged = now - before < settings.tolerance;
        before = now;
    }
    let errors = errors(competitions, &gammas);
    let level = |term: usize, level: usize| Level {
        gamma: gammas.levels[term][level],
        error: errors[term][level],
        played: played[term][level],
        offered: offered[term][level],
    };
    let of = |(at, term): (usize, &Term)| (0..term.level_count()).map(|index| level(at, index)).collect();
    let levels = gammas.terms.iter().enumerate().map(of).collect();
    Fit { terms: gammas.terms, levels, iterations, converged }
}

/// Shares of the choices that each level has, and the number of its offers.
fn count(competitions: &[Competition], terms: &[Term]) -> (Vec<Vec<f64>>, Vec<Vec<u64>>) {
    let mut played: Vec<_> = terms.iter().map(|term| vec![0.0; term.level_count()]).collect();
    let mut offered: Vec<_> = terms.iter().map(|term| vec![0; term.level_count()]).collect();
    for competition in competitions {
        for (features, share) in competition.moves.iter().zip(&competition.shares) {
            for (at, term) in terms.iter().enumerate() {
                let level = term.level(features);
                offered[at][level] += 1;
                played[at][level] += share;
            }
        }
    }
    (played, offered)
}

fn products(competitions: &[Competition], gammas: &Strengths) -> Vec<Vec<f64>> {
    competitions
        .par_iter()
        .map(|competition| competition.moves.iter().map(|features| gammas.strength(features)).collect())
        .collect()
}

/// Updates all levels of a term at once (a move has only one of them): γ ← γ (W + 1) / (E + 2γ/(γ + 1)),
/// where W is how much the level was played and E how often the model expects it; the rest is the prior.
/// `products` follow.
fn step(
    competitions: &[Competition],
    products: &mut [Vec<f64>],
    gammas: &mut Strengths,
    at: usize,
    played: &[f64],
) {
    let term = gammas.terms[at];
    let expected = sum(competitions.len(), term.level_count(), |choice, expected| {
        let strengths = &products[choice];
        let total: f64 = strengths.iter().sum();
        for (features, strength) in competitions[choice].moves.iter().zip(strengths) {
            expected[term.level(features)] += strength / total;
        }
    });
    let mut factors = vec![1.0; term.level_count()];
    for (level, gamma) in gammas.levels[at].iter_mut().enumerate().filter(|(level, _)| term.is_free(*level)) {
        factors[level] = (played[level] + 1.0) / (expected[level] + 2.0 * *gamma / (*gamma + 1.0));
        *gamma *= factors[level];
    }
    products.par_iter_mut().zip(competitions).for_each(|(strengths, competition)| {
        for (strength, features) in strengths.iter_mut().zip(&competition.moves) {
            *strength *= factors[term.level(features)];
        }
    });
}

/// Log-likelihood of the choices in nats, without the prior.
pub fn log_likelihood(competitions: &[Competition], gammas: &Strengths) -> f64 {
    sum(competitions.len(), 1, |choice, total| total[0] += log_probability(&competitions[choice], gammas))[0]
}

/// Log-prior: one win and one loss of each level against strength 1.
fn log_prior(gammas: &Strengths) -> f64 {
    gammas.levels.iter().flatten().map(|gamma| gamma.ln() - 2.0 * (gamma + 1.0).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::features::{COUNT, FeatureLevels, GROUPS};
    use crate::moves::quality::quality;
    use patzer_chess::rng::Rng;

    fn features(levels: &[(usize, u16)]) -> FeatureLevels {
        let mut features: FeatureLevels = std::array::from_fn(|group| GROUPS[group].reference as u16);
        levels.iter().for_each(|&(group, level)| features[group] = level);
        features
    }

    fn drawn(gammas: &Strengths, choices: usize) -> Vec<Competition> {
        let mut rng = Rng::new(17);
        let one = |_| {
            let moves: Vec<FeatureLevels> = (0..12)
                .map(|_| {
                    features(&[(0, rng.below(6) as u16), (2, rng.below(5) as u16), (3, rng.below(3) as u16)])
                })
                .collect();
            let mut rest = rng.unit() * moves.iter().map(|features| gammas.strength(features)).sum::<f64>();
            let played = moves.iter().position(|features| {
                rest -= gammas.strength(features);
                rest < 0.0
            });
            Competition::of_move(moves, played.unwrap_or(11))
        };
        (0..choices).map(one).collect()
    }

    fn known() -> Strengths {
        let mut gammas = Strengths::default();
        gammas.levels[0] = vec![1.0, 2.0, 3.0, 0.5, 4.0, 8.0];
        gammas.levels[2] = vec![0.1, 0.4, 1.0, 2.0, 5.0];
        gammas.levels[3] = vec![1.0, 3.0, 0.7];
        gammas
    }

    #[test]
    fn one_level_against_none_is_the_ratio_of_wins_with_the_prior() {
        // Played 30 times of 40: (30 + 1) / (10 + 1) with the virtual games.
        let competition = |played| Competition::of_move(vec![features(&[(3, 1)]), features(&[])], played);
        let competitions: Vec<Competition> = (0..40).map(|i| competition(usize::from(i % 4 == 0))).collect();
        let settings = Settings { tolerance: 1e-14, iterations: 10_000 };
        let fit = fit(&competitions, &[], &settings);
        assert!(fit.converged);
        let level = fit.levels[3][1];
        assert!((level.gamma - 31.0 / 11.0).abs() < 1e-5, "{level:?}");
        assert_eq!((level.played, level.offered), (30.0, 40));
        // The information of a Bernoulli trial: 42 p (1 − p), p = 31/42.
        assert!((level.error - (42.0f64 / (31.0 * 11.0)).sqrt()).abs() < 1e-5, "{level:?}");
        assert_eq!(fit.levels[3][0].gamma, 1.0);
    }

    #[test]
    fn shared_choices_fit_as_many_choices_of_their_moves_would() {
        let moves = || vec![features(&[(3, 1)]), features(&[(0, 2)]), features(&[])];
        let settings = Settings { tolerance: 1e-14, iterations: 10_000 };
        // Ten choices that the moves share, and as many choices of each move as its shares add up to.
        let shared = Competition { shares: vec![0.5, 0.3, 0.2], ..Competition::of_move(moves(), 0) };
        let single = [5, 3, 2].into_iter().enumerate();
        let single: Vec<Competition> =
            single.flat_map(|(played, times)| vec![Competition::of_move(moves(), played); times]).collect();
        let (one, other) = (fit(&vec![shared.clone(); 10], &[], &settings), fit(&single, &[], &settings));
        for (a, b) in one.levels.iter().flatten().zip(other.levels.iter().flatten()) {
            assert!((a.gamma - b.gamma).abs() < 1e-6 && (a.played - b.played).abs() < 1e-9, "{a:?} {b:?}");
            assert!((a.error - b.error).abs() < 1e-6 && a.offered == b.offered);
        }
        let quality = quality(&[shared], &one.strengths());
        let entropy = -(0.5f64 * 0.5f64.ln() + 0.3 * 0.3f64.ln() + 0.2 * 0.2f64.ln());
        assert!((quality.attainable + entropy).abs() < 1e-12 && quality.log_likelihood < quality.attainable);
    }

    #[test]
    fn known_strengths_are_found_within_their_errors() {
        let gammas = known();
        let competitions = drawn(&gammas, 6000);
        let fit = fit(&competitions, &[], &Settings::default());
        let (mut sum, mut count) = (0.0, 0.0);
        for group in [0, 2, 3] {
            for (level, &gamma) in fit.levels[group].iter().zip(&gammas.levels[group]) {
                if level.error > 0.0 {
                    let deviation = (level.gamma / gamma).ln() / level.error;
                    assert!(deviation.abs() < 4.0, "{level:?} {gamma}");
                    sum += deviation * deviation;
                    count += 1.0;
                }
            }
        }
        assert!((0.3..2.5).contains(&(sum / count)), "errors are of the right size: {}", sum / count);
        let quality = quality(&competitions, &fit.strengths());
        assert!(quality.log_likelihood > quality.uniform + 0.3);
        assert!(quality.among[0] > 0.25 && quality.among.is_sorted());
    }

    #[test]
    fn every_step_gains_and_the_end_is_a_summit() {
        let competitions = drawn(&known(), 300);
        let value = |gammas: &Strengths| log_likelihood(&competitions, gammas) + log_prior(gammas);
        let (mut gammas, (played, _)) =
            (Strengths::default(), count(&competitions, &Strengths::default().terms));
        let mut before = value(&gammas);
        for iteration in 0..200 {
            let mut products = products(&competitions, &gammas);
            for (group, played) in played.iter().enumerate() {
                step(&competitions, &mut products, &mut gammas, group, played);
                let now = value(&gammas);
                assert!(now >= before - 1e-9, "iteration {iteration}, group {group}: {now} < {before}");
                before = now;
            }
        }
        let mut kept = products(&competitions, &Strengths::default());
        let mut follow = Strengths::default();
        (0..COUNT).for_each(|group| step(&competitions, &mut kept, &mut follow, group, &played[group]));
        let recomputed = products(&competitions, &follow);
        let close = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-12;
        assert!(
            kept.iter().flatten().zip(recomputed.iter().flatten()).all(close),
            "strengths follow the steps"
        );
        for (group, level) in [(0, 1), (0, 5), (2, 0), (2, 4), (3, 1), (3, 2)] {
            let at = |factor: f64| {
                let mut other = gammas.clone();
                other.levels[group][level] *= factor;
                value(&other)
            };
            let slope = (at(1.001) - at(0.999)) / 0.002;
            assert!(slope.abs() < 1e-3, "{group} {level}: {slope}");
        }
    }

    #[test]
    fn threads_change_nothing() {
        let competitions = drawn(&known(), 2000);
        let settings = Settings { iterations: 5, tolerance: 0.0 };
        let with = |threads| crate::on_threads(threads, || fit(&competitions, &[], &settings));
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn a_pair_of_groups_is_found_where_its_product_is_not_theirs() {
        let pair = Term::parse("check:capture").unwrap();
        let mut gammas = Strengths::even(&[pair]);
        gammas.levels[..COUNT].clone_from_slice(&known().levels);
        // Takes a queen (5) with a sound check (1).
        gammas.levels[COUNT][5 * 3 + 1] = 0.1;
        let competitions = drawn(&gammas, 6000);
        let [with, without] = [&[pair][..], &[]].map(|pairs| fit(&competitions, pairs, &Settings::default()));
        for (index, level) in with.levels[COUNT].iter().enumerate() {
            let expected: f64 = gammas.levels[COUNT][index];
            match pair.is_free(index) {
                true => assert!((level.gamma / expected).ln().abs() < 4.0 * level.error, "{index} {level:?}"),
                false => assert_eq!((level.gamma, level.error), (1.0, 0.0)),
            }
        }
        let [with, without] = [with, without].map(|fit| log_likelihood(&competitions, &fit.strengths()));
        // Twice the difference has a chi-squared distribution of ten degrees of freedom if there is nothing to find.
        assert!(with > without + 50.0, "{with} {without}");
        let apart = log_likelihood(&competitions, &gammas);
        assert!((with - apart).abs() < 40.0, "{with} {apart}");
    }
}
