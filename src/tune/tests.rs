//! Tests of tuning as a whole, on positions of random games.

use super::*;
use crate::eval::hce::{Hce, Term};
use shakmaty::{Chess, Position};
use std::sync::Arc;

/// Positions of random games, with a target from the given function of board and side to move.
fn positions(count: usize, seed: u64, mut target: impl FnMut(&Chess, &mut Rng) -> f32) -> Vec<TuneItem> {
    let mut rng = Rng::new(seed);
    let mut items = Vec::with_capacity(count);
    let mut position = Chess::default();
    let mut ply = 0;
    while items.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 120 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        if ply % 5 == 0 {
            let target = target(&position, &mut rng);
            items.push(TuneItem { board: PackedBoard::pack(&position), turn: position.turn(), target });
        }
    }
    items
}

/// Weights that a test is to find again.
fn truth() -> Weights {
    let mut pairs = Weights::untuned().pairs().to_vec();
    let material = Term::named("material").unwrap().range();
    pairs[material].copy_from_slice(&[[80, 120], [310, 290], [330, 320], [480, 530], [980, 940]]);
    pairs[Term::named("tempo").unwrap().range()].copy_from_slice(&[[25, 15]]);
    Weights::from_pairs(1.0, &pairs).unwrap()
}

fn quick() -> Settings {
    let terms = vec!["material".into(), "tempo".into()];
    Settings { epochs: 60, batch: 2048, learning_rate: 6.0, terms, k: Some(1.0), ..Settings::default() }
}

#[test]
fn known_weights_are_found_again() {
    let hce = Hce::new(Arc::new(truth()));
    let expected = |position: &Chess, _: &mut Rng| {
        wdl::sigmoid(1.0, f64::from(hce.white(position.board(), position.turn()))) as f32
    };
    let (train, validation) = (positions(8_000, 1, expected), positions(1_000, 2, expected));
    let settings = Settings { epochs: 150, ..quick() };
    let outcome = fit(&train, &validation, &Weights::untuned(), &settings, &mut |_| {}).unwrap();
    for (name, pairs) in [("material", 5), ("tempo", 1)] {
        let range = Term::named(name).unwrap().range();
        assert_eq!(range.len(), pairs);
        for (found, real) in outcome.weights.pairs()[range.clone()].iter().zip(&truth().pairs()[range]) {
            for half in 0..2 {
                assert!((found[half] - real[half]).abs() <= 6, "{name}: {found:?} and {real:?}");
            }
        }
    }
    assert!(outcome.after.validation.unwrap() < outcome.before.validation.unwrap() / 50.0);
    assert_eq!(outcome.parameters, 12);
    // What is not tuned stays.
    assert!(outcome.weights.part("psqt", "pawn").unwrap().iter().all(|pair| *pair == [0, 0]));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let train = positions(5_000, 3, |_, rng| rng.below(3) as f32 / 2.0);
    let settings = Settings { epochs: 3, batch: 2048, k: Some(1.5), ..Settings::default() };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut losses = Vec::new();
        let outcome = pool.install(|| {
            fit(&train[..4_000], &train[4_000..], &Weights::untuned(), &settings, &mut |e| {
                losses.push((e.train_loss, e.validation_loss));
            })
        });
        let outcome = outcome.unwrap();
        (outcome.weights.to_toml(), outcome.exact, losses)
    };
    assert_eq!(with(1), with(2));
}

#[test]
fn tuning_stops_early_and_keeps_the_best() {
    // The validation results are the opposite of the training results, so every step makes it worse.
    let hce = Hce::new(Arc::new(truth()));
    let train = positions(2_000, 4, |p, _| f32::from(u8::from(hce.white(p.board(), p.turn()) > 0)));
    let opposite: Vec<_> = train.iter().map(|item| TuneItem { target: 1.0 - item.target, ..*item }).collect();
    let settings = Settings { patience: 4, ..quick() };
    let start = Weights::from_pairs(1.0, &[[0, 0]; COUNT]).unwrap();
    let outcome = fit(&train, &opposite, &start, &settings, &mut |_| {}).unwrap();
    assert_eq!((outcome.epochs, outcome.best_epoch), (4, 0));
    assert_eq!(outcome.weights, start);
}

#[test]
fn a_pull_keeps_weights_near_their_start() {
    let hce = Hce::new(Arc::new(truth()));
    let target = |p: &Chess, _: &mut Rng| f32::from(u8::from(hce.white(p.board(), p.turn()) > 0));
    let train = positions(2_000, 5, target);
    let distance = |l2: f32| {
        let settings = Settings { l2, epochs: 20, ..quick() };
        let outcome = fit(&train, &[], &Weights::untuned(), &settings, &mut |_| {}).unwrap();
        let start = Weights::untuned();
        let pairs = outcome.weights.pairs().as_flattened().iter().zip(start.pairs().as_flattened());
        pairs.map(|(a, b)| (a - b).abs()).sum::<i32>()
    };
    assert!(distance(10.0) < distance(0.0) / 2, "{} {}", distance(10.0), distance(0.0));
}

#[test]
fn k_is_fitted_to_the_initial_weights() {
    let hce = Hce::new(Arc::new(Weights::untuned()));
    let target = |p: &Chess, rng: &mut Rng| {
        let expected = wdl::sigmoid(1.4, f64::from(hce.white(p.board(), p.turn())));
        f32::from(u8::from(rng.unit() < expected))
    };
    let settings = Settings { epochs: 1, k: None, ..quick() };
    let outcome =
        fit(&positions(10_000, 6, target), &[], &Weights::untuned(), &settings, &mut |_| {}).unwrap();
    assert!((outcome.k - 1.4).abs() < 0.1, "{}", outcome.k);
    assert_eq!(outcome.weights.k(), outcome.k);
}

#[test]
fn nothing_to_tune_on_is_an_error() {
    let error = fit(&[], &[], &Weights::untuned(), &Settings::default(), &mut |_| {}).unwrap_err();
    assert_eq!(error.exit_code(), 1);
}
