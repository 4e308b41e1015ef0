//! The hot paths of `extract` on the bundled games: cutting, parsing, filtering, writing.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::filter::Pipeline;
use patzer_data::{Metadata, Record, Writer};
use patzer_pgn::{GameSpan, GameSplitter, Parser};

fn games() -> (Vec<u8>, Vec<GameSpan>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    let mut cutter = GameSplitter::new();
    *cutter.text() = patzer_io::read(&path).unwrap();
    cutter.scan(true);
    cutter.take()
}

fn parse(text: &[u8], pieces: &[GameSpan], records: &mut Vec<Record>) {
    let mut parser = Parser::default();
    records.clear();
    for piece in pieces {
        parser.parse(text, piece, 0, records);
    }
}

fn extract(criterion: &mut Criterion) {
    let (text, pieces) = games();
    let mut records: Vec<Record> = Vec::new();
    parse(&text, &pieces, &mut records);

    let mut group = criterion.benchmark_group("extract");
    group.sample_size(10).throughput(Throughput::Elements(records.len() as u64));
    group.bench_function("cut", |bench| {
        bench.iter(|| {
            let mut cutter = GameSplitter::new();
            cutter.text().extend_from_slice(&text);
            cutter.scan(true);
            cutter.take().1.len()
        });
    });
    group.bench_function("parse", |bench| {
        let mut records = Vec::new();
        bench.iter(|| {
            parse(&text, &pieces, &mut records);
            records.len()
        });
    });
    for preset in ["quiet", "unique"] {
        group.bench_function(format!("filter {preset}"), |bench| {
            bench.iter(|| {
                let mut pipeline = Pipeline::new(&[preset.to_string()], &[]).unwrap();
                records.iter().filter(|record| pipeline.keep(record).is_ok()).count()
            });
        });
    }
    let folder = tempfile::tempdir().unwrap();
    group.bench_function("write", |bench| {
        bench.iter(|| {
            let path = folder.path().join("x.parquet");
            let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
            writer.write(&records).unwrap();
            writer.finish().unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, extract);
criterion_main!(benches);
