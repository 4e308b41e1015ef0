//! The forward pass of the quantised network in floats, for quantisation-aware training: weights and the first further
//! layer's inputs are rounded, gradients pass through the rounding unchanged.

use rayon::prelude::*;

use super::model::Model;
use super::param_layout::ParamLayout;
use patzer_eval::nnue::BYTE_SHIFT;
use patzer_eval::nnue::network::{QA, QB};
use patzer_fit::optim::CHUNK;

/// A model with the weights of its quantised network; the factoriser's are added to the rows.
#[derive(Debug, Default)]
pub(crate) struct Rounded {
    model: Option<Model>,
    table: Vec<f32>,
}

impl Rounded {
    pub(crate) fn round(&mut self, model: &Model) -> &Model {
        model.whole_table(&mut self.table);
        let layout = &model.layout;
        let rounded = self.model.get_or_insert_with(|| model.clone());
        let own = if self.table.is_empty() { &model.parameters[..layout.bias] } else { &self.table[..] };
        round(own, &mut rounded.parameters[..layout.bias], QA);
        round(
            &model.parameters[layout.bias..layout.factor],
            &mut rounded.parameters[layout.bias..layout.factor],
            QA,
        );
        for bucket in 0..layout.architecture.output_buckets {
            for (layer, [inputs, outputs]) in layout.dense.iter().enumerate() {
                let start = layout.layer(bucket, layer);
                let (weights, biases) = (start..start + inputs * outputs, start + inputs * outputs);
                round(&model.parameters[weights.clone()], &mut rounded.parameters[weights], QB);
                let biases = biases..biases + outputs;
                round(&model.parameters[biases.clone()], &mut rounded.parameters[biases], QA * QB);
            }
        }
        rounded
    }
}

fn round(from: &[f32], to: &mut [f32], unit: i32) {
    let unit = unit as f32;
    to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = (from * unit).round() / unit);
    });
}

/// Units of an output bucket's weights and biases.
pub(crate) fn output_units(layout: &ParamLayout) -> Vec<f32> {
    let of_layer = |[inputs, outputs]: &[usize; 2]| {
        std::iter::repeat_n(QB, inputs * outputs).chain(std::iter::repeat_n(QA * QB, *outputs))
    };
    layout.dense.iter().flat_map(of_layer).map(|unit| unit as f32).collect()
}

/// Units of the first further layer's inputs; none without one, as a single layer's are not rounded.
pub(crate) fn activation_unit(layout: &ParamLayout) -> Option<f32> {
    let unit = QA as f32;
    let bytes = layout.architecture.in_bytes();
    (!layout.is_single_layer()).then_some(if bytes { unit * unit / (1 << BYTE_SHIFT) as f32 } else { unit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_gradient::{self, CpuGradient};
    use crate::target::Target;
    use crate::tests::{Checkpoints, enlarge, items, shapes};
    use crate::{Epoch, Settings, fit};
    use patzer_chess::rng::Rng;
    use patzer_eval::BoardEvaluator;
    use patzer_eval::nnue::{About, Activation, Architecture, Nnue};

    #[test]
    fn the_rounded_forward_pass_gives_the_values_of_the_engine() {
        let items = items(300, 5);
        for architecture in shapes() {
            for factoriser in [false, architecture.king_bucket_count() > 1] {
                let mut model = Model::random(&architecture, factoriser, 5);
                enlarge(&mut model, &mut Rng::new(2));
                model
                    .parameters
                    .iter_mut()
                    .zip(model.layout.limits())
                    .for_each(|(w, most)| *w = w.clamp(-most, most));
                let mut nnue = Nnue::new(model.quantise(About::default()).unwrap().into());
                for (item, found) in items.iter().zip(cpu_gradient::centipawns(&model, &items, true, 1.0)) {
                    let board = item.board.board().unwrap();
                    let expected = nnue.evaluate_board(&board, item.halfmoves, item.turn, 0) as f32;
                    assert!((found - expected).abs() < 2.0, "{architecture}: {found} is not {expected}");
                }
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_rounded_model() {
        let items = items(300, 6);
        let batch: Vec<u32> = (0..items.len() as u32).collect();
        let (loss, target) = (Settings::default().loss(), Target { wdl: 0.3, k: 1.0, offset: 0.0 });
        for architecture in [
            Architecture::plain(20),
            Architecture { activation: Activation::Crelu, psqt: true, ..Architecture::plain(32) },
        ] {
            let model = Model::random(&architecture, false, 5);
            let mut rounded = Rounded::default();
            let mut plain = CpuGradient::new(&model, items.len(), false);
            let expected = plain.gradient(rounded.round(&model), loss, target, &items, &batch).1.to_vec();
            let mut found = CpuGradient::new(&model, items.len(), true);
            found.rounds(true);
            assert_eq!(found.gradient(&model, loss, target, &items, &batch).1, expected, "{architecture}");
        }
    }

    #[test]
    fn rounded_epochs_follow_others_and_resume_to_the_same_bytes() {
        let items = items(1000, 7);
        let shape = Architecture {
            layers: vec![6],
            activation: Activation::Pairwise,
            first_layer_bits: 8,
            ..Architecture::plain(32)
        };
        let settings = Settings { epochs: 4, batch: 100, learning_rate: 0.003, ..Settings::of(&shape) };
        let aware = Settings { quantisation_aware: 0.5, ..settings.clone() };
        let mut whole = Checkpoints::default();
        let outcome = fit(&items, &[], &aware, &mut whole).unwrap();
        assert!(outcome.best_epoch > 2, "a rounded epoch is kept");
        for state in &whole.kept {
            let mut again = Checkpoints { from: Some(state.clone()), ..Checkpoints::default() };
            let resumed = fit(&items, &[], &aware, &mut again).unwrap();
            assert_eq!(resumed.network.to_bytes(), outcome.network.to_bytes());
        }
        let usual = fit(&items, &[], &settings, &mut |_: &Epoch| ()).unwrap();
        let losses = |epochs: &[Epoch]| epochs.iter().map(|epoch| epoch.train_loss).collect::<Vec<_>>();
        let (usual, aware) = (losses(&usual.epochs), losses(&outcome.epochs));
        assert_eq!(usual[..2], aware[..2]);
        assert_ne!(usual[2], aware[2]);
    }
}
