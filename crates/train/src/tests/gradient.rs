//! Gradients against a plain implementation in f64 and finite differences.

use shakmaty::Color;

use super::{items, settings, settings_of, shapes};
use crate::cpu_gradient::CpuGradient;
use crate::model::Model;
use crate::param_layout::ParamLayout;
use crate::position_weight::{Measure, PositionWeight, WeightRule};
use crate::target::Target;
use crate::{Settings, TrainItem, WIN};
use patzer_chess::rng::Rng;
use patzer_eval::nnue::{Activation, Architecture, LayerActivation, features, oriented, phase};

fn further(activation: LayerActivation, sums: &[f64]) -> Vec<f64> {
    let clip = |x: f64| x.clamp(0.0, 1.0);
    let each = |of: fn(f64) -> f64| sums.iter().map(|x| of(*x)).collect::<Vec<_>>();
    let clipped: Vec<f64> = sums.iter().map(|x| clip(*x)).collect();
    match activation {
        LayerActivation::Relu => each(|x| x.max(0.0)),
        LayerActivation::Crelu => clipped,
        LayerActivation::Screlu => clipped.iter().map(|x| x * x).collect(),
        LayerActivation::Dual => [each(|x| (x * x).min(1.0)), clipped].concat(),
    }
}

/// Mean loss by definition, in f64, with the penalty on activations; shares only parameter offsets with the
/// implementation.
fn reference_loss(layout: &ParamLayout, parameters: &[f64], items: &[TrainItem], settings: &Settings) -> f64 {
    let architecture = &layout.architecture;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let clip = |x: f64| x.clamp(0.0, 1.0);
    let (wdl, k) = (f64::from(settings.wdl), f64::from(settings.k.unwrap()));
    let loss = |item: &TrainItem| {
        let board = item.board.board().unwrap();
        let bucket = architecture.output_bucket(board.occupied().count(), phase(&board));
        let mut values = Vec::new();
        let mut skipped = 0.0;
        let first = if architecture.white_perspective { Color::White } else { item.turn };
        for (side, sign) in [(first, 1.0), (first.other(), -1.0)].into_iter().take(architecture.perspectives)
        {
            let (view, king) = oriented(architecture, &board, item.halfmoves, side);
            let mut words = vec![0; architecture.features.words()];
            architecture.features.write(&view, &mut words);
            let active: Vec<usize> = features::ones(&words).collect();
            let row = |feature: usize| layout.numbers.row(king, feature);
            let shared = |feature: usize, at: fn(&ParamLayout, usize, usize) -> usize, column: usize| {
                if feature < layout.factor_rows { parameters[at(layout, feature, column)] } else { 0.0 }
            };
            let sum = |neuron: usize| -> f64 {
                let weight = |f: &usize| {
                    parameters[layout.feature_at(row(*f), neuron)]
                        + shared(*f, ParamLayout::factor_at, neuron)
                };
                parameters[layout.bias_at(neuron)] + active.iter().map(weight).sum::<f64>()
            };
            let sums: Vec<f64> = (0..architecture.hidden).map(sum).collect();
            let activated = |n: usize| match architecture.activation {
                Activation::Relu => sums[n].max(0.0),
                Activation::Crelu => clip(sums[n]),
                Activation::Screlu => clip(sums[n]) * clip(sums[n]),
                Activation::Pairwise => clip(sums[n]) * clip(sums[n + architecture.hidden / 2]),
            };
            values.extend((0..architecture.outputs_per_perspective()).map(activated));
            if architecture.psqt {
                let value = |f: &usize| {
                    parameters[layout.psqt_at(row(*f), bucket)]
                        + shared(*f, ParamLayout::psqt_factor_at, bucket)
                };
                skipped += sign * active.iter().map(value).sum::<f64>() / architecture.perspectives as f64;
            }
        }
        let penalty = f64::from(settings.l1_activations) * values.iter().sum::<f64>() / values.len() as f64;
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            if layer == 1 && architecture.skip_neuron {
                skipped += values.pop().unwrap();
            }
            if layer > 0 {
                values = further(architecture.layer_activation(layer - 1), &values);
            }
            let output = |o: usize| -> f64 {
                let products =
                    (0..inputs).map(|i| values[i] * parameters[layout.weight_at(bucket, layer, o, i)]);
                products.sum::<f64>() + parameters[layout.dense_bias_at(bucket, layer, o)]
            };
            values = (0..outputs).map(output).collect();
        }
        let sign = if item.turn == Color::White { 1.0 } else { -1.0 };
        let output = (values[0] + skipped) * if architecture.white_perspective { sign } else { 1.0 };
        let result = (f64::from(item.result) / f64::from(WIN) * sign + 1.0) / 2.0;
        if architecture.wdl_head {
            let by_result = [0.0, 0.5, 1.0].map(|of| if result == 1.0 - of { 1.0 } else { 0.0 });
            let target = item.score.map_or(by_result, |score| {
                let [win, lose] = [score, -score]
                    .map(|s| sigmoid(k * (f64::from(s) - f64::from(settings.score_offset)) / 400.0));
                let by_score = [win, 1.0 - win - lose, lose];
                [0, 1, 2].map(|at| wdl * by_result[at] + (1.0 - wdl) * by_score[at])
            });
            let sum: f64 = values.iter().map(|value| (k * value).exp()).sum();
            let cost = |(t, value): (&f64, &f64)| {
                if *t == 0.0 { 0.0 } else { t * (t.ln() - k * value + sum.ln()) }
            };
            return target.iter().zip(&values).map(cost).sum::<f64>() + penalty;
        }
        let target =
            item.score.map_or(result, |s| wdl * result + (1.0 - wdl) * sigmoid(k * f64::from(s) / 400.0));
        (sigmoid(k * output) - target).abs().powf(settings.power.into()) + penalty
    };
    items.iter().map(loss).sum::<f64>() / items.len() as f64
}

