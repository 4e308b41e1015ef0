//! Speed of the tuner's passes: `cargo bench --bench tune`.
//!
//! Positions of random games are traced with material and piece-square tables; a pass is one look at all of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use patzer_chess::PackedBoard;
use patzer_chess::rng::Rng;
use patzer_eval::hce::Weights;
use patzer_fit::tune::hce::{HceTracer, Selection, model};
use patzer_fit::tune::model::Space;
use patzer_fit::tune::objective::Objective;
use patzer_fit::tune::traces::{TraceCollector, Traces, arrange};
use patzer_fit::tune::{Curvature, TuneItem};
use patzer_formats::foreign::fast_epd as epd;
use shakmaty::{Chess, Position};

const POSITIONS: usize = 200_000;

fn items() -> Vec<TuneItem> {
    let mut rng = Rng::new(1);
    let mut items = Vec::with_capacity(POSITIONS);
    let (mut position, mut ply) = (Chess::default(), 0);
    while items.len() < POSITIONS {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 200 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        let (board, turn) = (PackedBoard::pack(&position), position.turn());
        items.push(TuneItem { board, turn, target: rng.below(3) as f32 / 2.0, weight: 1.0, game: 0 });
    }
    items
}

fn passes(criterion: &mut Criterion) {
    let selection = Selection { terms: vec!["material".into(), "psqt".into()], ..Selection::default() };
    let model = model(&Weights::untuned(), &selection).expect("the terms are there");
    let (mut space, boards, items) = (Space::new(&model), HceTracer::default(), items());
    let gather = |space: &Space| {
        let mut gather = TraceCollector::new(&boards, &model, space, 16_384, 0);
        items.iter().for_each(|item| gather.push(*item).expect("boards of real positions"));
        gather.finish().expect("boards of real positions")
    };
    let mut traces = gather(&space);
    arrange(&model, &mut space, &mut traces, &mut Traces::default());
    let objective = Objective { traces: &traces, model: &model, space: &space, k: 1.7, l2: 0.0, prior: &[] };
    let start = space.parameters_of(&model.start());
    let mut group = criterion.benchmark_group("tune");
    group.throughput(Throughput::Elements(POSITIONS as u64)).sample_size(20);
    group.bench_function("loss", |bench| bench.iter(|| objective.loss(&start)));
    group.bench_function("gradient", |bench| bench.iter(|| objective.gradient(&start)));
    group.bench_function("normal matrix", |bench| {
        bench.iter(|| objective.normal(&start, Curvature::GaussNewton));
    });
    let unarranged = Space::new(&model);
    group.bench_function("tracing", |bench| bench.iter(|| gather(&unarranged)));
    group.finish();
}

fn lines(criterion: &mut Criterion) {
    let line = b"4k2r/p2q1p2/1p2p1pn/3pPnNp/3P1N1P/P5P1/1P1Q1PK1/7R w k - c9 \"1/2-1/2\";";
    let mut group = criterion.benchmark_group("epd");
    group.throughput(Throughput::Elements(1));
    group.bench_function("line", |bench| bench.iter(|| epd::parse(std::hint::black_box(line))));
    group.finish();
}

criterion_group!(benches, passes, lines);
criterion_main!(benches);
