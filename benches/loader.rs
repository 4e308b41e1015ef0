//! Speed of the supply of positions to a trainer.
//!
//! `cargo bench --bench loader`. The order of an epoch, drawn on all threads and as its simple twin draws it;
//! positions of the bundled engine games, many times over, read, collected and handed over in batches from two
//! formats. Nothing is trained. The limit is the memory: a position has 32 bytes, and a decoded one about three times
//! as many.

mod bundled;

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::rng::Rng;
use patzer_data::{AnyReader, AnyWriter, Metadata, Record, Target};
use patzer_train::{DataLoader, StreamLoader, Superbatch, TrainItem, WIN, permutation};

fn orders(criterion: &mut Criterion) {
    const COUNT: usize = 1 << 24;
    let mut group = criterion.benchmark_group("order");
    group.sample_size(10).throughput(Throughput::Elements(COUNT as u64));
    let mut order = vec![0; COUNT];
    group.bench_function("on all threads", |bench| bench.iter(|| permutation(1, black_box(&mut order))));
    group.bench_function("simple", |bench| {
        bench.iter(|| {
            order.iter_mut().zip(0..).for_each(|(slot, n)| *slot = n);
            Rng::new(1).shuffle(black_box(&mut order));
        });
    });
    group.finish();
}

/// The positions of the bundled games that have a score.
fn records() -> Vec<Record> {
    let mut records = bundled::records("engine.pgn.zst");
    records.retain(|record| record.score.is_some());
    records
}

fn item(record: &Record) -> TrainItem {
    let result = i16::from(record.result) * WIN;
    TrainItem {
        board: record.board,
        turn: record.turn,
        halfmoves: record.halfmove,
        score: record.score,
        result,
        ply: record.ply,
    }
}

/// Loads a file in superbatches, as a run does.
fn drain(path: &Path, cut: Superbatch) {
    let (mut feeder, mut stream) = StreamLoader::new(cut, 1, String::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut reader, mut batch) = (AnyReader::open(path, None).unwrap(), Vec::new());
            while reader.next_batch(&mut batch).unwrap() {
                batch.iter().for_each(|record| {
                    feeder.push(item(record));
                });
            }
        });
        let mut taken = 0;
        let mut take = |_: &[TrainItem], batch: &[u32]| {
            taken += batch.len();
            Ok(true)
        };
        stream.epoch(1, &mut take).unwrap();
        assert_eq!(taken, stream.positions());
    });
}

fn streams(criterion: &mut Criterion) {
    let few = records();
    let folder = tempfile::tempdir().unwrap();
    let (times, batch) = (64, 16_384);
    let cut = Superbatch::new(times * few.len(), 1 << 20, batch);
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10).throughput(Throughput::Elements((cut.buffer_size() * cut.buffers) as u64));
    for name in ["positions.parquet", "positions.bullet"] {
        let path = folder.path().join(name);
        let mut writer =
            AnyWriter::create(&path, &Target::default(), &Metadata::new(vec![], vec![], 0)).unwrap();
        (0..times).for_each(|_| writer.write(&few).unwrap());
        writer.finish().unwrap();
        group.bench_function(name, |bench| bench.iter(|| drain(&path, cut)));
    }
    group.finish();
}

criterion_group!(benches, orders, streams);
criterion_main!(benches);
