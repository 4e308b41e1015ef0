//! The statistics answer for all counts and bounds, and their error rates are what they promise.

use patzer::rng::Rng;
use patzer::stats::{Estimate, Model, Pentanomial, Sprt, Trinomial, Verdict, elo::expected_score};
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

/// The verdict of one simulated test, with pairs drawn so that the mean score is that of `elo`.
fn simulate(test: &Sprt, elo: f64, rng: &mut Rng) -> Verdict {
    // LD and WD are half a point of the pair apart, so the mean moves by half of what moves between them.
    let shift = 2.0 * (expected_score(elo) - 0.5);
    let chance = [0.05, 0.2 - shift, 0.5, 0.2 + shift, 0.05];
    let mut counts = Pentanomial::default();
    for pair in 1..200_000 {
        let (mut at, mut outcome) = (rng.unit(), 0);
        while outcome < 4 && at >= chance[outcome] {
            at -= chance[outcome];
            outcome += 1;
        }
        counts.0[outcome] += 1;
        // Looking only now and then keeps the test quick; it can only lower the error rates.
        if pair % 16 == 0 {
            let verdict = test.verdict(test.llr(counts));
            if verdict != Verdict::Undecided {
                return verdict;
            }
        }
    }
    Verdict::Undecided
}

#[test]
fn error_rates_stay_within_what_was_asked_for() {
    const TESTS: usize = 300;
    let (elo0, elo1, rate) = (0.0, 40.0, 0.1);
    let test = Sprt::new(Model::Logistic, elo0, elo1, rate, rate).unwrap();
    let mut rng = Rng::new(20_260_101);
    let mut wrong = |elo: f64, error: Verdict| {
        (0..TESTS).filter(|_| simulate(&test, elo, &mut rng) == error).count() as f64
    };
    // Three standard deviations of the binomial distribution above its mean.
    let limit = TESTS as f64 * rate + 3.0 * (TESTS as f64 * rate * (1.0 - rate)).sqrt();
    let (false_h1, false_h0) = (wrong(elo0, Verdict::H1), wrong(elo1, Verdict::H0));
    assert!(false_h1 <= limit, "{false_h1} of {TESTS} accepted H1 under H0");
    assert!(false_h0 <= limit, "{false_h0} of {TESTS} accepted H0 under H1");
    // And the test is not idle: it makes errors, and fewer than half of what is allowed would be suspicious.
    assert!(false_h1 + false_h0 >= 0.3 * TESTS as f64 * rate, "{false_h1} {false_h0}");
}
