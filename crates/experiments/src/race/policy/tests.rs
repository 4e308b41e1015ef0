//! Policies against published bounds, on Bernoulli arms with fixed seeds.

use super::track::proportions;
use super::*;
use crate::race::simulate::{Field, play, simulate};
use patzer_io::Named;
use patzer_stats::plan::Conditions;

fn settings(policy: PolicyKind, candidates: usize, pairs: u64) -> RaceSettings {
    RaceSettings {
        candidates,
        anchor: true,
        policy,
        budget: pairs,
        confidence: 0.9,
        until_known: false,
        within: 0.0,
        batch: 1,
        epsilon: 0.1,
        seed: 1,
    }
}

/// Mean regret in pairs won, after each number of pairs.
fn regret(policy: PolicyKind, chances: &[f64], looks: &[u64], races: u64) -> Vec<f64> {
    let settings = settings(policy, chances.len(), *looks.last().unwrap());
    let simulated = simulate(&settings, &Field::bernoulli(chances), looks, races).unwrap();
    // In points of two games a pair.
    simulated.curve.iter().map(|(_, _, points)| points / 2.0).collect()
}

#[test]
fn every_policy_is_found_by_its_name() {
    for kind in PolicyKind::ALL {
        assert_eq!(kind.name().parse::<PolicyKind>().unwrap(), *kind);
    }
}

#[test]
fn the_regret_of_ucb1_grows_as_the_logarithm_and_stays_below_its_theorem() {
    let chances = [0.7, 0.4, 0.3];
    let looks = [250, 500, 1_000, 2_000, 4_000];
    let regrets = regret(PolicyKind::Ucb1, &chances, &looks, 40);
    let gaps = [0.3, 0.4];
    for (pairs, regret) in looks.into_iter().zip(&regrets) {
        // Theorem 1 of Auer, Cesa-Bianchi and Fischer.
        let logarithm = 8.0 * gaps.iter().map(|gap| (pairs as f64).ln() / gap).sum::<f64>();
        let constant = (1.0 + std::f64::consts::PI.powi(2) / 3.0) * gaps.iter().sum::<f64>();
        assert!(*regret <= logarithm + constant, "{pairs}: {regret}");
    }
    // Each doubling adds as much as the one before, within noise and the slow start; linear regret would add twice
    // that.
    let growth: Vec<f64> = regrets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(growth.iter().all(|more| *more > 0.0), "{regrets:?}");
    assert!(growth[3] < 1.3 * growth[1], "{regrets:?}");
}

#[test]
fn the_regret_of_uniform_is_the_mean_gap_and_that_of_epsilon_greedy_its_share_of_it() {
    let chances = [0.7, 0.4, 0.4, 0.4];
    let uniform = regret(PolicyKind::Uniform, &chances, &[4_000], 4);
    assert!((uniform[0] - 4_000.0 * 0.225).abs() < 1e-6, "{uniform:?}");
    let greedy = regret(PolicyKind::Epsilon, &chances, &[2_000, 4_000], 40);
    let slope = (greedy[1] - greedy[0]) / 2_000.0;
    assert!((slope - 0.1 * 0.225).abs() < 0.004, "{greedy:?}");
}

#[test]
fn halving_errs_no_more_often_than_its_theorem_says() {
    // Theorem 4.1 of Karnin, Koren and Somekh: 3 log₂ K · exp(−T / (8 H₂ log₂ K)), H₂ the largest of i/gapᵢ².
    let chances = [0.8, 0.5, 0.5, 0.5, 0.4, 0.4, 0.4, 0.4];
    let hardness = f64::max(4.0 / 0.09, 8.0 / 0.16);
    let pairs = 5_000;
    let bound = 9.0 * (-(pairs as f64) / (8.0 * hardness * 3.0)).exp();
    let found = simulate(&settings(PolicyKind::Halving, 8, pairs), &Field::bernoulli(&chances), &[], 60)
        .unwrap()
        .found;
    assert!(bound < 0.2 && 1.0 - found <= bound, "{found} {bound}");
    // Each of the three rounds has a third of the pairs: 8, 4, 2 arms.
    let run = play(&settings(PolicyKind::Halving, 8, 2_400), &Field::bernoulli(&chances), &[], 3);
    let mut pulls = run.pulls[..8].to_vec();
    pulls.sort_unstable();
    assert_eq!(pulls[..4].iter().sum::<u64>() / 4, 100, "{pulls:?}");
    assert!(pulls[6] >= 690 && pulls[7] >= 690, "{pulls:?}");
}

