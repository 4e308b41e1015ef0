//! Training against a plain implementation in f64, against finite differences, and against itself.

use shakmaty::{Chess, Color, Position};

use super::checkpoint::Checkpoint;
use super::cpu_gradient::CpuGradient;
use super::loss::Target;
use super::model::Model;
use super::param_layout::ParamLayout;
use super::{Epoch, OptimiserKind, Settings, TrainItem, TrainingCallbacks, WIN, fit};
use patzer_chess::PackedBoard;
use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::features::{self, Features};
use patzer_eval::nnue::{
    About, Activation, Architecture, KingBuckets, Nnue, OutputBy, material, oriented, phase,
};
use patzer_io::error::{Error, Result};

/// Positions of random games with material scores, some without a score.
pub fn items(count: usize, seed: u64) -> Vec<TrainItem> {
    let mut rng = Rng::new(seed);
    let mut judge = Nnue::new(material::network(16).unwrap().into());
    let mut items = Vec::new();
    while items.len() < count {
        let mut position = Chess::default();
        let result = (rng.below(3) as i16 - 1) * WIN;
        for _ in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() || items.len() == count {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            let score = (rng.below(5) > 0).then(|| judge.evaluate(&position, 0) as i16);
            let board = PackedBoard::pack(&position);
            // Random games are too lively for long clocks.
            let halfmoves = (7 * items.len() % 120) as u8;
            items.push(TrainItem { board, turn: position.turn(), halfmoves, score, result });
        }
    }
    items
}

fn settings_of(architecture: Architecture) -> Settings {
    Settings { epochs: 3, batch: 300, warmup: 0, ..Settings::of(architecture) }
}

fn settings() -> Settings {
    settings_of(plain(16))
}

pub fn plain(hidden: usize) -> Architecture {
    Architecture::plain(hidden)
}

/// Small architectures that use every feature in turn, the last all of them.
pub fn shapes() -> Vec<Architecture> {
    let plain = || Architecture::plain(20);
    let five = || KingBuckets::parse("five").unwrap();
    let sum = |text| Features::parse(text).unwrap();
    vec![
        plain(),
        Architecture { hidden: 64, ..plain() },
        Architecture { views: 1, ..plain() },
        Architecture { activation: Activation::Relu, ..plain() },
        Architecture { activation: Activation::Crelu, output_buckets: 8, ..plain() },
        Architecture { activation: Activation::Pairwise, ..plain() },
        Architecture { activation: Activation::Pairwise, hidden: 64, views: 1, ..plain() },
        Architecture { mirror: true, ..plain() },
        Architecture { king_buckets: five(), psqt: true, ..plain() },
        Architecture { output_buckets: 4, output_by: OutputBy::Phase, psqt: true, views: 1, ..plain() },
        Architecture { layers: vec![8], ..plain() },
        Architecture { layers: vec![17, 4], activation: Activation::Crelu, output_buckets: 2, ..plain() },
        Architecture { layers: vec![3], activation: Activation::Relu, views: 1, ..plain() },
        Architecture { features: sum("all+h+v+d1+d2"), ..plain() },
        Architecture { features: sum("ph+pv+mb+mc"), mirror: true, ..plain() },
        Architecture { features: sum("all+pp+threats"), hidden: 8, ..plain() },
        Architecture {
            features: sum("all+pp+threats+clock"),
            hidden: 4,
            mirror: true,
            king_buckets: five(),
            psqt: true,
            ..plain()
        },
        Architecture {
            features: sum("all+mc"),
            layers: vec![16, 8],
            activation: Activation::Pairwise,
            mirror: true,
            king_buckets: five(),
            output_buckets: 8,
            psqt: true,
            ..plain()
        },
    ]
}

