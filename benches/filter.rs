//! Cost of filters, statistics and checks per position, on the bundled engine games.

mod bundled;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::Record;
use patzer_data::filter::{Build, PRESETS, PieceCounts, Pipeline, rows};
use patzer_data::stats::Tally;
use patzer_data::validate::check;

fn records() -> Vec<Record> {
    bundled::records("engine.pgn.zst")
}

fn filter(criterion: &mut Criterion) {
    let records = records();
    let mut group = criterion.benchmark_group("filter");
    group.sample_size(20).throughput(Throughput::Elements(records.len() as u64));
    for (preset, _) in PRESETS {
        // Without the memory of duplicates, which the benchmark of extract measures.
        let mut pipeline = Pipeline::new(&[preset.to_string()], &[]).unwrap();
        let (judge, _) = pipeline.halves();
        group.bench_function(format!("preset {preset}"), |bench| {
            bench.iter(|| records.iter().filter(|record| judge.keep(record).is_ok()).count());
        });
    }
    for row in rows().filter(|row| ["wdl_skip", "piece_target", "imbalance"].contains(&row.name)) {
        let Build::Position(build) = row.build else { continue };
        let filter = build(row.defaults()).unwrap();
        group.bench_function(row.name, |bench| {
            bench.iter(|| records.iter().filter(|record| filter(record)).count());
        });
    }
    group.finish();
}

fn read(criterion: &mut Criterion) {
    let records = records();
    let mut group = criterion.benchmark_group("data");
    group.sample_size(20).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("counts", |bench| {
        bench.iter(|| records.iter().map(|record| PieceCounts::of(&record.board).material()).sum::<u32>());
    });
    group.bench_function("stats", |bench| {
        bench.iter(|| {
            let mut tally = Tally::default();
            records.iter().for_each(|record| tally.add(record));
            tally
        });
    });
    group.bench_function("validate", |bench| {
        bench.iter(|| {
            let mut faults = 0;
            records.iter().for_each(|record| check(record, &mut |_, _| faults += 1));
            faults
        });
    });
    group.finish();
}

criterion_group!(benches, filter, read);
criterion_main!(benches);