pub(crate) fn places(layout: &ParamLayout) -> Vec<usize> {
    let architecture = &layout.architecture;
    let mut places = Vec::new();
    for neuron in 0..architecture.hidden {
        places.extend((0..layout.rows).map(|row| layout.feature_at(row, neuron)));
        places.extend((0..layout.factor_rows).map(|feature| layout.factor_at(feature, neuron)));
        places.push(layout.bias_at(neuron));
    }
    for bucket in 0..architecture.output_buckets {
        if architecture.psqt {
            places.extend((0..layout.rows).map(|row| layout.psqt_at(row, bucket)));
            places.extend((0..layout.factor_rows).map(|feature| layout.psqt_factor_at(feature, bucket)));
        }
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            for output in 0..outputs {
                places.extend((0..inputs).map(|input| layout.weight_at(bucket, layer, output, input)));
                places.push(layout.dense_bias_at(bucket, layer, output));
            }
        }
    }
    places
}

/// Makes weights and biases large enough to clip some activations.
pub(crate) fn enlarge(model: &mut Model, rng: &mut Rng) {
    for at in places(&model.layout) {
        model.parameters[at] = model.parameters[at] * 3.0 + 0.01 + 0.02 * rng.normal() as f32;
    }
}

fn check_gradient(architecture: &Architecture, factoriser: bool, l1_activations: f32) {
    let items = items(260, 1);
    let score_offset = if architecture.wdl_head { 150.0 } else { 0.0 };
    let settings = settings_of(architecture.clone());
    let settings = Settings { wdl: 0.4, k: Some(1.2), power: 2.5, l1_activations, score_offset, ..settings };
    let target = settings.target(0.4);
    let mut model = Model::random(architecture, factoriser, 5);
    let mut rng = Rng::new(6);
    enlarge(&mut model, &mut rng);
    let batch: Vec<u32> = (0..items.len() as u32).collect();
    let mut cpu = CpuGradient::new(&model, items.len(), false);
    let mean = cpu.mean_loss(&model, settings.loss(), target, &items);
    let (loss, gradient) = cpu.gradient(&model, settings.loss(), target, &items, &batch);
    let exact: Vec<f64> = model.parameters.iter().map(|w| f64::from(*w)).collect();
    let reference = |parameters: &[f64]| reference_loss(&model.layout, parameters, &items, &settings);
    let plain = Settings { l1_activations: 0.0, ..settings.clone() };
    let expected = reference_loss(&model.layout, &exact, &items, &plain);
    for loss in [loss / items.len() as f64, mean] {
        assert!((loss - expected).abs() <= 1e-5, "{architecture}: the loss {loss} is not {expected}");
    }

    let layout = &model.layout;
    let touched: Vec<usize> = (0..layout.bias).filter(|at| gradient[*at] != 0.0).collect();
    let mut checked: Vec<usize> = (0..14).map(|_| touched[rng.below(touched.len())]).collect();
    checked.extend((0..4).map(|_| layout.bias_at(rng.below(architecture.hidden))));
    if factoriser {
        let shared: Vec<usize> =
            (layout.factor..layout.output_start).filter(|at| gradient[*at] != 0.0).collect();
        checked.extend((0..8).map(|_| shared[rng.below(shared.len())]));
    }
    for bucket in 0..architecture.output_buckets.min(3) {
        if architecture.psqt {
            let at = |row: usize| layout.psqt_at(row, bucket);
            checked.extend((0..layout.rows).map(at).filter(|at| gradient[*at] != 0.0).take(3));
        }
        for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
            for _ in 0..5 {
                let (output, input) = (rng.below(outputs), rng.below(inputs));
                checked.push(layout.weight_at(bucket, layer, output, input));
                checked.push(layout.dense_bias_at(bucket, layer, output));
            }
        }
    }
    let mut largest = 0.0f64;
    for at in checked {
        let moved = |step: f64| {
            let mut moved = exact.clone();
            moved[at] += step;
            reference(&moved)
        };
        let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let error = (f64::from(gradient[at]) - expected).abs();
        let bound = 2e-6 + 2e-3 * expected.abs();
        assert!(error <= bound, "{architecture}, parameter {at}: {} is not {expected}", gradient[at]);
        largest = largest.max(expected.abs());
    }
    assert!(largest > 1e-4, "{architecture}: the gradient is trivially zero");
}

