//! Every kernel against the CPU: on the emulation, and on a GPU where there is one.

mod refusals;
mod rows;

use super::driver::{Driver, Kernel};
use super::emulation::{self, Emulated};
use super::*;
use crate::cpu_gradient::CpuGradient;
use crate::optimiser::Optimiser;
use crate::position_weight::{Measure, WeightRule};
use crate::tests::{self, Checkpoints, OPTIMISERS, enlarge, items};
use crate::{Compute, Forward, LossKind, MemoryLoader, TrainOutcome, fit_from};
use patzer_chess::rng::Rng;
use patzer_eval::nnue::features::Features;
use patzer_eval::nnue::{Architecture, KingBuckets, LayerActivation};

const TARGET: Target = Target { wdl: 0.4, k: 1.2, offset: 0.0 };

type Open = fn() -> Box<dyn Driver>;

fn devices() -> Vec<Open> {
    let mut devices: Vec<Open> = vec![|| emulation::open(false)];
    if super::open(0).is_ok() {
        devices.push(|| super::open(0).unwrap());
    }
    devices
}

/// Shapes of networks; the last has most parts of one.
fn shapes() -> Vec<Architecture> {
    let mut shapes = tests::shapes();
    shapes.splice(1..1, rows::unbucketed());
    shapes
}

fn models() -> Vec<Model> {
    let models = shapes().into_iter().enumerate().map(|(seed, architecture)| {
        let mut model = Model::random(&architecture, architecture.king_bucket_count() > 1, seed as u64);
        enlarge(&mut model, &mut Rng::new(6));
        model
    });
    models.collect()
}

/// One model in three, and the last; the tests that take long have all.
fn few_models() -> Vec<Model> {
    let mut models: Vec<Model> = models().into_iter().rev().step_by(3).collect();
    models.reverse();
    models
}

fn settings(forward: Forward) -> Settings {
    Settings { forward, batch: 300, epochs: 3, warmup: 0, k: Some(1.2), wdl: 0.4, ..Settings::default() }
}

/// A WDL head with draws by score, and weights of positions.
fn wdl_head(forward: Forward) -> Settings {
    Settings {
        wdl_head: true,
        loss: LossKind::CrossEntropy,
        score_offset: 90.0,
        l1_activations: 0.1,
        position_weight: Some(weight(Measure::Ply)),
        ..settings(forward)
    }
}

/// A rule with positions before, between and beyond its points.
fn weight(by: Measure) -> PositionWeight {
    let middle = if by == Measure::Ply { 60.0 } else { 24.0 };
    PositionWeight(vec![WeightRule { by, at: vec![[middle - 5.0, 0.3], [middle, 2.0], [middle + 5.0, 1.0]] }])
}

