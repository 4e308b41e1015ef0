//! Tests of tuning: fast passes against the reference and finite differences, and fits against known weights.

use super::chunk::{BothSides, FeatureCounts, TraceInfo};
use super::model::{EvalPart, Feature, Model, Slot, Space};
use super::objective::Objective;
use super::reference::NonlinearForm;
use super::standard_errors::standard_errors;
use super::traces::{ExternalTracer, TraceCollector, Traces};
use super::*;
use patzer_chess::rng::Rng;
use patzer_chess::score::expected_score;

mod hand_crafted;
mod parts;
mod safe;

type Item = (TraceInfo, FeatureCounts);

fn collector(items: &[Item], model: &Model, space: &Space, chunk: usize) -> Traces {
    let mut collector = TraceCollector::new(&ExternalTracer, model, space, chunk, 0);
    items.iter().for_each(|item| collector.push(item.clone()).unwrap());
    collector.finish().unwrap()
}

/// A model with traces in its whole space.
struct Fixture {
    model: Model,
    space: Space,
    traces: Traces,
}

impl Fixture {
    fn new(model: Model, items: &[Item], chunk: usize) -> Fixture {
        let space = Space::new(&model);
        Fixture { traces: collector(items, &model, &space, chunk), model, space }
    }

    fn rich(parts: &[EvalPart], count: usize, seed: u64) -> Fixture {
        Fixture::new(model(parts), &positions(parts, count, seed, true), 700)
    }

    fn objective(&self, k: f64, l2: f64) -> Objective<'_> {
        Objective { traces: &self.traces, model: &self.model, space: &self.space, k, l2, prior: &[] }
    }
}

fn moved(at: &[f64], i: usize, by: f64) -> Vec<f64> {
    let mut moved = at.to_vec();
    moved[i] += by;
    moved
}

fn model(parts: &[EvalPart]) -> Model {
    let slot = |i: usize| Slot {
        name: format!("value {i}"),
        start: 0.0,
        fixed: false,
        bounds: [f64::NEG_INFINITY, f64::INFINITY],
    };
    Model {
        slots: (0..2 * parts.len()).map(slot).collect(),
        features: parts
            .iter()
            .enumerate()
            .map(|(i, &part)| Feature { part, slots: [2 * i, 2 * i + 1] })
            .collect(),
        nonlinear: NonlinearForm::safety([300.0, 10.0]),
        ..Model::default()
    }
}

/// Random positions; `rich` fills every column.
fn positions(parts: &[EvalPart], count: usize, seed: u64, rich: bool) -> Vec<Item> {
    let mut rng = Rng::new(seed);
    let mut items = Vec::new();
    for _ in 0..count {
        let mut counts = FeatureCounts::default();
        for (index, part) in parts.iter().enumerate().map(|(i, part)| (i as u16, *part)) {
            if rng.unit() > 0.4 {
                continue;
            }
            let whole = rng.below(7) as f32 - 3.0;
            let count = if rich && rng.below(5) == 0 { whole * 2.5 } else { whole };
            match part {
                EvalPart::Linear if count != 0.0 => counts.linear.push((index, count)),
                EvalPart::Linear => {}
                EvalPart::Safety => counts.safety.push(BothSides { index, white: count.abs(), black: 1.0 }),
                EvalPart::Complexity => counts.complexity.push((index, count)),
                EvalPart::Table => {}
            }
        }
        let mut info = TraceInfo {
            phase: rng.unit() as f32 * 1.2,
            target: rng.below(3) as f32 / 2.0,
            game: rng.below(256) as u32,
            ..TraceInfo::default()
        };
        if rich {
            info.scale = if rng.below(4) == 0 { 0.5 } else { 1.0 };
            info.constant = rng.below(100) as f32 - 50.0;
            info.weight = 0.5 + rng.unit() as f32;
        }
        items.push((info, counts));
    }
    items
}

fn values(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| 40.0 * rng.normal()).collect()
}

const LINEAR: [EvalPart; 12] = [EvalPart::Linear; 12];

const BENT: [EvalPart; 12] = {
    let mut parts = [EvalPart::Linear; 12];
    (parts[5], parts[6], parts[9], parts[10]) =
        (EvalPart::Safety, EvalPart::Safety, EvalPart::Complexity, EvalPart::Complexity);
    parts
};

