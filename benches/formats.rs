//! Every format's reading and writing on the bundled engine games, in positions a second.

mod bundled;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::{AnyReader, AnyWriter, Metadata, Record, Target};
use patzer_formats::registry;

/// The positions that have a score, so that every format holds all of them.
fn records() -> Vec<Record> {
    let mut records = bundled::records("engine.pgn.zst");
    records.retain(|record| record.score.is_some());
    records
}

fn formats(criterion: &mut Criterion) {
    let records = records();
    let folder = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("formats");
    group.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    for format in registry::written() {
        let path = folder.path().join(format.name);
        let target = Target { format: Some(format), ..Target::default() };
        group.bench_function(format!("write {}", format.name), |bench| {
            bench.iter(|| {
                let metadata = Metadata::new(vec![], vec![], 0);
                let mut writer = AnyWriter::create(&path, &target, &metadata).unwrap();
                writer.write(&records).unwrap();
                assert_eq!(writer.finish().unwrap().positions, records.len() as u64);
            });
        });
        group.bench_function(format!("read {}", format.name), |bench| {
            bench.iter(|| {
                let mut reader = AnyReader::open(&path, Some(format)).unwrap();
                let (mut batch, mut read) = (Vec::new(), 0);
                while reader.next_batch(&mut batch).unwrap() {
                    read += batch.len();
                }
                assert_eq!(read, records.len());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, formats);
criterion_main!(benches);