/// Mean loss by definition, in f64; shares only parameter offsets with the implementation.
fn reference_loss(layout: &ParamLayout, parameters: &[f64], items: &[TrainItem], settings: &Settings) -> f64 {
    let architecture = &layout.architecture;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let clip = |x: f64| x.clamp(0.0, 1.0);
    let further = |x: f64| match architecture.activation {
        Activation::Relu => x.max(0.0),
        Activation::Crelu => clip(x),
        Activation::Screlu | Activation::Pairwise => clip(x) * clip(x),
    };
    let (wdl, k) = (f64::from(settings.wdl), f64::from(settings.k.unwrap()));
    let loss = |item: &TrainItem| {
        let board = item.board.board().unwrap();
        let bucket = architecture.output_bucket(board.occupied().count(), phase(&board));
        let mut values = Vec::new();
        let mut skipped = 0.0;
        for (side, sign) in [(item.turn, 1.0), (item.turn.other(), -1.0)].into_iter().take(architecture.views)
        {
            let (view, king) = oriented(architecture, &board, item.halfmoves, side);
            let mut words = vec![0; architecture.features.words()];
            architecture.features.write(&view, &mut words);
            let active: Vec<usize> = features::ones(&words).collect();
            let row = |feature: usize| layout.numbers.row(king, feature);
            let shared = |feature: usize, at: fn(&ParamLayout, usize, usize) -> usize, column: usize| {
                if feature < layout.factor_rows { parameters[at(layout, feature, column)] } else { 0.0 }
            };
            let sum = |neuron: usize| -> f64 {
                let weight = |f: &usize| {
                    parameters[layout.feature_at(row(*f), neuron)]
                        + shared(*f, ParamLayout::factor_at, neuron)
                };
                parameters[layout.bias_at(neuron)] + active.iter().map(weight).sum::<f64>()
            };
            let sums: Vec<f64> = (0..architecture.hidden).map(sum).collect();
            let activated = |n: usize| match architecture.activation {
                Activation::Pairwise => clip(sums[n]) * clip(sums[n + architecture.hidden / 2]),
                _ => further(sums[n]),
            };
            values.extend((0..architecture.outputs_per_perspective()).map(activated));
            if architecture.psqt {
                let value = |f: &usize| {
                    parameters[layout.psqt_at(row(*f), bucket)]
                        + shared(*f, ParamLayout::psqt_factor_at, bucket)
                };
                skipped += sign * active.iter().map(value).sum::<f64>() / architecture.views as f64;
            }
        }
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            if layer > 0 {
                values.iter_mut().for_each(|x| *x = further(*x));
            }
            let output = |o: usize| -> f64 {
                let products =
                    (0..inputs).map(|i| values[i] * parameters[layout.weight_at(bucket, layer, o, i)]);
                products.sum::<f64>() + parameters[layout.dense_bias_at(bucket, layer, o)]
            };
            values = (0..outputs).map(output).collect();
        }
        let sign = if item.turn == Color::White { 1.0 } else { -1.0 };
        let result = (f64::from(item.result) / f64::from(WIN) * sign + 1.0) / 2.0;
        let target =
            item.score.map_or(result, |s| wdl * result + (1.0 - wdl) * sigmoid(k * f64::from(s) / 400.0));
        (sigmoid(k * (values[0] + skipped)) - target).abs().powf(settings.power.into())
    };
    items.iter().map(loss).sum::<f64>() / items.len() as f64
}

pub fn places(layout: &ParamLayout) -> Vec<usize> {
    let architecture = &layout.architecture;
    let mut places = Vec::new();
    for neuron in 0..architecture.hidden {
        places.extend((0..layout.rows).map(|row| layout.feature_at(row, neuron)));
        places.extend((0..layout.factor_rows).map(|feature| layout.factor_at(feature, neuron)));
        places.push(layout.bias_at(neuron));
    }
    for bucket in 0..architecture.output_buckets {
        if architecture.psqt {
            places.extend((0..layout.rows).map(|row| layout.psqt_at(row, bucket)));
            places.extend((0..layout.factor_rows).map(|feature| layout.psqt_factor_at(feature, bucket)));
        }
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            for output in 0..outputs {
                places.extend((0..inputs).map(|input| layout.weight_at(bucket, layer, output, input)));
                places.push(layout.dense_bias_at(bucket, layer, output));
            }
        }
    }
    places
}

