//! The cost of one evaluation in play, and of resolving a position, over positions of random games in the order in
//! which they arose.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::rng::Rng;
use patzer_engine as engine;
use patzer_engine::leaf_search;
use patzer_eval::hce::{self, Hce, Trace, Weights};
use patzer_eval::{Evaluation, Evaluator};
use shakmaty::{Chess, Position};

fn positions(count: usize) -> Vec<Chess> {
    let mut rng = Rng::new(1);
    let mut positions = Vec::with_capacity(count);
    let (mut position, mut ply) = (Chess::default(), 0);
    while positions.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 100 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        positions.push(position.clone());
    }
    positions
}

fn evaluation(criterion: &mut Criterion) {
    let positions = positions(10_000);
    let mut group = criterion.benchmark_group("hce");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut hce = Hce::new(Arc::new(Weights::default()));
    group.bench_function("evaluate", |bench| {
        bench.iter(|| positions.iter().map(|position| hce.evaluate(black_box(position), 0)).sum::<i32>());
    });
    group.bench_function("evaluate without memory", |bench| {
        bench.iter(|| {
            let white = |position: &Chess| hce.white(black_box(position.board()), position.turn());
            positions.iter().map(white).sum::<i32>()
        });
    });
    let mut trace = Trace::default();
    group.bench_function("trace", |bench| {
        bench.iter(|| {
            let mut entries = 0;
            for position in &positions {
                hce::trace(position.board(), position.turn(), &mut trace);
                trace.drain(|_, _| entries += 1);
            }
            entries
        });
    });
    group.finish();
}

/// Resolving positions by quiescence search, as `patzer label` does.
fn labels(criterion: &mut Criterion) {
    let positions = positions(2_000);
    let mut group = criterion.benchmark_group("label");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut resolver = leaf_search(&Evaluation::default_hce());
    group.bench_function("leaves", |bench| {
        bench.iter(|| {
            positions.iter().filter_map(|position| resolver.quiescence_leaf(black_box(position))).count()
        });
    });
    let mut engine = engine::engine(&Evaluation::default_hce(), 1).unwrap();
    group.bench_function("leaves by the search that plays", |bench| {
        bench.iter(|| {
            positions.iter().filter_map(|position| engine.quiescence_leaf(black_box(position))).count()
        });
    });
    group.finish();
}

criterion_group!(benches, evaluation, labels);
criterion_main!(benches);
