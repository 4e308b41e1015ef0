//! The hot paths of `extract` on the bundled games: cutting, parsing, filtering, writing.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer::pgn::{Cutter, Feed, Parser, Piece};
use patzer::positions::filter::Pipeline;
use patzer::positions::{Metadata, Sample, Writer};

fn games() -> (Vec<u8>, Vec<Piece>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    let mut cutter = Cutter::new();
    *cutter.text() = patzer::io::read(&path).unwrap();
    cutter.scan(true);
    cutter.take()
}

fn parse(text: &[u8], pieces: &[Piece], mut each: impl FnMut(&[Sample])) {
    let feed = Feed::default();
    let mut parser = Parser::new(&feed);
    for piece in pieces {
        each(parser.parse(text, piece).samples);
    }
}

fn extract(criterion: &mut Criterion) {
    let (text, pieces) = games();
    let mut samples: Vec<Sample> = Vec::new();
    parse(&text, &pieces, |game| samples.extend_from_slice(game));

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
        bench.iter(|| {
            let mut positions = 0;
            parse(&text, &pieces, |game| positions += game.len());
            positions
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