/// Makes weights and biases large enough to clip some activations.
pub fn enlarge(model: &mut Model, rng: &mut Rng) {
    for at in places(&model.layout) {
        model.parameters[at] = model.parameters[at] * 3.0 + 0.01 + 0.02 * rng.normal() as f32;
    }
}

fn check_gradient(architecture: &Architecture, factoriser: bool) {
    let items = items(260, 1);
    let settings = Settings { wdl: 0.4, k: Some(1.2), power: 2.5, ..settings() };
    let target = Target { wdl: 0.4, k: 1.2, offset: 0.0 };
    let mut model = Model::random(architecture, factoriser, 5);
    let mut rng = Rng::new(6);
    enlarge(&mut model, &mut rng);
    let batch: Vec<u32> = (0..items.len() as u32).collect();
    let mut cpu = CpuGradient::new(&model, items.len(), false);
    let mean = cpu.mean_loss(&model, settings.loss(), target, &items);
    let (loss, gradient) = cpu.gradient(&model, settings.loss(), target, &items, &batch);
    let exact: Vec<f64> = model.parameters.iter().map(|w| f64::from(*w)).collect();
    let reference = |parameters: &[f64]| reference_loss(&model.layout, parameters, &items, &settings);
    let expected = reference(&exact);
    for loss in [loss / items.len() as f64, mean] {
        assert!((loss - expected).abs() <= 1e-5, "{architecture}: the loss {loss} is not {expected}");
    }

    let layout = &model.layout;
    let touched: Vec<usize> = (0..layout.bias).filter(|at| gradient[*at] != 0.0).collect();
    let mut checked: Vec<usize> = (0..14).map(|_| touched[rng.below(touched.len())]).collect();
    checked.extend((0..4).map(|_| layout.bias_at(rng.below(architecture.hidden))));
    if factoriser {
        let shared: Vec<usize> =
            (layout.factor..layout.output_start).filter(|at| gradient[*at] != 0.0).collect();
        checked.extend((0..8).map(|_| shared[rng.below(shared.len())]));
    }
    for bucket in 0..architecture.output_buckets.min(3) {
        if architecture.psqt {
            let at = |row: usize| layout.psqt_at(row, bucket);
            checked.extend((0..layout.rows).map(at).filter(|at| gradient[*at] != 0.0).take(3));
        }
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            for _ in 0..5 {
                let (output, input) = (rng.below(outputs), rng.below(inputs));
                checked.push(layout.weight_at(bucket, layer, output, input));
                checked.push(layout.dense_bias_at(bucket, layer, output));
            }
        }
    }
    let mut largest = 0.0f64;
    for at in checked {
        let moved = |step: f64| {
            let mut moved = exact.clone();
            moved[at] += step;
            reference(&moved)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let error = (f64::from(gradient[at]) - expected).abs();
        let bound = 2e-6 + 2e-3 * expected.abs();
        assert!(error <= bound, "{architecture}, parameter {at}: {} is not {expected}", gradient[at]);
        largest = largest.max(expected.abs());
    }
    assert!(largest > 1e-4, "{architecture}: the gradient is trivially zero");
}

#[test]
fn gradients_of_every_shape_are_those_of_finite_differences() {
    use rayon::prelude::*;

    shapes().into_par_iter().for_each(|architecture| {
        check_gradient(&architecture, architecture.king_bucket_count() > 1);
    });
}

