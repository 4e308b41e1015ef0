//! Training: what it learns, and what every test of it needs.

mod gradient;
mod repeatable;

use shakmaty::{Chess, Position};

pub(crate) use self::gradient::{enlarge, places};

use super::checkpoint::Checkpoint;
use super::model::Model;
use super::{Epoch, Keep, LossKind, OptimiserKind, Settings, TrainItem, TrainingCallbacks, WIN, fit};
use patzer_chess::PackedBoard;
use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::features::Features;
use patzer_eval::nnue::{
    About, Activation, Architecture, KingBuckets, LayerActivation, Nnue, OutputBy, material,
};
use patzer_io::error::{Error, Result};

/// Positions of random games with material scores, some without a score.
pub(crate) fn items(count: usize, seed: u64) -> Vec<TrainItem> {
    let mut rng = Rng::new(seed);
    let mut judge = Nnue::new(material::network(16).unwrap().into());
    let mut items = Vec::new();
    while items.len() < count {
        let mut position = Chess::default();
        let result = (rng.below(3) as i16 - 1) * WIN;
        for ply in 1..=120 {
            let moves = position.legal_moves();
            if moves.is_empty() || items.len() == count {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            let score = (rng.below(5) > 0).then(|| judge.evaluate(&position, 0) as i16);
            let board = PackedBoard::pack(&position);
            // Random games are too lively for long clocks.
            let halfmoves = (7 * items.len() % 120) as u8;
            items.push(TrainItem { board, turn: position.turn(), halfmoves, score, result, ply });
        }
    }
    items
}

pub(crate) fn settings_of(architecture: Architecture) -> Settings {
    let loss = if architecture.wdl_head { LossKind::CrossEntropy } else { LossKind::Power };
    Settings { epochs: 3, batch: 300, warmup: 0, loss, ..Settings::of(&architecture) }
}

fn settings() -> Settings {
    settings_of(plain(16))
}

pub(crate) fn plain(hidden: usize) -> Architecture {
    Architecture::plain(hidden)
}

/// Small architectures that use every feature in turn, the last all of them.
pub(crate) fn shapes() -> Vec<Architecture> {
    let plain = || Architecture::plain(20);
    let five = || KingBuckets::parse("five").unwrap();
    let sum = |text| Features::parse(text).unwrap();
    vec![
        plain(),
        Architecture { hidden: 64, ..plain() },
        Architecture { perspectives: 1, ..plain() },
        Architecture { perspectives: 1, white_perspective: true, ..plain() },
        Architecture { activation: Activation::Relu, ..plain() },
        Architecture { activation: Activation::Crelu, output_buckets: 8, ..plain() },
        Architecture { activation: Activation::Pairwise, ..plain() },
        Architecture { activation: Activation::Pairwise, hidden: 64, perspectives: 1, ..plain() },
        Architecture { mirror: true, ..plain() },
        Architecture { king_buckets: five(), psqt: true, ..plain() },
        Architecture {
            output_buckets: 4,
            output_by: OutputBy::Phase,
            psqt: true,
            perspectives: 1,
            ..plain()
        },
        Architecture { layers: vec![8], ..plain() },
        Architecture { layers: vec![17, 4], activation: Activation::Crelu, output_buckets: 2, ..plain() },
        Architecture { layers: vec![3], activation: Activation::Relu, perspectives: 1, ..plain() },
        Architecture {
            layers: vec![3],
            mirror: true,
            psqt: true,
            perspectives: 1,
            white_perspective: true,
            ..plain()
        },
        Architecture { layers: vec![5, 7, 3], output_buckets: 2, ..plain() },
        Architecture {
            layers: vec![6, 5],
            layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
            skip_neuron: true,
            activation: Activation::Pairwise,
            output_buckets: 2,
            ..plain()
        },
        Architecture {
            layers: vec![4, 3, 5],
            layer_activations: vec![LayerActivation::Relu, LayerActivation::Dual, LayerActivation::Screlu],
            activation: Activation::Crelu,
            ..plain()
        },
        Architecture { layers: vec![5], skip_neuron: true, psqt: true, ..plain() },
        Architecture { layers: vec![5], activation: Activation::Pairwise, first_layer_bits: 8, ..plain() },
        Architecture { wdl_head: true, ..plain() },
        Architecture { wdl_head: true, layers: vec![6], output_buckets: 2, perspectives: 1, ..plain() },
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

#[test]
fn what_is_trained_is_what_plays() {
    let items = items(3000, 8);
    for architecture in shapes() {
        let layout = Architecture { hidden: 32, ..architecture };
        let factoriser = layout.king_buckets != KingBuckets::none();
        let settings = Settings { factoriser, learning_rate: 0.003, ..settings_of(layout.clone()) };
        let outcome = fit(&items, &[], &settings, &mut |_: &Epoch| ()).unwrap();
        let (first, last) = (outcome.epochs[0].train_loss, outcome.epochs[2].train_loss);
        assert!(last < first, "{layout}: {first} → {last}");
        assert_eq!(outcome.network.architecture(), &layout);
        // Rounding hundreds of weights: some centipawns.
        assert!(outcome.quantisation.mean_error < 30.0, "{layout}: {:?}", outcome.quantisation);
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
fn the_last_epoch_is_kept_on_request_whatever_its_loss() {
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let settings = Settings { learning_rate: 2.0, epochs: 3, warmup: 0, wdl: 0.0, ..settings() };
    let last = Settings { keep: Keep::Last, ..settings };
    let mut whole = Checkpoints::default();
    let outcome = fit(train, validation, &last, &mut whole).unwrap();
    assert_eq!((outcome.best_epoch, outcome.epochs.len()), (3, 3));
    assert!(outcome.losses.validation > outcome.losses.start, "the start was better");
    let mut again = Checkpoints { from: Some(whole.kept[1].clone()), ..Checkpoints::default() };
    let resumed = fit(train, validation, &last, &mut again).unwrap();
    assert_eq!(resumed.network.to_bytes(), outcome.network.to_bytes());
    let shorter =
        fit(train, validation, &Settings { epochs: 2, ..last.clone() }, &mut |_: &Epoch| ()).unwrap();
    assert_ne!(shorter.network.body(), outcome.network.body());
    assert!(Settings { patience: 1, ..last }.validate().is_err());
}

#[test]
fn a_penalty_on_activations_leaves_more_of_them_zero() {
    let items = items(2000, 5);
    let zeros = |l1_activations: f32, layers: Vec<usize>| {
        let settings = Settings { l1_activations, layers, epochs: 10, batch: 100, ..settings() };
        let settings = Settings { activation: Activation::Pairwise, learning_rate: 0.003, ..settings };
        let outcome = fit(&items, &[], &settings, &mut |_: &Epoch| ()).unwrap();
        let mut nnue = Nnue::new(outcome.network.into());
        let of = |item: &TrainItem| {
            let active = nnue.hidden_activations(&item.board.board().unwrap(), item.halfmoves, item.turn);
            assert_eq!(active.len(), 16);
            active.into_iter().filter(|value| *value == 0).count()
        };
        let share = items.iter().map(of).sum::<usize>() as f64 / (16.0 * items.len() as f64);
        assert!((share - outcome.quantisation.zero_activations).abs() < 1e-9);
        share
    };
    for layers in [Vec::new(), vec![4]] {
        let (without, with) = (zeros(0.0, layers.clone()), zeros(0.1, layers));
        assert!(with > without + 0.1, "{without} {with}");
    }
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
pub(crate) struct Checkpoints {
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

pub(crate) const OPTIMISERS: [OptimiserKind; 5] = {
    use OptimiserKind::{Adam, AdamW, RAdam, Ranger, Sgd};
    [AdamW, Adam, RAdam, Ranger, Sgd]
};

#[test]
fn patience_ends_a_run_that_learns_nothing_more() {
    let items = items(600, 7);
    let (train, validation) = items.split_at(500);
    let settings = Settings { learning_rate: 0.5, epochs: 50, patience: 3, ..settings() };
    let outcome = fit(train, validation, &settings, &mut |_: &Epoch| ()).unwrap();
    assert!(outcome.epochs.len() < 50);
    assert_eq!(outcome.epochs.len(), outcome.best_epoch + 3);
}
