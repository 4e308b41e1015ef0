//! Training against a plain twin in 64-bit floats, against finite differences, and against itself.

use shakmaty::{Chess, Color, Position};

use super::cpu::{Cpu, Target, mean_loss};
use super::model::Model;
use super::{Settings, TrainItem, WIN, fit};
use crate::chess::PackedBoard;
use crate::eval::Evaluator;
use crate::eval::nnue::features::all;
use crate::eval::nnue::{Nnue, material};
use crate::rng::Rng;

/// Positions of random games, with their material as the score and now and then none.
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
            items.push(TrainItem { board, turn: position.turn(), score, result });
        }
    }
    items
}

fn settings() -> Settings {
    Settings { hidden: 16, epochs: 3, batch: 300, warmup: 0, ..Settings::default() }
}

/// The mean loss as the definition says it, in 64-bit floats: a twin that shares nothing with the kernel.
fn reference_loss(parameters: &[f64], width: usize, items: &[TrainItem], wdl: f64, k: f64) -> f64 {
    let (features, rest) = parameters.split_at(768 * width);
    let (bias, rest) = rest.split_at(width);
    let (output, output_bias) = rest.split_at(2 * width);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let loss = |item: &TrainItem| {
        let mut sum = output_bias[0];
        for (side, weights) in [item.turn, item.turn.other()].into_iter().zip(output.chunks(width)) {
            for neuron in 0..width {
                let inputs = item.board.pieces().map(|(square, piece)| all::index(side, piece, square));
                let x: f64 = bias[neuron] + inputs.map(|i| features[i * width + neuron]).sum::<f64>();
                sum += x.clamp(0.0, 1.0).powi(2) * weights[neuron];
            }
        }
        let sign = if item.turn == Color::White { 1.0 } else { -1.0 };
        let result = (f64::from(item.result) / f64::from(WIN) * sign + 1.0) / 2.0;
        let target =
            item.score.map_or(result, |s| wdl * result + (1.0 - wdl) * sigmoid(k * f64::from(s) / 400.0));
        (sigmoid(k * sum) - target).powi(2)
    };
    items.iter().map(loss).sum::<f64>() / items.len() as f64
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let items = items(260, 1);
    let settings = Settings { wdl: 0.4, k: Some(1.2), ..settings() };
    let mut model = Model::random(16, 5);
    // Biases and weights large enough that some activations are cut off above.
    for parameter in &mut model.parameters {
        *parameter = *parameter * 2.0 + 0.01;
    }
    let batch: Vec<u32> = (0..items.len() as u32).collect();
    let mut cpu = Cpu::new(&model, &settings, items.len());
    let (loss, gradient) = cpu.gradient(&model, &items, &batch);
    let exact: Vec<f64> = model.parameters.iter().map(|w| f64::from(*w)).collect();
    let reference = |parameters: &[f64]| reference_loss(parameters, 16, &items, 0.4, 1.2);
    assert!((loss / items.len() as f64 - reference(&exact)).abs() < 1e-6);
    assert!((mean_loss(&model, &items, Target { wdl: 0.4, k: 1.2 }) - reference(&exact)).abs() < 1e-6);

    let mut rng = Rng::new(6);
    let tail = exact.len() - 3 * 16 - 1;
    let checked = (0..60).map(|_| rng.below(tail)).chain(tail..exact.len());
    let mut largest = 0.0f64;
    for i in checked {
        let at = |step: f64| {
            let mut moved = exact.clone();
            moved[i] += step;
            reference(&moved)
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        let error = (f64::from(gradient[i]) - expected).abs();
        assert!(error < 1e-6 + 1e-3 * expected.abs(), "parameter {i}: {} is not {expected}", gradient[i]);
        largest = largest.max(expected.abs());
    }
    assert!(largest > 1e-3, "the gradient is not trivially zero");
}

#[test]
fn a_thousand_positions_are_learnt_by_heart() {
    let items = items(1000, 2);
    let settings = Settings {
        hidden: 32,
        epochs: 250,
        batch: 100,
        learning_rate: 0.01,
        weight_decay: 0.0,
        wdl: 0.0,
        ..settings()
    };
    let outcome = fit(&items, &items, &settings, &mut |_| ()).unwrap();
    let (first, best) = (outcome.epochs[0].train_loss, outcome.best().train_loss);
    assert!(best < first / 50.0 && best < 5e-4, "{first} → {best}");
    // Rounding 64 output weights to 1/64 moves the sum by 400·√64/(64·√12) = 14.4 centipawns (standard deviation)
    // where every activation is 1; less where they are less.
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
        pool.install(|| fit(train, validation, &settings, &mut |_| ()).unwrap())
    };
    let (one, again, two, three) = (with(1), with(1), with(2), with(3));
    for other in [&again, &two, &three] {
        assert_eq!(one.network.to_bytes(), other.network.to_bytes());
        for (a, b) in one.epochs.iter().zip(&other.epochs) {
            assert_eq!((a.train_loss, a.validation_loss), (b.train_loss, b.validation_loss));
        }
    }
    let other = fit(train, validation, &Settings { seed: 1, ..settings }, &mut |_| ()).unwrap();
    assert_ne!(one.network.to_bytes(), other.network.to_bytes());
}

#[test]
fn the_best_epoch_is_the_one_that_is_kept() {
    // With so high a rate the validation loss goes up and down.
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let settings = Settings { learning_rate: 0.5, schedule: crate::optim::Decay::Constant, ..settings() };
    let settings = Settings { epochs: 8, ..settings };
    let mut seen = Vec::new();
    let outcome = fit(train, validation, &settings, &mut |epoch| seen.push(*epoch)).unwrap();
    assert_eq!(seen, outcome.epochs);
    let lowest = seen.iter().map(|e| e.validation_loss.unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(outcome.best().validation_loss, Some(lowest));
}

#[test]
fn nothing_to_train_on_is_an_error() {
    assert_eq!(fit(&[], &[], &settings(), &mut |_| ()).unwrap_err().exit_code(), 1);
    let bad = Settings { epochs: 0, ..settings() };
    assert!(fit(&items(10, 1), &[], &bad, &mut |_| ()).unwrap_err().to_string().starts_with("epochs = 0"));
}
