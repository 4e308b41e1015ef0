//! Speed of move generation, of search and of resolving positions.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::{Line, captures, perft};
use patzer_engine::{Limits, bench, engine};
use patzer_eval::Evaluation;
use shakmaty::{Chess, MoveList, Position};

fn generation(c: &mut Criterion) {
    let positions: Vec<Chess> = bench::positions().filter(|position| !position.is_check()).collect();
    let mut group = c.benchmark_group("generation");
    group.throughput(Throughput::Elements(4_865_609));
    group.sample_size(10);
    group.bench_function("perft 5", |b| b.iter(|| perft::perft(&Chess::default(), 5)));
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("captures", |b| {
        b.iter(|| {
            for position in &positions {
                let mut moves = MoveList::new();
                captures::generate(black_box(position), &mut moves);
                black_box(&moves);
            }
        });
    });
    group.finish();
}

fn search(c: &mut Criterion) {
    let mut group = c.benchmark_group("search");
    group.sample_size(10);
    for (name, evaluation) in [("hce", Evaluation::default_hce()), ("network", Evaluation::default())] {
        let mut engine = engine(&evaluation, 16).unwrap();
        let line = Line::new(Chess::default());
        let limits = Limits { nodes: Some(100_000), ..Limits::default() };
        group.throughput(Throughput::Elements(100_000));
        group.bench_function(format!("nodes/{name}"), |b| {
            b.iter(|| {
                engine.new_game();
                engine.search(&line, &limits, &AtomicBool::new(false), &mut |_| {})
            });
        });
        let positions: Vec<Chess> = bench::positions().collect();
        group.throughput(Throughput::Elements(positions.len() as u64));
        group.bench_function(format!("resolve/{name}"), |b| {
            b.iter(|| {
                for position in &positions {
                    black_box(engine.quiescence_leaf(black_box(position)));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, generation, search);
criterion_main!(benches);
