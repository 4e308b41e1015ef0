//! The cost of one evaluation in play, and of resolving a position, over positions of random games in the order in
//! which they arose, and of static labels, also by the networks whose files PATZER_BENCH_NETS lists as a PATH does.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::PackedBoard;
use patzer_chess::packed::NO_EP;
use patzer_chess::rng::Rng;
use patzer_data::Record;
use patzer_engine as engine;
use patzer_engine::leaf_search;
use patzer_eval::hce::{self, Hce, Trace, Weights};
use patzer_eval::nnue::{Activation, Architecture, KingBuckets, Network};
use patzer_eval::{Evaluation, Evaluator, with_evaluator};
use patzer_formats::native::columns::EMPTY;
use patzer_label::teacher::{Block, Labeller, StaticTeacher};
use patzer_train::random_network_of;
use shakmaty::{Chess, Position};

fn positions(count: usize) -> Vec<Chess> {
    let mut rng = Rng::new(1);
    let mut positions = Vec::with_capacity(count);
    let (mut position, mut ply) = (Chess::default(), 0);
    while positions.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 100 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        positions.push(position.clone());
    }
    positions
}

fn evaluation(criterion: &mut Criterion) {
    let positions = positions(10_000);
    let mut group = criterion.benchmark_group("hce");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut hce = Hce::new(Arc::new(Weights::default()));
    group.bench_function("evaluate", |bench| {
        bench.iter(|| positions.iter().map(|position| hce.evaluate(black_box(position), 0)).sum::<i32>());
    });
    group.bench_function("evaluate without memory", |bench| {
        bench.iter(|| {
            let white = |position: &Chess| hce.white(black_box(position.board()), position.turn());
            positions.iter().map(white).sum::<i32>()
        });
    });
    let mut trace = Trace::default();
    group.bench_function("trace", |bench| {
        bench.iter(|| {
            let mut entries = 0;
            for position in &positions {
                hce::trace(position.board(), position.turn(), &mut trace);
                trace.drain(|_, _| entries += 1);
            }
            entries
        });
    });
    group.finish();
}

/// Resolving positions by quiescence search, as `patzer label` does.
fn labels(criterion: &mut Criterion) {
    let positions = positions(2_000);
    let mut group = criterion.benchmark_group("label");
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut resolver = leaf_search(&Evaluation::default_hce());
    group.bench_function("leaves", |bench| {
        bench.iter(|| {
            positions.iter().filter_map(|position| resolver.quiescence_leaf(black_box(position))).count()
        });
    });
    let mut engine = engine::engine(&Evaluation::default_hce(), 1).unwrap();
    group.bench_function("leaves by the search that plays", |bench| {
        bench.iter(|| {
            positions.iter().filter_map(|position| engine.quiescence_leaf(black_box(position))).count()
        });
    });
    group.finish();
}

/// Static labels beside the bare evaluations that they hold.
fn static_labels(criterion: &mut Criterion) {
    let positions = positions(4096);
    let record = |position: &Chess| Record {
        board: PackedBoard::pack(position),
        turn: position.turn(),
        ep: NO_EP,
        halfmove: position.halfmoves() as u8,
        ..EMPTY
    };
    let records: Vec<Record> = positions.iter().map(record).collect();
    let layered = Architecture {
        activation: Activation::Pairwise,
        mirror: true,
        king_buckets: KingBuckets::parse("five").unwrap(),
        output_buckets: 8,
        layers: vec![16, 32],
        first_layer_bits: 8,
        ..Architecture::plain(1024)
    };
    let random = |architecture| random_network_of(&architecture, 1).unwrap();
    let own = |network: Network| Evaluation::Nnue(Arc::new(network));
    let mut networks = vec![
        ("embedded".to_string(), own(Network::embedded())),
        ("(768->512)x2".to_string(), own(random(Architecture::plain(512)))),
        ("(768->1024)x2".to_string(), own(random(Architecture::plain(1024)))),
        ("(5x768hm->1024)x2, layers".to_string(), own(random(layered))),
    ];
    // Other networks, such as Stockfish's, are not part of the project.
    let given = std::env::var("PATZER_BENCH_NETS").unwrap_or_default();
    for path in std::env::split_paths(&given).filter(|path| !path.as_os_str().is_empty()) {
        let evaluation = Evaluation::load(&path).expect("PATZER_BENCH_NETS names networks");
        networks.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), evaluation));
    }
    let mut group = criterion.benchmark_group("static");
    group.throughput(Throughput::Elements(records.len() as u64));
    for (name, evaluation) in networks {
        with_evaluator!(&evaluation, mut evaluator => {
            group.bench_function(format!("{name}, bare"), |bench| {
                let mut sum = || positions.iter().map(|position| evaluator.evaluate(black_box(position), 0)).sum::<i32>();
                bench.iter(&mut sum);
            });
        });
        let mut labeller = StaticTeacher { evaluation: &evaluation, resolve: false }.labeller();
        let (halt, trouble) = (AtomicBool::new(false), |_| ());
        let block = Block { number: 0, records: &records, halt: &halt, trouble: &trouble };
        group.bench_function(format!("{name}, labels"), |bench| {
            bench.iter(|| labeller.label(black_box(&block)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, evaluation, labels, static_labels);
criterion_main!(benches);
