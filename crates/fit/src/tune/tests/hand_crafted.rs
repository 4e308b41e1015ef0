//! Tests of traces of the hand-crafted evaluation.

use std::sync::Arc;

use shakmaty::{Chess, Position};

use super::*;
use crate::tune::hce::{self, HceTracer, Selection, TuneItem};
use patzer_chess::PackedBoard;
use patzer_eval::hce::{COUNT, Hce, Weights};

fn boards(count: usize, seed: u64) -> Vec<Chess> {
    let mut rng = Rng::new(seed);
    let mut found = Vec::with_capacity(count);
    let (mut position, mut ply) = (Chess::default(), 0);
    while found.len() < count {
        let moves = position.legal_moves();
        if moves.is_empty() || ply == 120 {
            (position, ply) = (Chess::default(), 0);
            continue;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
        ply += 1;
        if ply % 5 == 0 {
            found.push(position.clone());
        }
    }
    found
}

fn tune_item(position: &Chess, target: f32) -> TuneItem {
    TuneItem { board: PackedBoard::pack(position), turn: position.turn(), target, weight: 1.0, game: 0 }
}

#[test]
fn traces_times_weights_are_the_evaluation() {
    let pairs: Vec<[i32; 2]> = (0..COUNT as i32).map(|i| [i * 7 % 97 - 48, i * 13 % 89 - 44]).collect();
    let start = Weights::from_pairs(1.0, &pairs).unwrap();
    let hce = Hce::new(Arc::new(start.clone()));
    let positions = boards(300, 30);
    for terms in [vec![], vec!["psqt".to_string(), "material.queen".to_string()], vec!["tempo".to_string()]] {
        // Weights that are not tuned become constants, which may not change the result.
        let model = hce::model(&start, &Selection { terms, ..Selection::default() }).unwrap();
        let space = Space::new(&model);
        let tracer = HceTracer::default();
        for position in &positions {
            let mut collector = TraceCollector::new(&tracer, &model, &space, 1, 0);
            collector.push(tune_item(position, 0.5)).unwrap();
            let traces = collector.finish().unwrap();
            let objective =
                Objective { traces: &traces, model: &model, space: &space, k: 1.0, l2: 0.0, prior: &[] };
            let (score, _) = objective.scored(&space.parameters_of(&model.start()))[0];
            let truth = hce.white(position.board(), position.turn()) as f32;
            // The evaluation rounds towards 0.
            assert!((score - truth).abs() < 1.0, "{score} and {truth}");
        }
    }
}

#[test]
fn exported_terms_have_the_exact_values() {
    let model = hce::model(&Weights::untuned(), &Selection::default()).unwrap();
    let exact: Vec<f64> = model.start().iter().map(|value| value + 0.25).collect();
    let terms = hce::terms(&hce::weights(&model, &exact, 1.0).unwrap());
    let of_terms = terms.model(&[]).unwrap();
    let values = of_terms.with_pairs(&model.pairs(&exact));
    assert_eq!(of_terms.pairs(&values), model.pairs(&exact));
}

#[test]
fn mirrored_boards_stay_mirrored() {
    let selection = Selection {
        terms: vec!["psqt".into(), "material".into()],
        fixed: vec!["psqt.pawn".into()],
        mirrored: vec!["psqt.king".into()],
    };
    let model = hce::model(&Weights::untuned(), &selection).unwrap();
    assert_eq!(Space::new(&model).parameters(), 2 * (5 + 4 * 64 + 32));
    let wrong = Selection { terms: vec!["magic".into()], ..Selection::default() };
    let reason = hce::model(&Weights::untuned(), &wrong).unwrap_err().to_string();
    assert!(reason.contains("`magic` is not a term; there are material, "), "{reason}");
    let values: Vec<f64> = (0..model.slots.len()).map(|i| i as f64 * 0.5).collect();
    let weights = hce::weights(&model, &values, 1.0).unwrap();
    let king = weights.part("psqt", "king").unwrap();
    assert!((0..64).all(|square| king[square] == king[square ^ 7]));
}