#[test]
fn the_fast_passes_give_what_the_plain_ones_give() {
    let fixture = Fixture::rich(&LINEAR, 3_000, 1);
    let (Fixture { model, space, traces }, at) = (&fixture, values(24, 2));
    let objective = fixture.objective(1.4, 0.0);
    let matrix = objective.normal(&at, Curvature::GaussNewton);
    for (i, curvature) in objective.curvatures(&at).iter().enumerate() {
        assert!((curvature / matrix[i * 24 + i] - 1.0).abs() < 1e-5, "{i}: {curvature}");
    }
    let (loss, gradient) = objective.gradient(&at);
    let pairs = space.pairs(model, &at);
    let (mut plain_loss, mut plain_gradient) = (0.0, vec![0.0; 24]);
    for chunk in &traces.chunks {
        let (sum, part) = reference::gradient(chunk, &pairs, 1.4, &model.nonlinear);
        plain_loss += sum / traces.total_weight();
        let halves = part.as_flattened().iter().map(|value| value / traces.total_weight());
        plain_gradient.iter_mut().zip(halves).for_each(|(total, value)| *total += value);
    }
    assert!((loss - plain_loss).abs() < 1e-7, "{loss} and {plain_loss}");
    assert!((loss - objective.loss(&at)).abs() < 1e-12);
    for (fast, plain) in gradient.iter().zip(&plain_gradient) {
        assert!((fast - plain).abs() < 1e-9 + 1e-5 * plain.abs(), "{fast} and {plain}");
    }
    for curvature in [Curvature::GaussNewton, Curvature::Newton] {
        let chunks: Vec<&chunk::TraceChunk> = traces.chunks.iter().collect();
        let fast = normal::linear(&chunks, &pairs, 1.4, curvature);
        let plain = plain_normal(&chunks, &pairs, 1.4, curvature, &model.nonlinear);
        let largest = plain.values.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (fast, plain) in fast.values.iter().zip(&plain.values) {
            assert!((fast - plain).abs() < 1e-6 * largest, "{fast} and {plain}");
        }
    }
}

/// The readable twin of the two passes that fill normal matrices.
fn plain_normal(
    chunks: &[&chunk::TraceChunk],
    weights: &[[f64; 2]],
    k: f64,
    curvature: Curvature,
    form: &reference::NonlinearForm,
) -> normal::NormalMatrix {
    let size = 2 * weights.len();
    let mut values = vec![0.0; size * size];
    for chunk in chunks {
        reference::each(chunk, weights, form, |row, score, slopes| {
            let h = curvature.second_derivative(&reference::row_loss(chunk, row, score, k));
            for &(a, by_a) in slopes {
                for &(b, by_b) in slopes {
                    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        let (row, column) = (2 * usize::from(a) + i, 2 * usize::from(b) + j);
                        values[row * size + column] += h * by_a[i] * by_b[j];
                    }
                }
            }
        });
    }
    normal::NormalMatrix { size, values }
}

