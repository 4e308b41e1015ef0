//! Datasets: removal of duplicates, and Parquet written and read, on the bundled games.
//!
//! Throughput in positions a second. `RAYON_NUM_THREADS=1` measures one thread.

mod bundled;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::key_set::KeySet;
use patzer_data::{Dataset, Metadata, Record, Writer};
use patzer_formats::native::projection::Projection;

/// The positions of the bundled games, about a million.
fn records() -> Vec<Record> {
    let records = bundled::records("games.pgn.zst");
    (0..4).flat_map(|_| records.clone()).collect()
}

fn dataset(criterion: &mut Criterion) {
    let records = records();
    let mut group = criterion.benchmark_group("dataset");
    group.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("key", |bench| {
        bench.iter(|| records.iter().map(Record::key).fold(0, |a, b| a ^ b));
    });
    let keys: Vec<u128> = records.iter().map(Record::key).collect();
    group.bench_function("dedupe", |bench| {
        bench.iter(|| {
            let mut seen = KeySet::new();
            keys.iter().filter(|key| seen.insert(**key)).count()
        });
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    group.bench_function("write", |bench| {
        bench.iter(|| {
            let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
            writer.write(&records).unwrap();
            writer.finish().unwrap()
        });
    });
    let dataset = Dataset::open(&path).unwrap();
    for (name, wanted) in [("read all", Projection::ALL), ("read training columns", Projection::TRAINING)] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let mut rows = 0;
                for index in 0..dataset.groups() {
                    let mut group = dataset.rows_of(index, wanted).unwrap();
                    loop {
                        let some = group.next_rows().unwrap();
                        if some.is_empty() {
                            break;
                        }
                        rows += some.len();
                    }
                }
                rows
            });
        });
    }
    group.finish();
}

criterion_group!(benches, dataset);
criterion_main!(benches);
