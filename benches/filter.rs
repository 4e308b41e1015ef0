//! What filters, statistics and checks cost a position, on the bundled engine games.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::Sample;
use patzer_data::filter::registry::{Make, ROWS};
use patzer_data::filter::{Counts, PRESETS, Pipeline};
use patzer_data::stats::Tally;
use patzer_data::validate::check;
use patzer_pgn::{Cutter, Parser};

fn samples() -> Vec<Sample> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    let mut cutter = Cutter::new();
    *cutter.text() = patzer_io::read(&path).unwrap();
    cutter.scan(true);
    let (text, pieces) = cutter.take();
    let mut parser = Parser::default();
    let mut samples = Vec::new();
    for (game, piece) in pieces.iter().enumerate() {
        parser.parse(&text, piece, game as u32, &mut samples);
    }
    samples
}

fn filter(criterion: &mut Criterion) {
    let samples = samples();
    let mut group = criterion.benchmark_group("filter");
    group.sample_size(20).throughput(Throughput::Elements(samples.len() as u64));
    for (preset, _) in PRESETS {
        // Without the memory of duplicates, which the benchmark of extract measures.
        let mut pipeline = Pipeline::new(&[preset.to_string()], &[]).unwrap();
        let (judge, _) = pipeline.halves();
        group.bench_function(format!("preset {preset}"), |bench| {
            bench.iter(|| samples.iter().filter(|sample| judge.keep(sample).is_ok()).count());
        });
    }
    for row in ROWS.iter().filter(|row| ["wdl_skip", "piece_target", "imbalance"].contains(&row.name)) {
        let Make::Position(make) = row.make else { continue };
        let filter = make(&row.defaults());
        group.bench_function(row.name, |bench| {
            bench.iter(|| samples.iter().filter(|sample| filter.keeps(sample)).count());
        });
    }
    group.finish();
}

fn read(criterion: &mut Criterion) {
    let samples = samples();
    let mut group = criterion.benchmark_group("data");
    group.sample_size(20).throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("counts", |bench| {
        bench.iter(|| samples.iter().map(|sample| Counts::of(&sample.board).material()).sum::<u32>());
    });
    group.bench_function("stats", |bench| {
        bench.iter(|| {
            let mut tally = Tally::default();
            samples.iter().for_each(|sample| tally.add(sample));
            tally
        });
    });
    group.bench_function("validate", |bench| {
        bench.iter(|| {
            let mut faults = 0;
            samples.iter().for_each(|sample| check(sample, &mut |_, _| faults += 1));
            faults
        });
    });
    group.finish();
}

criterion_group!(benches, filter, read);
criterion_main!(benches);