#[test]
fn the_matrix_with_parts_is_the_plain_one() {
    let fixture = Fixture::rich(&BENT, 3_000, 17);
    let pairs = fixture.space.pairs(&fixture.model, &values(24, 18));
    let chunks: Vec<&chunk::TraceChunk> = fixture.traces.chunks.iter().collect();
    for curvature in [Curvature::GaussNewton, Curvature::Newton] {
        let form = &fixture.model.nonlinear;
        let fast = normal_parts::with_parts(&chunks, &pairs, 1.4, curvature, form);
        let plain = plain_normal(&chunks, &pairs, 1.4, curvature, form);
        let largest = plain.values.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        assert!(plain.values.iter().filter(|value| **value != 0.0).count() > 24 * 12);
        for (fast, plain) in fast.values.iter().zip(&plain.values) {
            assert!((fast - plain).abs() < 1e-12 * largest, "{fast} and {plain}");
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences_in_every_part() {
    let fixture = Fixture::rich(&BENT, 2_000, 3);
    let (objective, at) = (fixture.objective(1.4, 0.3), values(24, 4));
    let (_, exact) = objective.gradient(&at);
    for (i, exact) in exact.iter().enumerate() {
        let with = |delta: f64| objective.gradient(&moved(&at, i, delta)).0;
        let slope = (with(1e-3) - with(-1e-3)) / 2e-3;
        assert!((slope - exact).abs() < 1e-7 + 1e-3 * slope.abs(), "{i}: {slope} and {}", exact);
    }
}

#[test]
fn the_exact_normal_matrix_is_that_of_finite_differences() {
    let fixture = Fixture::rich(&LINEAR, 2_000, 5);
    let (objective, at) = (fixture.objective(1.4, 0.3), values(24, 6));
    let matrix = objective.normal(&at, Curvature::Newton);
    for i in 0..24 {
        let with = |delta: f64| objective.gradient(&moved(&at, i, delta)).1;
        let (up, down) = (with(0.5), with(-0.5));
        let largest = (0..24).map(|j| matrix[i * 24 + j].abs()).fold(0.0, f64::max);
        for j in 0..24 {
            let difference = up[j] - down[j];
            assert!((difference - matrix[i * 24 + j]).abs() < 2e-3 * largest, "{i} {j}: {difference}");
        }
    }
}

/// Positions with results drawn from known values.
fn drawn(parts: &[EvalPart], truth: &[f64], count: usize, seed: u64) -> Vec<Item> {
    let (model, mut items) = (model(parts), positions(parts, count, seed, false));
    let space = Space::new(&model);
    let mut rng = Rng::new(seed ^ 0xabc);
    for item in &mut items {
        let traces = collector(std::slice::from_ref(item), &model, &space, 1);
        let mut white = 0.0;
        reference::each(&traces.chunks[0], &model.pairs(truth), &model.nonlinear, |_, score, _| {
            white = score
        });
        item.0.target = f32::from(u8::from(rng.unit() < expected_score(white, 1.5)));
    }
    items
}

fn run(items: &[Item], model: &Model, settings: &Settings) -> TuneOutcome {
    let space = Space::new(model);
    let traces = collector(items, model, &space, settings.chunk());
    fit(model, &space, &traces, &Traces::default(), settings, &mut |_| {}).unwrap()
}

#[test]
fn known_values_are_found_within_their_standard_errors() {
    for parts in [LINEAR, BENT] {
        let mut truth = values(24, 7);
        // Danger has to be dangerous, and complexity within the endgame's reach, for the data to tell them.
        for (i, part) in parts.iter().enumerate() {
            match part {
                EvalPart::Safety => (truth[2 * i], truth[2 * i + 1]) = (25.0 + i as f64, 15.0 + i as f64),
                EvalPart::Complexity => truth[2 * i + 1] = 8.0 + i as f64,
                EvalPart::Linear | EvalPart::Table => {}
            }
        }
        let items = drawn(&parts, &truth, 60_000, 8);
        let mut model = model(&parts);
        for (slot, value) in model.slots.iter_mut().zip(&truth) {
            slot.start = if parts == BENT { 0.7 * value } else { 0.0 };
        }
        let settings = Settings { k: Some(1.5), ..Settings::default() };
        let outcome = run(&items, &model, &settings);
        let fixture = Fixture::new(model, &items, 4096);
        let parameters = fixture.space.parameters_of(&outcome.values);
        let known = standard_errors(&fixture.objective(1.5, 0.0), &parameters).unwrap();
        let mut chi = Vec::new();
        for (i, error) in known.errors.iter().enumerate() {
            // The midgame half of a complexity weight counts nowhere.
            let Some(error) = *error else {
                assert!(parts[i / 2] == EvalPart::Complexity && i % 2 == 0 && known.dead.contains(&i));
                continue;
            };
            let off = (outcome.values[i] - truth[i]) / error;
            assert!(off.abs() < 5.0, "{i}: {} and {} ± {error}", outcome.values[i], truth[i]);
            chi.push(off * off);
        }
        let mean = chi.iter().sum::<f64>() / chi.len() as f64;
        assert!((0.3..2.5).contains(&mean), "errors off by {}", mean.sqrt());
    }
}

#[test]
fn all_optimisers_agree_on_the_optimum() {
    let items = drawn(&LINEAR, &values(24, 9), 8_000, 10);
    let model = model(&LINEAR);
    let base = Settings { k: Some(1.5), patience: 1_000_000, ..Settings::default() };
    let best = run(&items, &model, &base);
    assert!(best.epochs <= 10, "{best:?}");
    for (optimizer, epochs, learning_rate) in [
        (Optimizer::Newton, None, None),
        (Optimizer::Lbfgs, None, None),
        (Optimizer::Adam, Some(600), Some(2.0)),
        (Optimizer::Adagrad, Some(600), Some(20.0)),
        (Optimizer::Sgd, Some(1500), Some(2e4)),
    ] {
        let settings = Settings { optimizer, epochs, learning_rate, batch: 0, ..base.clone() };
        let found = run(&items, &model, &settings);
        let (a, b) = (found.exact.train, best.exact.train);
        assert!((a - b).abs() < 1e-7, "{optimizer:?}: {a} and {b} after {}", found.epochs);
        for (a, b) in found.values.iter().zip(&best.values) {
            assert!((a - b).abs() < 0.5, "{optimizer:?}: {a} and {b}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let items = drawn(&LINEAR, &values(24, 11), 3_000, 12);
    let model = model(&LINEAR);
    for optimizer in [Optimizer::GaussNewton, Optimizer::Lbfgs, Optimizer::Adam] {
        let settings =
            Settings { optimizer, epochs: Some(4), batch: 512, k: Some(1.5), ..Settings::default() };
        let values = || run(&items, &model, &settings).values;
        assert_eq!(crate::on_threads(1, values), crate::on_threads(2, values));
    }
}

#[test]
fn bounds_hold_and_the_other_values_make_up_for_them() {
    let mut truth = values(24, 13);
    (truth[0], truth[3]) = (90.0, -80.0);
    let items = drawn(&LINEAR, &truth, 8_000, 14);
    let mut bounded = model(&LINEAR);
    bounded.slots[0].bounds = [0.0, 30.0];
    bounded.slots[3].bounds = [-10.0, 10.0];
    let settings = |optimizer| Settings { optimizer, k: Some(1.5), batch: 0, ..Settings::default() };
    let found = run(&items, &bounded, &settings(Optimizer::GaussNewton));
    assert_eq!((found.values[0], found.values[3]), (30.0, -10.0));
    let adam =
        Settings { epochs: Some(600), learning_rate: Some(2.0), patience: 600, ..settings(Optimizer::Adam) };
    let first = run(&items, &bounded, &adam);
    assert!((found.exact.train - first.exact.train).abs() < 1e-7, "{found:?} {first:?}");
    let Fixture { model, space, traces } = Fixture::new(bounded, &items, 4096);
    let lbfgs = settings(Optimizer::Lbfgs);
    let refused = fit(&model, &space, &traces, &Traces::default(), &lbfgs, &mut |_| {});
    assert!(refused.unwrap_err().to_string().contains("bounds"));
}

#[test]
fn with_many_counts_a_matrix_of_a_sample_leads_to_the_same_optimum() {
    let (truth, mut rng) = (values(24, 21), Rng::new(22));
    let mut items = drawn(&LINEAR, &truth, 12_000, 23);
    for (info, counts) in &mut items {
        // The last feature is rare, so that most samples lack it.
        let features = 0..if rng.below(3_000) == 0 { 12 } else { 11 };
        counts.linear = features.map(|i| (i, if rng.below(2) == 0 { 3.0 } else { -3.0 })).collect();
        let half = |half: usize| -> f64 {
            counts.linear.iter().map(|&(i, n)| f64::from(n) * truth[2 * usize::from(i) + half]).sum()
        };
        let score = f64::from(info.phase) * half(0) + f64::from(1.0 - info.phase) * half(1);
        info.target = f32::from(u8::from(rng.unit() < expected_score(score, 1.5)));
    }
    let settings = Settings { k: Some(1.5), l2: 1e-4, ..Settings::default() };
    let Fixture { model, space, traces } = Fixture::new(model(&LINEAR), &items, 512);
    let objective = Objective { traces: &traces, model: &model, space: &space, k: 1.5, l2: 0.0, prior: &[] };
    assert_eq!(objective.sampling(), 7);
    let sampled = fit(&model, &space, &traces, &Traces::default(), &settings, &mut |_| {}).unwrap();
    // One chunk is its own sample.
    let whole = run(&items, &model, &settings);
    assert!((sampled.exact.train - whole.exact.train).abs() < 1e-7, "{sampled:?} {whole:?}");
}

#[test]
fn what_cannot_be_known_stays_and_is_named() {
    // Features 0 and 1 always count the same, feature 2 never counts.
    let mut items = drawn(&LINEAR, &values(24, 15), 6_000, 16);
    for (_, counts) in &mut items {
        counts.linear.retain(|(index, _)| *index != 1 && *index != 2);
        if let Some(&(0, count)) = counts.linear.first() {
            counts.linear.insert(1, (1, count));
        }
    }
    let mut model = model(&LINEAR);
    for slot in 0..6 {
        model.slots[slot].start = 7.0;
    }
    let outcome = run(&items, &model, &Settings { k: Some(1.5), ..Settings::default() });
    // The start is kept, and so is the difference of the two that cannot be told apart.
    assert_eq!(outcome.values[4..6], [7.0, 7.0]);
    assert!((outcome.values[0] - outcome.values[2]).abs() < 1e-3, "{:?}", &outcome.values[..4]);
    let fixture = Fixture::new(model, &items, 4096);
    let known = standard_errors(&fixture.objective(1.5, 0.0), &outcome.values).unwrap();
    assert_eq!(known.dead, [4, 5]);
    let mut null_vectors: Vec<Vec<usize>> =
        known.nullspace.iter().map(|direction| direction.iter().map(|part| part.0).collect()).collect();
    null_vectors.sort();
    assert_eq!(null_vectors, [[0, 2], [1, 3]]);
}

#[test]
fn copies_of_a_game_tell_nothing_new() {
    let items = drawn(&LINEAR, &values(24, 17), 3_000, 18);
    let errors = |items: &[Item]| {
        let fixture = Fixture::new(model(&LINEAR), items, 4096);
        standard_errors(&fixture.objective(1.5, 0.0), &values(24, 17)).unwrap().errors
    };
    let four_times: Vec<_> = (0..4).flat_map(|_| items.clone()).collect();
    for (once, four) in errors(&items).iter().zip(errors(&four_times)) {
        assert!((once.unwrap() / four.unwrap() - 1.0).abs() < 1e-4);
    }
}

#[test]
fn tuning_stops_early_and_keeps_the_best() {
    // The validation results are the opposite of the training results, so every step makes it worse.
    let items = drawn(&LINEAR, &values(24, 19), 2_000, 20);
    let opposite: Vec<_> =
        items.iter().map(|(f, c)| (TraceInfo { target: 1.0 - f.target, ..*f }, c.clone())).collect();
    let model = model(&LINEAR);
    let space = Space::new(&model);
    let settings =
        Settings { patience: 3, k: Some(1.0), optimizer: Optimizer::Adam, batch: 512, ..Settings::default() };
    let traces = |items: &[Item]| collector(items, &model, &space, settings.chunk());
    let outcome = fit(&model, &space, &traces(&items), &traces(&opposite), &settings, &mut |_| {}).unwrap();
    assert_eq!((outcome.epochs, outcome.best_epoch), (3, 0));
    assert_eq!(outcome.values, model.start());
}

#[test]
fn an_l2_prior_keeps_values_near_their_start() {
    let items = drawn(&LINEAR, &values(24, 21), 2_000, 22);
    let model = model(&LINEAR);
    let distance = |l2: f64| {
        let settings = Settings { l2, k: Some(1.5), ..Settings::default() };
        run(&items, &model, &settings).values.iter().map(|value| value.abs()).sum::<f64>()
    };
    assert!(distance(10.0) < distance(0.0) / 2.0, "{} {}", distance(10.0), distance(0.0));
}

#[test]
fn nothing_to_tune_is_an_error() {
    let Fixture { model, space, traces: none } = Fixture::new(model(&LINEAR), &[], 1);
    let error = fit(&model, &space, &none, &none, &Settings::default(), &mut |_| {}).unwrap_err();
    assert_eq!(error.exit_code(), 1);
}