/// Distance of two vectors relative to the first.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    super::check::distance(a, b) / super::check::length(a).max(1e-30)
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn gradients_and_losses_are_those_of_the_cpu() {
    check_gradients(few_models);
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_gradients_and_losses_of_every_shape_are_those_of_the_cpu() {
    check_gradients(models);
}

fn check_gradients(models: fn() -> Vec<Model>) {
    let kinds = [
        Settings { power: 2.5, ..settings(Forward::F32) },
        Settings { loss: LossKind::CrossEntropy, ..settings(Forward::I16) },
        Settings { loss: LossKind::Pqr, ..settings(Forward::F32) },
        Settings { score_offset: 90.0, output_offset: 60.0, asymmetry: 0.3, ..settings(Forward::I16) },
        Settings { power: 2.2, position_weight: Some(weight(Measure::Pieces)), ..settings(Forward::F32) },
        settings(Forward::I16),
        settings(Forward::F32),
        Settings { asymmetry: -0.4, position_weight: Some(weight(Measure::Ply)), ..settings(Forward::I16) },
        Settings { l1_activations: 0.2, ..settings(Forward::F32) },
        Settings {
            l1_activations: 0.2,
            position_weight: Some(weight(Measure::Ply)),
            ..settings(Forward::F32)
        },
    ];
    let wdl = [wdl_head(Forward::F32), Settings { position_weight: None, ..wdl_head(Forward::I16) }];
    for open in devices() {
        let models = models();
        for kind in &kinds {
            check_gradient(open, &models[0], kind, 201);
        }
        // All architectures over the losses in turn; the last, with every feature, in f32 and in 16 bits.
        for (at, model) in models.iter().chain(models.last()).enumerate().skip(1) {
            let kind = if model.layout.architecture.wdl_head { &wdl[..] } else { &kinds };
            check_gradient(open, model, &kind[at % kind.len()], 201);
        }
        // Enough positions that some rows have more items than a warp has lanes.
        check_gradient(open, &Model::random(&Architecture::plain(16), false, 1), &kinds[5], 2100);
    }
}

fn check_gradient(open: Open, model: &Model, settings: &Settings, count: usize) {
    let (items, layout) = (items(count, 1), &model.layout);
    let (loss, target) = (settings.loss(), Target { offset: settings.target(0.4).offset, ..TARGET });
    let mut batch: Vec<u32> = (0..items.len() as u32).collect();
    Rng::new(3).shuffle(&mut batch);
    let mut cpu = CpuGradient::new(model, items.len(), settings.forward == Forward::I16);
    cpu.follow(settings);
    let mut gpu = Gpu::new(open(), model, settings, items.len()).unwrap();
    gpu.rounds = settings.quantisation_aware > 0.0;
    cpu.rounds(gpu.rounds);
    let about = format!("{} {:?} {:?}", layout.architecture, settings.forward, loss.kind);
    let (found, gradient) = gpu.gradient_of(&items, &batch, loss, target).unwrap();
    let (expected, exact) = cpu.gradient(model, loss, target, &items, &batch);
    assert!((found - expected).abs() < 1e-5 * expected.abs(), "{about}: {found} is not {expected}");
    for (part, range) in layout.parts().into_iter().filter(|(_, range)| !range.is_empty()) {
        let away = distance(&exact[range.clone()], &gradient[range]);
        assert!(away < 1e-4, "{about}, {part}: {away}");
    }
    let mean = gpu.mean_loss(loss, target, &items).unwrap();
    let expected = cpu.mean_loss(model, loss, target, &items);
    assert!((mean - expected).abs() < 1e-5 * expected, "{about}: {mean} is not {expected}");
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn rounded_gradients_and_losses_are_those_of_the_cpu() {
    check_rounded(few_models);
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_rounded_gradients_and_losses_of_every_shape_are_those_of_the_cpu() {
    check_rounded(models);
}

fn check_rounded(models: fn() -> Vec<Model>) {
    for open in devices() {
        for model in models().iter().filter(|model| kernel_args::lists_in_order(&model.layout.architecture)) {
            let is_wdl = model.layout.architecture.wdl_head;
            let settings = if is_wdl { wdl_head(Forward::F32) } else { settings(Forward::I16) };
            check_gradient(open, model, &Settings { quantisation_aware: 0.5, ..settings }, 99);
        }
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_batch_in_parts_is_the_whole_batch() {
    for open in devices() {
        // With and without further layers, piece-square values and buckets; then WDL heads.
        let (models, is_wdl) = (models(), |model: &&Model| model.layout.architecture.wdl_head);
        let some = models.iter().rev().step_by(4).filter(|model| !is_wdl(model));
        for model in some.chain(models.iter().filter(is_wdl)) {
            let items = items(201, 1);
            let settings = if is_wdl(&model) { wdl_head(Forward::I16) } else { settings(Forward::I16) };
            let (target, loss) = (TARGET, settings.loss());
            let batch: Vec<u32> = (0..items.len() as u32).collect();
            let mut gpu = Gpu::new(open(), model, &settings, items.len()).unwrap();
            let (whole, expected) = gpu.gradient_of(&items, &batch, loss, target).unwrap();
            gpu.work.plan.sub_batch = 96;
            let (parts, found) = gpu.gradient_of(&items, &batch, loss, target).unwrap();
            let architecture = &model.layout.architecture;
            assert!((whole - parts).abs() < 1e-9 * whole, "{architecture}: {parts} is not {whole}");
            assert!(distance(&expected, &found) < 1e-5, "{architecture}");
        }
    }
}

fn optimisers() -> Vec<Settings> {
    let with = |optimiser| Settings { optimiser, l2: 1e-3, ..settings(Forward::F32) };
    OPTIMISERS.into_iter().map(with).collect()
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn steps_of_every_optimiser_are_those_of_the_cpu() {
    for open in devices() {
        for settings in optimisers() {
            for clip in [0.0, 0.5] {
                let settings = Settings { clip_gradient: clip, average: 0.9, ..settings.clone() };
                let model = Model::random(&Architecture::plain(16), false, 3);
                let count = model.layout.len;
                let mut optimiser = Optimiser::new(&settings, model.layout.limits());
                let mut weights = model.parameters.clone();
                let mut gpu = Gpu::new(open(), &model, &settings, 1).unwrap();
                let mut rng = Rng::new(4);
                for number in 1..=14 {
                    let mut gradient: Vec<f32> = (0..count).map(|_| rng.normal() as f32).collect();
                    gpu.work.driver.write(gpu.work.memory.gradient, &bytes(&gradient)).unwrap();
                    let (loss, target) = (settings.loss(), Target { wdl: 0.0, k: 1.0, offset: 0.0 });
                    gpu.optimise(&StepParams { number, loss, target, rate: 0.01, rounds: false }).unwrap();
                    optimiser.step(&mut weights, &mut gradient, 0.01);
                }
                let state = gpu.save().unwrap();
                let kind = settings.optimiser;
                let away = distance(&weights, &state.parameters);
                assert!(away < 1e-6, "{kind:?} {clip}: {away}");
                assert!(distance(&model.parameters, &weights) > 1e-3, "{kind:?} {clip}");
                if clip == 0.0 {
                    assert_eq!(weights, state.parameters, "{kind:?}: no operation is another");
                    assert_eq!(optimiser.state(), (state.steps, state.optimiser), "{kind:?}");
                }
            }
        }
    }
}

fn run(compute: Compute, settings: &Settings, from: Option<Vec<u8>>) -> (TrainOutcome, Checkpoints) {
    let items = items(480, 4);
    let (train, validation) = items.split_at(400);
    let mut keeper = Checkpoints { from, ..Checkpoints::default() };
    let mut loader = MemoryLoader::new(train, settings).unwrap();
    let outcome = fit_from(&mut loader, validation, settings, compute, &mut keeper).unwrap();
    (outcome, keeper)
}

fn losses(outcome: &TrainOutcome) -> Vec<f64> {
    outcome.epochs.iter().flat_map(|e| [e.train_loss, e.validation_loss.unwrap()]).collect()
}

fn assert_close(found: &TrainOutcome, expected: &TrainOutcome, about: &str) {
    for (found, expected) in losses(found).iter().zip(losses(expected)) {
        assert!((found - expected).abs() < 1e-4 * expected, "{about}: {found} is not {expected}");
    }
    assert_eq!(found.epochs.len(), expected.epochs.len());
}

fn runs() -> Vec<Settings> {
    let plain = Settings { hidden: 32, batch: 100, learning_rate: 0.003, ..settings(Forward::I16) };
    let sparse = Settings {
        features: Features::parse("all+pp+threats+clock").unwrap(),
        hidden: 16,
        mirror: true,
        quantisation_aware: 0.6,
        batch: 400,
        ..plain.clone()
    };
    let white = Settings {
        perspectives: 1,
        white_perspective: true,
        asymmetry: 0.3,
        l1_activations: 0.1,
        batch: 400,
        ..plain.clone()
    };
    let last = shapes().pop().unwrap();
    let whole = Settings {
        features: Features::parse(&format!("{}+clock", last.features)).unwrap(),
        layers: last.layers,
        activation: last.activation,
        layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
        skip_neuron: true,
        king_buckets: KingBuckets::parse(&"00001111".repeat(8)).unwrap(),
        output_buckets: last.output_buckets,
        psqt: last.psqt,
        l1_activations: 0.05,
        factoriser: true,
        hidden: 16,
        forward: Forward::F32,
        optimiser: OptimiserKind::Ranger,
        average: 0.9,
        pull: 1.0,
        clip_gradient: 0.05,
        final_wdl: Some(0.8),
        score_offset: 30.0,
        output_offset: 20.0,
        asymmetry: 0.2,
        position_weight: Some(weight(Measure::Ply)),
        ..plain.clone()
    };
    let wdl = Settings {
        hidden: 16,
        batch: 400,
        final_wdl: Some(0.8),
        quantisation_aware: 0.3,
        ..wdl_head(Forward::I16)
    };
    vec![plain, sparse, white, wdl, whole]
}

/// The first run, and the last, which has most parts of one.
fn few_runs() -> Vec<Settings> {
    let mut runs = runs();
    vec![runs.remove(0), runs.pop().unwrap()]
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_run_has_the_losses_of_the_cpu_and_the_same_bytes_again() {
    check_runs(few_runs());
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_every_run_has_the_losses_of_the_cpu_and_the_same_bytes_again() {
    check_runs(runs());
}

fn check_runs(runs: Vec<Settings>) {
    for open in devices() {
        for settings in &runs {
            let on = |open: Open| run(Compute::of(open(), false), settings, None);
            let (expected, _) = run(Compute::cpu(), settings, None);
            let (first, states) = on(open);
            let (again, others) = on(open);
            assert_close(&first, &expected, &expected.network.architecture().to_string());
            assert_eq!(first.network.to_bytes(), again.network.to_bytes());
            assert_eq!(losses(&first), losses(&again));
            assert_eq!(states.kept.len(), others.kept.len());
            assert_ne!(first.device, "cpu");
            if first.device == "emulation" {
                // In reverse order of blocks and threads: no sum depends on it.
                let (backwards, _) = on(|| emulation::open(true));
                assert_eq!(first.network.to_bytes(), backwards.network.to_bytes());
                assert_eq!(losses(&first), losses(&backwards));
            }
        }
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn no_sum_depends_on_who_comes_first() {
    let layout = shapes().pop().unwrap();
    for (architecture, count) in [(Architecture::plain(16), 700), (layout, 400)] {
        let model = Model::random(&architecture, true, 2);
        let (items, settings) = (items(count, 5), settings(Forward::I16));
        let batch: Vec<u32> = (0..count as u32).collect();
        let on = |backwards| {
            let mut gpu = Gpu::new(emulation::open(backwards), &model, &settings, count).unwrap();
            gpu.gradient_of(&items, &batch, settings.loss(), TARGET).unwrap()
        };
        // Many items per row and positions per bucket, with bit-equal sums.
        let ((loss, forwards), (again, backwards)) = (on(false), on(true));
        assert_eq!(loss.to_bits(), again.to_bits());
        assert!(forwards.iter().zip(&backwards).all(|(a, b)| a.to_bits() == b.to_bits()), "{architecture}");
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_run_goes_on_on_the_other_device_and_on_the_same() {
    check_moves(few_runs());
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_every_run_goes_on_on_the_other_device_and_on_the_same() {
    check_moves(runs());
}

fn check_moves(runs: Vec<Settings>) {
    for open in devices() {
        for settings in &runs {
            let gpu = || Compute::of(open(), false);
            let (on_cpu, cpu_states) = run(Compute::cpu(), settings, None);
            let (on_gpu, gpu_states) = run(gpu(), settings, None);
            let state = |keeper: &Checkpoints| Some(keeper.kept[0].clone());
            let (to_gpu, _) = run(gpu(), settings, state(&cpu_states));
            let (to_cpu, there) = run(Compute::cpu(), settings, state(&gpu_states));
            let (back, _) = run(gpu(), settings, state(&there));
            // The second epoch runs on one device, the third on the other.
            assert!(there.kept.len() == 2 && gpu_states.kept.len() == 3);
            for moved in [&to_gpu, &to_cpu, &back] {
                assert_close(moved, &on_cpu, &on_cpu.network.architecture().to_string());
            }
            let (same, _) = run(gpu(), settings, state(&gpu_states));
            assert_eq!(same.network.to_bytes(), on_gpu.network.to_bytes());
            assert_eq!(losses(&same), losses(&on_gpu));
        }
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_device_is_trusted_where_it_agrees_and_is_then_as_it_was() {
    for open in devices() {
        for settings in runs().into_iter().chain(optimisers()) {
            let model = Model::start(&settings.architecture(), settings.factorised(), 1, 1.0);
            let mut gpu = Gpu::new(open(), &model, &settings, 90).unwrap();
            let before = gpu.save().unwrap();
            check(&mut gpu, &model, &settings, &items(150, 3)).unwrap();
            assert_eq!(gpu.save().unwrap(), before);
        }
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_device_that_leaves_something_out_is_not_trusted() {
    let whole = runs().pop().unwrap();
    let flat = Settings {
        layers: Vec::new(),
        layer_activations: Vec::new(),
        skip_neuron: false,
        optimiser: OptimiserKind::AdamW,
        ..whole.clone()
    };
    // Enough rows for a single window.
    let buckets = KingBuckets::parse(&"00112233".repeat(8)).unwrap();
    let wide = Settings { king_buckets: buckets, ..flat.clone() };
    let wdl = Settings { hidden: 16, quantisation_aware: 0.5, ..wdl_head(Forward::F32) };
    let sgd = Settings { optimiser: OptimiserKind::Sgd, forward: Forward::I16, ..flat.clone() };
    // Leaving these out would send others anywhere in memory.
    let others = [Kernel::Extract, Kernel::CountRows, Kernel::ScanRows, Kernel::ListRows];
    let mut seen: Vec<Kernel> = Vec::new();
    for settings in [sgd, wdl, flat, wide, whole] {
        let model = Model::start(&settings.architecture(), settings.factorised(), 1, 1.0);
        let left = |kernel: &&Kernel| !others.contains(kernel) && !seen.contains(kernel);
        for kernel in Kernel::ALL.iter().filter(left).collect::<Vec<_>>() {
            let mut gpu =
                Gpu::new(Emulated::with(|device| device.without = Some(*kernel)), &model, &settings, 300)
                    .unwrap();
            if let Err(error) = check(&mut gpu, &model, &settings, &items(300, 3)) {
                assert!(error.to_string().contains("emulation computes "), "{error}");
                assert_eq!(error.exit_code(), 2);
                seen.push(*kernel);
            }
        }
    }
    // Act only on later steps, or on averages that still equal the start.
    let later = [Kernel::LookBack, Kernel::Average];
    for kernel in Kernel::ALL {
        let known = [&others[..], &later, &seen].iter().any(|list| list.contains(kernel));
        assert!(known, "{kernel:?}");
    }
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn the_cpu_takes_over_from_a_device_that_is_not_trusted_if_it_may() {
    let settings = Settings { hidden: 16, ..settings(Forward::I16) };
    let with = |or_cpu| {
        let driver = Emulated::with(|device| device.without = Some(Kernel::ScatterWindows));
        let items = items(480, 4);
        let mut loader = MemoryLoader::new(&items, &settings).unwrap();
        let mut keeper = Checkpoints::default();
        let compute = Compute::of(driver, or_cpu);
        fit_from(&mut loader, &[], &settings, compute, &mut keeper).map(|outcome| (outcome, keeper))
    };
    let (outcome, keeper) = with(true).unwrap();
    assert_eq!(outcome.device, "cpu");
    assert!(keeper.gpu_rejected.unwrap().contains("feature weights' gradients that are off by"));
    assert!(with(false).is_err());
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_weight_that_is_no_number_shows_in_the_loss() {
    for open in devices() {
        for forward in [Forward::F32, Forward::I16] {
            let mut model = Model::random(&Architecture::plain(16), false, 1);
            let bias = model.layout.bias;
            model.parameters[bias] = f32::NAN;
            let settings = settings(forward);
            let mut gpu = Gpu::new(open(), &model, &settings, 8).unwrap();
            let (items, loss) = (items(4, 1), settings.loss());
            assert!(gpu.gradient_of(&items, &[0, 1, 2, 3], loss, TARGET).unwrap().0.is_nan());
            assert!(gpu.mean_loss(loss, TARGET, &items).unwrap().is_nan());
        }
    }
}
