//! The hot paths of `extract` on the bundled games: cutting, parsing, filtering, writing.

use std::path::Path;

use std::ops::ControlFlow;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_data::filter::Pipeline;
use patzer_data::{Metadata, Record, Writer};
use patzer_pgn::{GameSpan, GameSplitter, Parser};
use pgn_reader::{SanPlus, Visitor};
use shakmaty::{Chess, Position};

fn games() -> (Vec<u8>, Vec<GameSpan>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    let mut cutter = GameSplitter::new();
    *cutter.text() = patzer_io::read(&path, patzer_io::Limit::BOOK).unwrap();
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

/// Replays games with pgn-reader and shakmaty and counts their moves: the yardstick for `parse`.
#[derive(Default)]
struct Replay(Chess, usize);

impl Visitor for Replay {
    type Tags = ();
    type Movetext = ();
    type Output = usize;

    fn begin_tags(&mut self) -> ControlFlow<usize, ()> {
        *self = Replay::default();
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<usize, ()> {
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<usize> {
        let m = san.san.to_move(&self.0).unwrap();
        self.0.play_unchecked(m);
        self.1 += 1;
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (): ()) -> usize {
        self.1
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
    group.bench_function("replay with pgn-reader", |bench| {
        bench.iter(|| {
            let mut reader = pgn_reader::Reader::new(&text[..]);
            let mut replay = Replay::default();
            let mut games = reader.read_games(&mut replay);
            games.try_fold(0, |moves, game| game.map(|count| moves + count)).unwrap()
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
