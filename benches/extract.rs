//! The hot paths of `extract` on the bundled games: cutting, parsing, filtering, writing.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::filter::Pipeline;
use patzer_data::{Metadata, Sample, Writer};
use patzer_pgn::{Cutter, Parser, Piece};

fn games() -> (Vec<u8>, Vec<Piece>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    let mut cutter = Cutter::new();
    *cutter.text() = patzer_io::read(&path).unwrap();
    cutter.scan(true);
    cutter.take()
}

fn parse(text: &[u8], pieces: &[Piece], samples: &mut Vec<Sample>) {
    let mut parser = Parser::default();
    samples.clear();
    for piece in pieces {
        parser.parse(text, piece, 0, samples);
    }
}

fn extract(criterion: &mut Criterion) {
    let (text, pieces) = games();
    let mut samples: Vec<Sample> = Vec::new();
    parse(&text, &pieces, &mut samples);

    let mut group = criterion.benchmark_group("extract");
    group.sample_size(10).throughput(Throughput::Elements(samples.len() as u64));
    group.bench_function("cut", |bench| {
        bench.iter(|| {
            let mut cutter = Cutter::new();
            cutter.text().extend_from_slice(&text);
            cutter.scan(true);
            cutter.take().1.len()
        });
    });
    group.bench_function("parse", |bench| {
        let mut samples = Vec::new();
        bench.iter(|| {
            parse(&text, &pieces, &mut samples);
            samples.len()
        });
    });
    for preset in ["quiet", "unique"] {
        group.bench_function(format!("filter {preset}"), |bench| {
            bench.iter(|| {
                let mut pipeline = Pipeline::new(&[preset.to_string()], &[]).unwrap();
                samples.iter().filter(|sample| pipeline.keep(sample).is_ok()).count()
            });
        });
    }
    let folder = tempfile::tempdir().unwrap();
    group.bench_function("write", |bench| {
        bench.iter(|| {
            let path = folder.path().join("x.parquet");
            let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
            writer.write(&samples).unwrap();
            writer.finish().unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, extract);
criterion_main!(benches);