#[test]
fn gradients_of_every_shape_are_those_of_finite_differences() {
    use rayon::prelude::*;

    shapes().into_par_iter().for_each(|architecture| {
        check_gradient(&architecture, architecture.king_bucket_count() > 1, 0.0);
    });
}

#[test]
fn gradients_with_a_penalty_on_activations_are_those_of_finite_differences() {
    for &activation in Activation::ALL {
        for layers in [Vec::new(), vec![5]] {
            check_gradient(&Architecture { activation, layers, ..Architecture::plain(20) }, false, 0.7);
        }
        check_gradient(&Architecture { activation, wdl_head: true, ..Architecture::plain(20) }, false, 0.7);
    }
}

#[test]
fn sums_in_sixteen_bits_give_almost_the_same_gradient() {
    for architecture in shapes() {
        let items = items(300, 8);
        let settings = Settings { k: Some(1.0), ..settings_of(architecture.clone()) };
        let (loss, target) = (settings.loss(), Target { wdl: 0.3, k: 1.0, offset: 0.0 });
        let model = Model::random(&architecture, false, 5);
        let batch: Vec<u32> = (0..items.len() as u32).collect();
        let with = |shorts: bool| {
            let mut cpu = CpuGradient::new(&model, items.len(), shorts);
            let (loss, gradient) = cpu.gradient(&model, loss, target, &items, &batch);
            (loss / items.len() as f64, gradient.to_vec())
        };
        let ((exact, expected), (near, found)) = (with(false), with(true));
        assert!((exact - near).abs() < 1e-4, "{architecture}: {near} is not {exact}");
        let square =
            |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x).powi(2)).sum::<f64>();
        let size = square(&mut expected.iter().copied());
        let away = square(&mut expected.iter().zip(&found).map(|(a, b)| a - b));
        // An accumulator that rounding moves over an activation's edge switches its gradient.
        assert!(away < 0.01 * size, "{architecture}: {}", (away / size).sqrt());
        assert_ne!(expected, found);
    }
}

#[test]
fn a_weighted_gradient_is_the_weighted_mean_of_gradients() {
    for layers in [Vec::new(), vec![5]] {
        for l1_activations in [0.0, 0.7] {
            let model =
                Model::random(&Architecture { layers: layers.clone(), ..Architecture::plain(16) }, false, 5);
            check_weights(&model, &Settings { l1_activations, ..settings() });
        }
    }
}

fn check_weights(model: &Model, settings: &Settings) {
    let items = items(40, 8);
    let (loss, target) = (settings.loss(), Target { wdl: 0.3, k: 1.0, offset: 0.0 });
    let rule = PositionWeight(vec![WeightRule { by: Measure::Ply, at: vec![[1.0, 0.2], [40.0, 3.0]] }]);
    let mut plain = CpuGradient::new(model, items.len(), false);
    let (mut sum, mut weights, mut expected) = (0.0, 0.0, vec![0.0f64; model.parameters.len()]);
    for (at, item) in items.iter().enumerate() {
        let (weight, (value, gradient)) =
            (f64::from(rule.weight(item)), plain.gradient(model, loss, target, &items, &[at as u32]));
        expected.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += weight * f64::from(*g));
        (sum, weights) = (sum + weight * value, weights + weight);
    }
    let mut cpu = CpuGradient::new(model, items.len(), false);
    cpu.follow(&Settings { position_weight: Some(rule), ..settings.clone() });
    let mean = cpu.mean_loss(model, loss, target, &items);
    assert!((mean - sum / weights).abs() < 1e-9, "{mean} is not {}", sum / weights);
    let batch: Vec<u32> = (0..items.len() as u32).collect();
    let (value, gradient) = cpu.gradient(model, loss, target, &items, &batch);
    assert!((value - sum).abs() < 1e-6);
    for (found, expected) in gradient.iter().zip(expected) {
        let expected = expected / weights;
        assert!((f64::from(*found) - expected).abs() < 1e-6 + 1e-3 * expected.abs(), "{found} {expected}");
    }
}