#[test]
fn lucb_and_track_and_stop_are_right_as_often_as_they_say_within_their_sample_complexity() {
    let chances = [0.8, 0.5, 0.4, 0.3];
    let field = Field::bernoulli(&chances);
    let hardness: f64 = [0.3, 0.3, 0.4, 0.5f64].iter().map(|gap| gap.powi(-2)).sum();
    let mut games = Vec::new();
    for policy in [PolicyKind::Lucb, PolicyKind::Track, PolicyKind::Uniform] {
        let settings = RaceSettings { until_known: true, batch: 4, ..settings(policy, 4, 100_000) };
        let simulated = simulate(&settings, &field, &[], 40).unwrap();
        assert!(simulated.found >= 0.9 && simulated.undecided == 0, "{simulated:?}");
        // Every bound at once, at any time: 10 % with three standard errors of 40 races.
        assert!(simulated.missed <= 0.1 + 3.0 * (0.09f64 / 40.0).sqrt(), "{simulated:?}");
        // Theorem 6 of Kalyanakrishnan et al.: 292 H ln(H / δ) + 16 pairs.
        assert!(simulated.games / 2.0 <= 292.0 * hardness * (hardness / 0.1).ln() + 16.0);
        games.push(simulated.games);
    }
    assert!(games[0] < 0.9 * games[2], "LUCB needs fewer than uniform: {games:?}");
}

#[test]
fn the_proportions_of_track_and_stop_are_optimal() {
    // Two arms: halves. Equal rivals: the best gets √n of what each has (Garivier and Kaufmann, A.4).
    for (gaps, want) in [
        (vec![0.0, 0.1], vec![0.5, 0.5]),
        (vec![0.2, 0.2, 0.0, 0.2, 0.2], vec![1.0 / 6.0, 1.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]),
    ] {
        let got = proportions(&gaps);
        assert!(got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-6), "{got:?}");
    }
    // Uneven rivals: no shift of a little weight between two arms raises the least evidence.
    let gaps = [0.0, 0.1, 0.2, 0.35f64];
    let least = |w: &[f64]| {
        let of = |i: usize| w[0] * w[i] / (w[0] + w[i]) * gaps[i].powi(2);
        (1..4).map(of).fold(f64::INFINITY, f64::min)
    };
    let best = proportions(&gaps);
    assert!((best.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    for from in 0..4 {
        for to in 0..4 {
            let mut other = best.clone();
            other[from] -= 1e-3;
            other[to] += 1e-3;
            assert!(least(&other) <= least(&best) + 1e-9, "{best:?} {from} {to}");
        }
    }
}

#[test]
fn twelve_candidates_over_30_elo_are_told_apart_with_a_third_of_the_games() {
    // Twenty times the spread of docs/race.md, for a four hundredth of its games.
    let elo: Vec<f64> = (0..12).map(|i| 600.0 * (1.0 - i as f64 / 11.0)).collect();
    let field = Field::new(&elo, false, Conditions { draws: 0.05, bias: 0.0 }).unwrap();
    let games = |policy| {
        let race =
            RaceSettings { anchor: false, until_known: true, batch: 40, ..settings(policy, 12, 100_000) };
        let simulated = simulate(&race, &field, &[], 16).unwrap();
        assert!(simulated.found >= 0.9 && simulated.undecided == 0, "{policy:?}: {simulated:?}");
        simulated.games
    };
    let [lucb, track, uniform] = [PolicyKind::Lucb, PolicyKind::Track, PolicyKind::Uniform].map(games);
    assert!(3.0 * lucb < uniform && 3.0 * track < uniform, "{lucb} {track} {uniform}");
}
