//! Tests that every run gives the same bytes, resumed or not, on any number of threads.

use super::{Checkpoints, OPTIMISERS, items, settings};
use crate::checkpoint::Checkpoint;
use crate::position_weight::{Measure, PositionWeight, WeightRule};
use crate::{Compute, Epoch, MemoryLoader, Settings, TrainItem, fit, fit_from};
use patzer_prepare::Prepared;

#[test]
fn the_bytes_depend_neither_on_the_run_nor_on_the_threads() {
    let items = items(5000, 3);
    let (train, validation) = items.split_at(4500);
    let settings = Settings { batch: 3000, epochs: 2, ..settings() };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit(train, validation, &settings, &mut |_: &Epoch| ()).unwrap())
    };
    let (one, again, two, three) = (with(1), with(1), with(2), with(3));
    for other in [&again, &two, &three] {
        assert_eq!(one.network.to_bytes(), other.network.to_bytes());
        for (a, b) in one.epochs.iter().zip(&other.epochs) {
            assert_eq!((a.train_loss, a.validation_loss), (b.train_loss, b.validation_loss));
        }
    }
    let other = fit(train, validation, &Settings { seed: 1, ..settings }, &mut |_: &Epoch| ()).unwrap();
    assert_ne!(one.network.to_bytes(), other.network.to_bytes());
}

#[test]
fn a_run_that_goes_on_gives_the_same_bytes_with_every_optimiser() {
    let items = items(900, 4);
    let (train, validation) = items.split_at(800);
    let mut results = Vec::new();
    for optimiser in OPTIMISERS {
        let settings = Settings {
            optimiser,
            epochs: 4,
            batch: 100,
            clip_gradient: 0.01,
            l2: 1e-5,
            final_wdl: Some(0.8),
            ..settings()
        };
        let mut whole = Checkpoints::default();
        let expected = fit(train, validation, &settings, &mut whole).unwrap();
        assert_eq!((whole.kept.len(), whole.seen), (4, 4));
        let losses = |outcome: &crate::TrainOutcome| -> Vec<_> {
            outcome.epochs.iter().map(|e| (e.epoch, e.train_loss, e.validation_loss)).collect()
        };
        for state in [&whole.kept[0], &whole.kept[2], &whole.kept[3]] {
            let mut again = Checkpoints { from: Some(state.clone()), ..Checkpoints::default() };
            let outcome = fit(train, validation, &settings, &mut again).unwrap();
            assert_eq!(outcome.network.to_bytes(), expected.network.to_bytes(), "{optimiser:?}");
            assert_eq!(losses(&outcome), losses(&expected));
            assert_eq!(again.seen, 4, "callbacks see finished epochs again");
        }
        let other = Settings { seed: 5, ..settings };
        let mut again = Checkpoints { from: Some(whole.kept[0].clone()), ..Checkpoints::default() };
        let error = fit(train, validation, &other, &mut again).unwrap_err().to_string();
        assert!(error.contains("other settings"), "{error}");
        results.push(expected.network.body());
    }
    results.dedup();
    assert_eq!(results.len(), OPTIMISERS.len(), "every optimiser goes its own way");
}

#[test]
fn a_forged_checkpoint_is_refused_whatever_field_it_changes() {
    let mut items = items(300, 4);
    // Scores that the start does not know.
    items.iter_mut().for_each(|item| item.score = Some(300));
    let (train, validation) = items.split_at(200);
    let settings = Settings { epochs: 3, batch: 100, average: 0.9, patience: 2, ..settings() };
    let mut whole = Checkpoints::default();
    fit(train, validation, &settings, &mut whole).unwrap();
    let saved = Checkpoint::parse(&whole.kept[1]).unwrap();
    type Forge = fn(&mut Checkpoint);
    let forgeries: &[(&str, Forge)] = &[
        ("no epochs", |c| c.epochs.clear()),
        ("too many epochs", |c| c.epochs = c.epochs.repeat(2)),
        ("an epoch out of order", |c| c.epochs.swap(0, 1)),
        ("an epoch of number 0", |c| c.epochs[0].epoch = 0),
        ("a loss that is no number", |c| c.epochs[0].train_loss = f64::NAN),
        ("a validation loss missing", |c| c.epochs[0].validation_loss = None),
        ("a speed that is infinite", |c| c.epochs[1].positions_per_second = f64::INFINITY),
        ("the best epoch 0", |c| c.best_epoch = 0),
        ("the best epoch beyond the last", |c| c.best_epoch = 3),
        ("the best epoch 2^64 - 1", |c| c.best_epoch = u64::MAX),
        ("another best loss", |c| c.best_loss /= 2.0),
        ("a best loss that is no number", |c| c.best_loss = f64::NAN),
        ("another step", |c| c.step += 1),
        ("the last step", |c| c.step = u64::MAX),
        ("more steps of the optimiser", |c| c.optimiser_steps = u64::MAX),
        ("no vectors", |c| c.vectors.clear()),
        ("a single vector", |c| c.vectors.truncate(1)),
        ("a vector less", |c| drop(c.vectors.pop())),
        ("a vector more", |c| c.vectors.push(c.vectors[0].clone())),
        ("a shorter vector", |c| c.vectors[0].truncate(7)),
        ("a shorter best", |c| c.vectors[1].truncate(7)),
        ("a longer moment", |c| c.vectors[2].push(0.0)),
        ("a weight that is no number", |c| c.vectors[0][7] = f32::NAN),
        ("an infinite moment", |c| c.vectors[3][7] = f32::INFINITY),
        ("the hash of another run", |c| c.hash = "ab".repeat(32)),
    ];
    for (name, forge) in forgeries {
        let mut forged = saved.clone();
        forge(&mut forged);
        let mut again = Checkpoints { from: Some(forged.to_bytes()), ..Checkpoints::default() };
        let error = fit(train, validation, &settings, &mut again).expect_err(name);
        assert!(error.exit_code() == 1 && error.to_string().contains("the checkpoint is"), "{name}: {error}");
    }
}