#[test]
fn what_is_trained_is_what_plays() {
    let items = items(3000, 8);
    for architecture in shapes() {
        let layout = Architecture { hidden: 32, ..architecture };
        let settings = Settings { factoriser: true, learning_rate: 0.003, ..settings_of(layout.clone()) };
        let outcome = fit(&items, &[], &settings, &mut |_: &Epoch| ()).unwrap();
        let (first, last) = (outcome.epochs[0].train_loss, outcome.epochs[2].train_loss);
        assert!(last < first, "{layout}: {first} → {last}");
        assert_eq!(outcome.network.architecture(), &layout);
        // Rounding hundreds of weights: some centipawns.
        assert!(outcome.quantisation.mean_error < 30.0, "{layout}: {:?}", outcome.quantisation);
    }
}

#[test]
fn sums_in_sixteen_bits_give_almost_the_same_gradient() {
    for architecture in shapes() {
        let items = items(300, 8);
        let settings = Settings { k: Some(1.0), ..settings() };
        let (loss, target) = (settings.loss(), Target { wdl: 0.3, k: 1.0, offset: 0.0 });
        let model = Model::random(&architecture, false, 5);
        let batch: Vec<u32> = (0..items.len() as u32).collect();
        let with = |shorts: bool| {
            let mut cpu = CpuGradient::new(&model, items.len(), shorts);
            let (loss, gradient) = cpu.gradient(&model, loss, target, &items, &batch);
            (loss / items.len() as f64, gradient.to_vec())
        };
        let ((exact, expected), (near, found)) = (with(false), with(true));
        assert!((exact - near).abs() < 1e-4, "{architecture}: {near} is not {exact}");
        let square =
            |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>();
        let size = square(&mut expected.iter().copied());
        let away = square(&mut expected.iter().zip(&found).map(|(a, b)| a - b));
        // An accumulator that rounding moves over an activation's edge switches its gradient.
        assert!(away < 0.01 * size, "{architecture}: {}", (away / size).sqrt());
        assert_ne!(expected, found);
    }
}

