//! The statistics answer for all counts and bounds, and their error rates are what they promise.

use patzer_stats::plan::{Conditions, Pairs, expect, simulate};
use patzer_stats::{Adjusted, Estimate, Model, Pentanomial, Sprt, Trinomial};
use proptest::prelude::*;

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), Just(1), 0..50u64, 0..1_000_000u64, 0..1_000_000_000_000_000u64]
}

fn bound() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0f64, -2000.0..2000.0f64, -1e9..1e9f64, -1e300..1e300f64, -1e-9..1e-9f64]
}

fn model() -> impl Strategy<Value = Model> {
    prop_oneof![Just(Model::Normalized), Just(Model::Logistic), Just(Model::Bayesian)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_counts_and_no_bounds_give_nan(
        counts in prop::array::uniform5(count()),
        a in bound(),
        b in bound(),
        model in model(),
    ) {
        let Ok(test) = Sprt::new(model, a.min(b), a.max(b), 0.05, 0.05) else { return Ok(()) };
        let pairs = Pentanomial(counts);
        let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
        prop_assert!(!test.llr(pairs).is_nan(), "{:?}", test);
        prop_assert!(!test.llr(games).is_nan(), "{:?}", test);
        for e in [Estimate::new(pairs), Estimate::new(games)] {
            for value in [e.elo, e.elo_error, e.nelo, e.nelo_error, e.los] {
                prop_assert!(!value.is_nan(), "{:?}", e);
            }
        }
    }

    #[test]
    fn the_other_side_sees_the_mirror_image(counts in prop::array::uniform5(0..100_000u64), elo in 0.1..20.0f64) {
        // Exchange the players and the hypotheses: the ratio changes its sign, whatever the model.
        let mut mirrored = counts;
        mirrored.reverse();
        for model in [Model::Normalized, Model::Logistic] {
            let here = Sprt::new(model, -1.0, elo, 0.05, 0.05).unwrap().llr(Pentanomial(counts));
            let there = Sprt::new(model, -elo, 1.0, 0.05, 0.05).unwrap().llr(Pentanomial(mirrored));
            prop_assert!((here + there).abs() <= 1e-6 * (1.0 + here.abs()), "{} {}", here, there);
        }
        let (a, b) = (Estimate::new(Pentanomial(counts)), Estimate::new(Pentanomial(mirrored)));
        prop_assert!(a.elo == -b.elo || (a.elo + b.elo).abs() < 1e-9 * (1.0 + a.elo.abs()));
        prop_assert!((a.los + b.los - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_won_pair_never_speaks_for_the_weaker_hypothesis(counts in prop::array::uniform5(1..5_000u64)) {
        let mut better = counts;
        better[0] -= 1;
        better[4] += 1;
        let test = Sprt::new(Model::Logistic, 0.0, 5.0, 0.05, 0.05).unwrap();
        prop_assert!(test.llr(Pentanomial(better)) > test.llr(Pentanomial(counts)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_test_tells_a_difference_for_all_counts_and_bounds(
        counts in prop::array::uniform5(count()),
        a in bound(),
        b in bound(),
        rates in (1e-6..0.49f64, 1e-6..0.49f64),
        model in model(),
    ) {
        let Ok(test) = Sprt::new(model, a.min(b), a.max(b), rates.0, rates.1) else { return Ok(()) };
        let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
        for adjusted in [Adjusted::new(&test, Pentanomial(counts)), Adjusted::new(&test, games)].into_iter().flatten() {
            for value in [adjusted.elo, adjusted.low, adjusted.high, adjusted.los] {
                prop_assert!(!value.is_nan(), "{:?} {:?}", test, adjusted);
            }
            prop_assert!(adjusted.low <= adjusted.elo && adjusted.elo <= adjusted.high, "{:?} {:?}", test, adjusted);
            prop_assert!((0.0..=1.0).contains(&adjusted.los));
        }
    }

    #[test]
    fn plans_are_numbers(
        elo in -500.0..500.0f64,
        draws in 0.0..0.99f64,
        bias in 0.0..300.0f64,
        bounds in (-50.0..50.0f64, 0.01..100.0f64),
    ) {
        for model in [Model::Logistic, Model::Normalized] {
            let test = Sprt::new(model, bounds.0, bounds.0 + bounds.1, 0.05, 0.05).unwrap();
            let Ok(pairs) = Pairs::of_model(model, elo, Conditions { draws, bias }) else { continue };
            prop_assert!((pairs.chance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let e = expect(&test, &pairs);
            prop_assert!((0.0..=1.0).contains(&e.pass) && e.games > 0.0 && e.games.is_finite(), "{:?}", e);
        }
    }
}

#[test]
fn error_rates_stay_within_what_was_asked_for() {
    const TESTS: u64 = 2_000;
    let rate = 0.05;
    let conditions = Conditions { draws: 0.5, bias: 80.0 };
    // Three standard deviations of the binomial distribution above its mean.
    let limit = rate + 3.0 * (rate * (1.0 - rate) / TESTS as f64).sqrt();
    for (model, elo1) in [(Model::Logistic, 25.0), (Model::Normalized, 40.0)] {
        let test = Sprt::new(model, 0.0, elo1, rate, rate).unwrap();
        let [null, alternative] = [0.0, elo1].map(|elo| {
            let pairs = Pairs::of_model(model, elo, conditions).unwrap();
            simulate(&test, &pairs, TESTS, 1_000_000, 20_260_101).unwrap()
        });
        assert_eq!((null.undecided, alternative.undecided), (0, 0));
        let (false_h1, false_h0) = (null.pass, 1.0 - alternative.pass);
        assert!(false_h1 <= limit, "{model:?}: {false_h1} accepted H1 under H0");
        assert!(false_h0 <= limit, "{model:?}: {false_h0} accepted H0 under H1");
        // And the test is not idle: it makes errors, and fewer than half of what is allowed would be suspicious.
        assert!(false_h1 > 0.5 * rate && false_h0 > 0.5 * rate, "{model:?}: {false_h1} {false_h0}");
    }
}
