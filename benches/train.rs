//! Speed of evaluation and training of networks.
//!
//! `cargo bench --bench train`. Inference: positions of random games, evaluated along the game (incremental) and
//! each from nothing (refresh). Training: one epoch of the same kind of positions on all threads; at the end the ratio
//! of the two forward passes, and that of a GPU to the CPU where there is one.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::PackedBoard;
use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::Nnue;
use patzer_train::{
    Compute, Device, Epoch, MemoryLoader, Settings, TrainItem, fit, fit_from, random_network,
};
use shakmaty::{Chess, Position};

/// Games of at most 80 random moves from the start position.
fn games(count: usize) -> Vec<Vec<Chess>> {
    let mut rng = Rng::new(1);
    let mut game = || {
        let mut position = Chess::default();
        let mut positions = Vec::new();
        for _ in 0..80 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            positions.push(position.clone());
        }
        positions
    };
    (0..count).map(|_| game()).collect()
}

fn inference(c: &mut Criterion) {
    let games = games(100);
    let positions = games.iter().map(Vec::len).sum::<usize>();
    let mut group = c.benchmark_group("inference");
    group.throughput(Throughput::Elements(positions as u64)).measurement_time(Duration::from_secs(3));
    for hidden in [32, 256] {
        let network = Arc::new(random_network(hidden, 1).expect("a size that exists"));
        let mut nnue = Nnue::new(network.clone());
        group.bench_function(format!("incremental {hidden}"), |b| {
            b.iter(|| {
                for game in &games {
                    for (ply, position) in game.iter().enumerate() {
                        black_box(nnue.evaluate(position, ply));
                    }
                }
            });
        });
        let mut nnue = Nnue::new(network);
        group.bench_function(format!("refresh {hidden}"), |b| {
            b.iter(|| {
                // Always far from the last: position by position across the games.
                for i in 0..80 {
                    for game in games.iter().filter(|game| i < game.len()) {
                        black_box(nnue.evaluate(&game[i], 0));
                    }
                }
            });
        });
    }
    group.finish();
}

fn items() -> Vec<TrainItem> {
    let item = |position: &Chess| TrainItem {
        board: PackedBoard::pack(position),
        turn: position.turn(),
        halfmoves: 0,
        score: Some(0),
        result: 0,
        ply: 0,
    };
    games(2500).iter().flatten().map(item).collect()
}

fn training(c: &mut Criterion) {
    let items = items();
    let mut group = c.benchmark_group("training");
    group.throughput(Throughput::Elements(items.len() as u64)).sample_size(10);
    let plain = |hidden, batch| Settings { hidden, batch, epochs: 1, ..Settings::default() };
    let changed = |hidden, changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
        plain(hidden, 16_384).with(&changes).expect("keys that exist")
    };
    for (name, settings) in [
        ("32 neurons, batch 2048", plain(32, 2048)),
        ("256 neurons", plain(256, 16_384)),
        ("256 neurons, sums in f32", changed(256, &["forward=f32"])),
        ("1024 neurons", plain(1024, 16_384)),
        ("256 neurons mirrored", changed(256, &["mirror=true"])),
        (
            "256 neurons bucketed",
            changed(256, &["mirror=true", "king_buckets=five", "factoriser=true", "output_buckets=8"]),
        ),
        ("256 neurons pairwise, 16, 32", changed(256, &["activation=pairwise", "layers=[16, 32]"])),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| fit(&items, &[], &settings, &mut |_: &Epoch| ()).expect("it trains"));
        });
    }
    group.finish();
}

/// Ratio of training speeds with sums in 16 bits and in 32, the two in turn, best of five each.
fn ratio(_: &mut Criterion) {
    let items = items();
    let settings = ["i16", "f32"].map(|forward| {
        let settings = Settings { hidden: 256, batch: 16_384, epochs: 1, ..Settings::default() };
        settings.with(&[format!("forward={forward}")]).expect("a key that exists")
    });
    let mut best = [f64::INFINITY; 2];
    for _ in 0..5 {
        for (settings, best) in settings.iter().zip(&mut best) {
            let start = Instant::now();
            fit(&items, &[], settings, &mut |_: &Epoch| ()).expect("it trains");
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let rate = |seconds: f64| items.len() as f64 / seconds / 1e6;
    println!(
        "256 neurons: {:.2} M positions/s with sums in i16, {:.2} in f32: {:.2} times as fast",
        rate(best[0]),
        rate(best[1]),
        best[1] / best[0]
    );
}

/// Positions a second of the median epoch.
fn rate(device: Device, items: &[TrainItem], settings: &Settings) -> f64 {
    let compute = Compute::open(device).expect("a device that was there before");
    let mut source = MemoryLoader::new(items, settings).expect("some items");
    let outcome = fit_from(&mut source, &[], settings, compute, &mut |_: &Epoch| ()).expect("it trains");
    let mut rates: Vec<f64> = outcome.epochs.iter().map(|epoch| epoch.positions_per_second).collect();
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The first GPU beside the CPU, from memory.
fn gpu(_: &mut Criterion) {
    if let Err(reason) = Compute::open(Device::Gpu(0)) {
        return println!("not measured on a GPU: {reason}");
    }
    let few = items();
    let many: Vec<TrainItem> = few.iter().cycle().take(1 << 23).copied().collect();
    for (hidden, output_buckets) in [(256, 1), (1024, 8)] {
        let settings = Settings { hidden, output_buckets, batch: 16_384, epochs: 5, ..Settings::default() };
        let (gpu, cpu) = (rate(Device::Gpu(0), &many, &settings), rate(Device::Cpu, &few, &settings));
        println!(
            "{hidden} neurons, {output_buckets} output buckets: {:.2} M positions/s on the GPU, {:.2} on the CPU: {:.1} \
             times as fast",
            gpu / 1e6,
            cpu / 1e6,
            gpu / cpu
        );
    }
}

criterion_group!(benches, inference, training, ratio, gpu);
criterion_main!(benches);