#[test]
fn a_thousand_positions_are_learnt_by_heart() {
    let items = items(1000, 2);
    let settings = Settings { epochs: 250, batch: 100, learning_rate: 0.01, ..settings_of(plain(32)) };
    let settings = Settings { weight_decay: 0.0, wdl: 0.0, ..settings };
    let outcome = fit(&items, &items, &settings, &mut |_: &Epoch| ()).unwrap();
    let (first, best) = (outcome.epochs[0].train_loss, outcome.losses.train);
    assert!(best < first / 50.0 && best < 5e-4, "{first} → {best}");
    // Rounding 64 output weights to 1/64 moves the sum by at most 400·√64/(64·√12) = 14.4 cp (standard deviation).
    let q = outcome.quantisation;
    assert!(q.mean_error < 14.4 && q.max_error < 4.0 * 14.4, "{q:?}");
}

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
fn the_best_epoch_is_the_one_that_is_kept() {
    // At this rate the validation loss goes up and down. Random scores are nothing that the start knows.
    let mut items = items(600, 7);
    items.iter_mut().enumerate().for_each(|(at, item)| item.score = Some((at % 7 * 300) as i16));
    let (train, validation) = items.split_at(500);
    let schedule = patzer_fit::optim::Decay::Constant;
    let settings = Settings { learning_rate: 0.05, schedule, epochs: 8, wdl: 0.0, ..settings() };
    let mut seen = Vec::new();
    let outcome = fit(train, validation, &settings, &mut |epoch: &Epoch| seen.push(*epoch)).unwrap();
    assert_eq!(seen, outcome.epochs);
    let lowest = seen.iter().map(|e| e.validation_loss.unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(outcome.epochs[outcome.best_epoch - 1].validation_loss, Some(lowest));
    assert_eq!(outcome.losses.validation, Some(lowest));
    assert!(outcome.losses.start > Some(lowest));
}

#[test]
fn the_start_is_kept_if_no_epoch_is_better() {
    // Scores count material, as the start does, and steps of this size forget it.
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let settings = Settings { learning_rate: 2.0, epochs: 2, warmup: 0, wdl: 0.0, ..settings() };
    let mut whole = Checkpoints::default();
    let outcome = fit(train, validation, &settings, &mut whole).unwrap();
    assert_eq!((outcome.best_epoch, outcome.epochs.len()), (0, 2));
    assert_eq!(outcome.losses.validation, outcome.losses.start);
    let start =
        Model::start(&settings.architecture(), false, settings.seed, 1.0).quantise(About::default()).unwrap();
    assert_eq!(outcome.network.body(), start.body());
    let mut again = Checkpoints { from: Some(whole.kept[0].clone()), ..Checkpoints::default() };
    let resumed = fit(train, validation, &settings, &mut again).unwrap();
    assert_eq!(resumed.network.to_bytes(), outcome.network.to_bytes());
}

#[test]
fn a_pull_keeps_weights_near_their_start() {
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let start = Model::start(&settings().architecture(), false, settings().seed, 1.0);
    let moved = |pull: f32| {
        let settings = Settings { pull, wdl: 1.0, epochs: 6, batch: 50, weight_decay: 0.0, ..settings() };
        let settings = Settings { learning_rate: 0.01, ..settings };
        let mut whole = Checkpoints::default();
        let network = fit(train, validation, &settings, &mut whole).unwrap().network.to_bytes();
        let mut again = Checkpoints { from: Some(whole.kept[1].clone()), ..Checkpoints::default() };
        assert_eq!(fit(train, validation, &settings, &mut again).unwrap().network.to_bytes(), network);
        let last = Checkpoint::parse(whole.kept.last().unwrap()).unwrap();
        let squares = last.vectors[0].iter().zip(&start.parameters).map(|(a, b)| f64::from(a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let (free, pulled, held) = (moved(0.0), moved(10.0), moved(90.0));
    assert!(held < 0.5 * pulled && pulled < 0.8 * free, "{free} {pulled} {held}");
}

#[test]
fn nothing_to_train_on_is_an_error() {
    assert_eq!(fit(&[], &[], &settings(), &mut |_: &Epoch| ()).unwrap_err().exit_code(), 1);
    let bad = Settings { epochs: 0, ..settings() };
    let error = fit(&items(10, 1), &[], &bad, &mut |_: &Epoch| ()).unwrap_err();
    assert!(error.to_string().starts_with("epochs = 0"));
}

#[derive(Default)]
pub struct Checkpoints {
    pub from: Option<Vec<u8>>,
    pub kept: Vec<Vec<u8>>,
    pub seen: usize,
    pub gpu_rejected: Option<String>,
}

impl TrainingCallbacks for Checkpoints {
    fn gpu_rejected(&mut self, reason: &Error) {
        self.gpu_rejected = Some(reason.to_string());
    }

    fn epoch(&mut self, _: &Epoch) {
        self.seen += 1;
    }

    fn resume(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.from.clone())
    }

    fn save_checkpoint(&mut self, state: &mut dyn FnMut() -> Result<Vec<u8>>) -> Result<()> {
        self.kept.push(state()?);
        Ok(())
    }
}

pub const OPTIMISERS: [OptimiserKind; 5] = {
    use OptimiserKind::{Adam, AdamW, RAdam, Ranger, Sgd};
    [AdamW, Adam, RAdam, Ranger, Sgd]
};

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
        let losses = |outcome: &super::Outcome| -> Vec<_> {
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
    // What the start does not know.
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
fn patience_ends_a_run_that_learns_nothing_more() {
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let settings = Settings { learning_rate: 0.5, epochs: 50, patience: 3, ..settings() };
    let outcome = fit(train, validation, &settings, &mut |_: &Epoch| ()).unwrap();
    assert!(outcome.epochs.len() < 50);
    assert_eq!(outcome.epochs.len(), outcome.best_epoch + 3);
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
