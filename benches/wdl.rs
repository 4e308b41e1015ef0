//! The hot paths of `wdl model` on the bundled games: reading, counting, fitting.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::Record;
use patzer_fit::wdl::source::{GameSelection, observe, read};
use patzer_fit::wdl::{Bin, Bounds, Histogram, Observation, WdlModel, WdlTable, fit};

fn counted() -> Histogram {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    let mut histogram = Histogram::default();
    let see = |seen: &mut Vec<Observation>, record: &Record| seen.extend(observe(record, Bin::default()));
    let absorb = |seen: Vec<Observation>| seen.into_iter().for_each(|o| histogram.add(o, 1));
    read(&[path], &GameSelection::default(), see, absorb, &mut |_| {}).unwrap();
    histogram
}

fn wdl(criterion: &mut Criterion) {
    let histogram = counted();
    let table = WdlTable::new(&histogram, Bounds::default());
    let flat = |a, b| WdlModel { a: [0.0, 0.0, 0.0, a], b: [0.0, 0.0, 0.0, b], target: 58.0 };

    let mut group = criterion.benchmark_group("wdl");
    group.sample_size(10).throughput(Throughput::Elements(histogram.total()));
    group.bench_function("read and count", |bench| bench.iter(counted));
    group.bench_function("table", |bench| bench.iter(|| WdlTable::new(&histogram, Bounds::default())));
    group.bench_function("fit", |bench| bench.iter(|| fit(&table, 58.0, None).unwrap()));
    group.bench_function("fit from far away", |bench| {
        bench.iter(|| fit(&table, 58.0, Some(&flat(2_000.0, 5.0))).unwrap());
    });
    group.finish();
}

criterion_group!(benches, wdl);
criterion_main!(benches);