#[test]
fn averaged_weights_are_kept_and_a_run_goes_on_with_them() {
    let items = items(900, 4);
    let (train, validation) = items.split_at(800);
    let settings = Settings { average: 0.9, epochs: 3, batch: 100, learning_rate: 0.01, ..settings() };
    let mut whole = Checkpoints::default();
    let averaged = fit(train, validation, &settings, &mut whole).unwrap();
    let mut again = Checkpoints { from: Some(whole.kept[0].clone()), ..Checkpoints::default() };
    let resumed = fit(train, validation, &settings, &mut again).unwrap();
    assert_eq!(resumed.network.to_bytes(), averaged.network.to_bytes());
    let plain = Settings { average: 0.0, ..settings };
    let plain = fit(train, validation, &plain, &mut |_: &Epoch| ()).unwrap();
    assert_eq!(plain.epochs[0].train_loss, averaged.epochs[0].train_loss);
    assert_ne!(plain.epochs[0].validation_loss, averaged.epochs[0].validation_loss);
    assert_ne!(plain.network.body(), averaged.network.body());
}

#[test]
fn jitter_and_weights_change_the_network_and_a_run_goes_on_with_them() {
    let mut items = items(900, 4);
    // Scores that the start does not know.
    items.iter_mut().enumerate().for_each(|(at, item)| item.score = Some((at % 7 * 300) as i16));
    let (train, validation) = items.split_at(800);
    let plain = Settings { epochs: 2, batch: 100, learning_rate: 0.01, ..settings() };
    let weight = PositionWeight(vec![WeightRule { by: Measure::Pieces, at: vec![[8.0, 3.0], [32.0, 0.5]] }]);
    let jitter = Settings { wdl_jitter: Some(0.3), ..plain.clone() };
    let weighted = Settings { position_weight: Some(weight), ..plain.clone() };
    let mut bodies = vec![fit(train, validation, &plain, &mut |_: &Epoch| ()).unwrap().network.body()];
    for settings in [jitter, weighted] {
        let mut whole = Checkpoints::default();
        let expected = fit(train, validation, &settings, &mut whole).unwrap();
        let mut again = Checkpoints { from: Some(whole.kept[0].clone()), ..Checkpoints::default() };
        let resumed = fit(train, validation, &settings, &mut again).unwrap();
        assert_eq!(resumed.network.to_bytes(), expected.network.to_bytes());
        bodies.push(expected.network.body());
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 3);
}

#[test]
fn a_run_whose_passes_differ_goes_on_to_the_same_bytes() {
    let all = items(1_000, 4);
    let settings = Settings { batch: 100, epochs: 4, ..settings() };
    // Passes of other numbers of positions: some fewer than the first, some more.
    let drawn = |pass: u64| -> Vec<TrainItem> {
        let of_pass = |at: &u64| patzer_chess::rng::unit(patzer_chess::rng::mix(pass, *at)) < 0.5;
        (0..1_000).filter(of_pass).map(|at| all[at as usize]).collect()
    };
    let read_again = |pass| {
        let train = drawn(pass);
        let (by_file, validation, sources) = (vec![train.len()], Vec::new(), Vec::new());
        Ok(Prepared { train, by_file, validation, sources, read: 1_000, dropped: Default::default() })
    };
    let first = drawn(0);
    let run = |read_again, keeper: &mut Checkpoints| {
        let mut loader = MemoryLoader::new(&first, &settings).unwrap();
        loader.read_again = read_again;
        fit_from(&mut loader, &[], &settings, Compute::cpu(), keeper).unwrap().network.to_bytes()
    };
    let mut whole = Checkpoints::default();
    let expected = run(Some((&read_again, &settings)), &mut whole);
    assert_ne!(expected, run(None, &mut Checkpoints::default()));
    for state in whole.kept {
        let mut again = Checkpoints { from: Some(state), ..Checkpoints::default() };
        assert_eq!(run(Some((&read_again, &settings)), &mut again), expected);
    }
}
