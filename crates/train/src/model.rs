//! The network in 32-bit floats: initialisation, import and quantisation.

use std::ops::Range;

use super::param_layout::ParamLayout;
use patzer_chess::rng::Rng;
use patzer_eval::nnue::network::{Dense, QA, QB, Weights};
use patzer_eval::nnue::{About, Architecture, LayerActivation, Network, material, wdl_head};
use patzer_io::error::{Error, Result};

type PlaceOf = fn(&ParamLayout, usize, usize) -> usize;

/// Initial piece-square values in centipawns, pawn to king.
const MATERIAL: [f32; 6] = [100.0, 320.0, 330.0, 500.0, 900.0, 0.0];

/// Initial biases of all layers before several further layers of `screlu`: squares of values near 0 have next to no
/// slope.
const SQUARES_BIAS: f32 = 0.25;

/// Weights of a network beyond the limits of training, which keep accumulators within 16 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clipped {
    /// Number of these weights.
    pub weights: usize,
    /// The one that is furthest beyond its limit.
    pub largest: f32,
    /// The limit of that one.
    pub limit: f32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    pub layout: ParamLayout,
    pub parameters: Vec<f32>,
}

impl Model {
    pub(crate) fn zero(architecture: &Architecture, factoriser: bool) -> Model {
        let layout = ParamLayout::new(architecture, factoriser);
        Model { parameters: vec![0.0; layout.len], layout }
    }

    /// Random normal weights and zero biases; with a factoriser only its weights are random.
    ///
    /// Feature weights start at a tenth of 1/√(active features), because rare features keep their initial
    /// noise: on 300,000 positions of TCEC games with results alone, 32 neurons, the best validation loss was
    /// 0.0777 with half of 1/√32 and 0.0762 with a tenth.
    pub(crate) fn random(architecture: &Architecture, factoriser: bool, seed: u64) -> Model {
        Model::noisy(architecture, factoriser, seed, 1.0)
    }

    /// A [`Model::random`] with a factor for the feature weights.
    pub(super) fn noisy(architecture: &Architecture, factoriser: bool, seed: u64, noise: f32) -> Model {
        let mut model = Model::zero(architecture, factoriser);
        let layout = &model.layout;
        let mut rng = Rng::new(seed);
        let active = architecture.features.blocks().iter().map(|set| set.most.min(64)).sum::<usize>();
        let spread = f64::from(noise) * 0.1 * (1.0 / active as f64).sqrt();
        let limits = layout.limits();
        let mut fill = |at: usize, spread: f64| {
            model.parameters[at] = ((rng.normal() * spread) as f32).clamp(-limits[at], limits[at]);
        };
        let rows = if factoriser { layout.numbers.bucketed_rows() } else { 0 }..layout.rows;
        let shared = (0..layout.factor_rows).map(|row| (ParamLayout::factor_at as PlaceOf, row));
        for (place, row) in shared.chain(rows.map(|row| (ParamLayout::feature_at as PlaceOf, row))) {
            (0..architecture.hidden).for_each(|neuron| fill(place(layout, row, neuron), spread));
        }
        for bucket in 0..architecture.output_buckets {
            for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
                for at in 0..outputs * inputs {
                    let at = layout.weight_at(bucket, layer, at / inputs, at % inputs);
                    fill(at, (1.0 / inputs as f64).sqrt());
                }
            }
        }
        for bucket in 1..architecture.output_buckets {
            let (first, from) = (layout.output_start, layout.output_start + bucket * layout.output_size);
            model.parameters.copy_within(first..first + layout.output_size, from);
        }
        model
    }

    /// Sets the biases before several further layers of `screlu`: with 0 a (768→64)×2→16→32→1 `pairwise` network kept
    /// the loss of a constant on 130,000 positions, and with 128 neurons, 2.6 million positions and 3 epochs the
    /// validation loss was 0.1737 instead of 0.1660.
    fn start_biases(&mut self) {
        let (layout, shape) = (&self.layout, &self.layout.architecture);
        let is_square = |layer| shape.layer_activation(layer) == LayerActivation::Screlu;
        if shape.layers.len() < 2 || !(0..shape.layers.len()).any(is_square) {
            return;
        }
        let hidden = (0..shape.hidden).map(|neuron| layout.bias_at(neuron));
        let inner = (0..shape.output_buckets).flat_map(|bucket| {
            shape.layers.iter().enumerate().flat_map(move |(layer, neurons)| {
                (0..*neurons).map(move |output| layout.dense_bias_at(bucket, layer, output))
            })
        });
        hidden.chain(inner).for_each(|at| self.parameters[at] = SQUARES_BIAS);
    }

    /// Random weights plus a material count: in the piece-square values if there are any, else in the first
    /// neurons as in [`material::network`], if there are enough.
    ///
    /// Few training positions have a side a rook up, but searches reach them all the time, and a network
    /// started from noise never learns their value.
    pub(crate) fn start(architecture: &Architecture, factoriser: bool, seed: u64, noise: f32) -> Model {
        let mut model = Model::noisy(architecture, factoriser, seed, noise);
        model.start_biases();
        if architecture.features.blocks()[0].name != "all" {
            return model;
        }
        if architecture.psqt {
            model.start_values();
        } else if architecture.layers.is_empty() {
            model.start_neurons();
        }
        model.clip();
        model
    }

    /// Clips the weights to their limits; returns how many were beyond, and the furthest with its limit.
    pub(crate) fn clip(&mut self) -> Option<Clipped> {
        let mut clipped = None;
        for (weight, limit) in self.parameters.iter_mut().zip(self.layout.limits()) {
            if weight.abs() > limit {
                let found = clipped.get_or_insert(Clipped { weights: 0, largest: *weight, limit });
                found.weights += 1;
                if weight.abs() - limit > found.largest.abs() - found.limit {
                    (found.largest, found.limit) = (*weight, limit);
                }
                *weight = weight.clamp(-limit, limit);
            }
        }
        clipped
    }

    /// Imports a quantised network.
    pub(crate) fn of(network: &Network, factoriser: bool) -> Model {
        let mut model = Model::unclipped(network, factoriser);
        model.clip();
        model
    }

    /// Imports a quantised network, with weights beyond their limits.
    pub(crate) fn unclipped(network: &Network, factoriser: bool) -> Model {
        let numbers = network.weights();
        Model::of_numbers(network.architecture(), numbers.numbers().map(f32::from), factoriser)
    }

    /// Imports the numbers of a raw body, in a network's units, beyond their limits too.
    pub(crate) fn of_numbers(
        architecture: &Architecture,
        mut numbers: impl Iterator<Item = f32>,
        factoriser: bool,
    ) -> Model {
        let mut model = Model::zero(architecture, factoriser);
        let (layout, parameters) = (&model.layout, &mut model.parameters);
        let [qa, qb] = [QA, QB].map(|unit| unit as f32);
        let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
        let values = if architecture.psqt { buckets } else { 0 };
        let mut fill = |at: usize, unit: f32| parameters[at] = numbers.next().unwrap_or(0.0) / unit;
        pairs(layout.rows, hidden).for_each(|(row, neuron)| fill(layout.feature_at(row, neuron), qa));
        (0..hidden).for_each(|neuron| fill(layout.bias_at(neuron), qa));
        pairs(layout.rows, values).for_each(|(row, bucket)| fill(layout.psqt_at(row, bucket), qa));
        let layers = architecture.dense();
        let of_buckets =
            || pairs(buckets, layers.len()).map(|(bucket, layer)| (bucket, layer, layers[layer]));
        for (bucket, layer, [inputs, outputs]) in of_buckets() {
            let place = |(output, input)| layout.weight_at(bucket, layer, output, input);
            pairs(outputs, inputs).for_each(|at| fill(place(at), qb));
        }
        for (bucket, layer, [_, outputs]) in of_buckets() {
            (0..outputs).for_each(|output| fill(layout.dense_bias_at(bucket, layer, output), qa * qb));
        }
        // Either part is limited to half of the whole, so move half of the first bucket's weight.
        for feature in 0..layout.factor_rows {
            let neurons = (0..hidden).map(|n| (layout.factor_at(feature, n), layout.feature_at(feature, n)));
            let values = (0..values).map(|b| (layout.psqt_factor_at(feature, b), layout.psqt_at(feature, b)));
            for (shared, first) in neurons.chain(values) {
                let half = parameters[first] / 2.0;
                parameters[shared] = half;
                for row in (0..layout.numbers.bucketed_rows()).step_by(layout.factor_rows) {
                    parameters[first + row * layout.tile] -= half;
                }
            }
        }
        model
    }

    fn start_values(&mut self) {
        let layout = self.layout.clone();
        for feature in 0..768 {
            let sign = if feature < 384 { 1.0 } else { -1.0 };
            let value = sign * MATERIAL[feature / 64 % 6] / patzer_eval::nnue::network::SCALE as f32;
            // A queen exceeds the limit of a row or of the factoriser, so split the value.
            let is_shared = layout.factor_rows > 0;
            let part = if is_shared { value / 2.0 } else { value };
            for bucket in 0..layout.architecture.output_buckets {
                for row in
                    (feature..layout.numbers.bucketed_rows()).step_by(layout.architecture.features.bucketed())
                {
                    self.parameters[layout.psqt_at(row, bucket)] = part;
                }
                if is_shared {
                    self.parameters[layout.psqt_factor_at(feature, bucket)] = part;
                }
            }
        }
    }

    /// (1/2 + x)² − (1/2 − x)² = (1/2 + x) − (1/2 − x) = 2x, so the same weights count material for every
    /// activation; the second neuron of a pair is 1.
    fn start_neurons(&mut self) {
        let layout = self.layout.clone();
        let architecture = &layout.architecture;
        let hidden = architecture.outputs_per_perspective();
        let Some(network) = material::network(hidden) else { return };
        let weights = network.weights();
        let (shared, features) = (layout.factor_rows > 0, architecture.features.bucketed());
        let place = if shared { ParamLayout::factor_at } else { ParamLayout::feature_at };
        let rows = if shared { features } else { layout.numbers.bucketed_rows() };
        for neuron in 0..material::MIN_HIDDEN {
            for feature in 0..768 {
                for row in (feature..rows).step_by(features) {
                    self.parameters[place(&layout, row, neuron)] +=
                        f32::from(weights.features[feature * hidden + neuron]) / QA as f32;
                }
            }
            self.parameters[layout.bias_at(neuron)] = f32::from(weights.bias[neuron]) / QA as f32;
            if architecture.activation.has_pairs() {
                self.parameters[layout.bias_at(hidden + neuron)] = 1.0;
            }
            for bucket in 0..architecture.output_buckets {
                for perspective in 0..architecture.perspectives {
                    let input = perspective * hidden + neuron;
                    let weight = f32::from(weights.dense[0][0].weights[input]) / QB as f32;
                    self.parameters[layout.weight_at(bucket, 0, 0, input)] = weight;
                    if architecture.wdl_head {
                        // A feature that makes a win likelier makes a loss less likely.
                        self.parameters[layout.weight_at(bucket, 0, 2, input)] = -weight;
                    }
                }
            }
        }
    }

    pub(crate) fn whole_table(&self, table: &mut Vec<f32>) {
        use rayon::prelude::*;

        let layout = &self.layout;
        if layout.factor_rows == 0 {
            return;
        }
        table.resize(layout.bias, 0.0);
        let (size, all) = (layout.factor_rows * layout.tile, layout.rows * layout.tile);
        let buckets = layout.numbers.bucketed_rows() / layout.factor_rows;
        let own = self.parameters[..layout.bias].par_chunks(all);
        let shared = self.parameters[layout.factor..layout.output_start].par_chunks(size);
        table.par_chunks_mut(all).zip(own).zip(shared).for_each(|((table, own), shared)| {
            table.par_chunks_mut(size).zip(own.par_chunks(size)).enumerate().for_each(
                |(at, (table, own))| {
                    if at >= buckets {
                        return table.copy_from_slice(own);
                    }
                    for ((sum, own), shared) in table.iter_mut().zip(own).zip(shared) {
                        *sum = own + shared;
                    }
                },
            );
        });
    }

    pub(crate) fn feature(&self, row: usize, neuron: usize) -> f32 {
        let layout = &self.layout;
        self.sum(layout.feature_at(row, neuron), row, |feature| layout.factor_at(feature, neuron))
    }

    pub(crate) fn value(&self, row: usize, bucket: usize) -> f32 {
        let layout = &self.layout;
        self.sum(layout.psqt_at(row, bucket), row, |feature| layout.psqt_factor_at(feature, bucket))
    }

    /// Adds the factoriser's weight.
    fn sum(&self, own: usize, row: usize, shared: impl Fn(usize) -> usize) -> f32 {
        match self.layout.factor_row(row) {
            None => self.parameters[own],
            Some(feature) => self.parameters[own] + self.parameters[shared(feature)],
        }
    }

    /// Fails if a weight or a possible accumulator exceeds 16 bits, which [`ParamLayout::limits`] rules out. The K of
    /// a WDL head is 1.
    pub(crate) fn quantise(&self, about: About) -> Result<Network> {
        let (layout, architecture) = (&self.layout, &self.layout.architecture);
        let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
        let at = |at: usize| self.parameters[at];
        let mut dense = Vec::new();
        for bucket in 0..buckets {
            let mut layers = Vec::new();
            for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
                let weight = |(output, input)| at(layout.weight_at(bucket, layer, output, input));
                let bias = |output| at(layout.dense_bias_at(bucket, layer, output));
                let weights = rounded(pairs(outputs, inputs).map(weight), QB)?;
                layers.push(Dense { weights, bias: rounded((0..outputs).map(bias), QA * QB)? });
            }
            dense.push(layers);
        }
        let values = pairs(layout.rows, if architecture.psqt { buckets } else { 0 });
        let weights = Weights {
            features: rounded(pairs(layout.rows, hidden).map(|(row, n)| self.feature(row, n)), QA)?,
            bias: rounded((0..hidden).map(|neuron| at(layout.bias_at(neuron))), QA)?,
            psqt: rounded(values.map(|(row, bucket)| self.value(row, bucket)), QA)?,
            dense,
            wdl_k: architecture.wdl_head.then_some(wdl_head::K_UNIT as i16),
        };
        check_sums(architecture, &weights)?;
        Network::new(architecture.clone(), &weights, about)
            .ok_or_else(|| Error::internal(format!("no network {architecture} is possible")))
    }
}

fn check_sums(architecture: &Architecture, weights: &Weights) -> Result<()> {
    let sums = |table: &[i16], columns: usize, column: usize| -> i32 {
        let largest = |rows: Range<usize>| {
            rows.map(|row| i32::from(table[row * columns + column]).abs()).max().unwrap_or(0)
        };
        let blocks = architecture.block_rows();
        blocks.map(|(block, ranges)| ranges.map(largest).max().unwrap_or(0) * block.most as i32).sum()
    };
    let fits = |what: std::fmt::Arguments<'_>, sum: i32| match i16::try_from(sum) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::internal(format!("{what} may reach {sum}, beyond 16 bits"))),
    };
    let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
    for neuron in 0..hidden {
        let bias = i32::from(weights.bias[neuron]).abs();
        fits(format_args!("neuron {neuron}"), bias + sums(&weights.features, hidden, neuron))?;
    }
    for bucket in 0..if architecture.psqt { buckets } else { 0 } {
        fits(format_args!("piece-square values"), sums(&weights.psqt, buckets, bucket))?;
    }
    Ok(())
}

/// Row and column of every cell of a table, row by row.
pub(crate) fn pairs(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
}

fn rounded(values: impl Iterator<Item = f32>, scale: i32) -> Result<Vec<i16>> {
    let round = |value: f32| {
        let scaled = (f64::from(value) * f64::from(scale)).round();
        if scaled.abs() <= f64::from(i16::MAX) {
            return Ok(scaled as i16);
        }
        Err(Error::internal(format!("weight {value} times {scale} does not fit 16 bits")))
    };
    values.map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param_layout::LIMIT;
    use crate::tests::{places, plain, shapes};
    use patzer_eval::nnue::Activation;

    #[test]
    fn quantising_rounds_to_the_nearest() {
        let mut model = Model::zero(&plain(3), false);
        model.parameters[1] = 1.0 / 255.0 * 2.4;
        let at = model.layout.feature_at(1, 2);
        model.parameters[at] = -1.98;
        let last = model.parameters.len() - 1;
        model.parameters[last] = 0.5;
        let weights = model.quantise(About::default()).unwrap().weights();
        assert_eq!(weights.features[1], 2);
        assert_eq!(weights.features[3 + 2], -505);
        assert_eq!(weights.dense[0][0].bias[0], 8160);
        assert_eq!(weights.features.iter().filter(|w| **w != 0).count(), 2);
    }

    #[test]
    fn a_start_without_noise_is_the_material_network() {
        use patzer_chess::fen;
        use patzer_eval::{Evaluator, nnue::Nnue};

        let start = Model::start(&plain(16), false, 5, 0.0).quantise(About::default()).unwrap();
        let mut start = Nnue::new(start.into());
        let mut material = Nnue::new(material::network(16).unwrap().into());
        for text in [
            "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/8/PPPP1PPP/RNBQK2R w KQkq - 0 1",
            "8/8/1k6/8/3q4/8/1P6/KR6 b - - 0 1",
        ] {
            let position = fen::position(text, false).unwrap();
            assert_eq!(start.evaluate(&position, 0), material.evaluate(&position, 0), "{text}");
        }
    }

    #[test]
    fn training_starts_from_material() {
        use patzer_chess::fen;
        use patzer_eval::{Evaluator, nnue::KingBuckets, nnue::Nnue};

        let five = || KingBuckets::parse("five").unwrap();
        for (architecture, factoriser) in [
            (plain(32), false),
            (Architecture { activation: Activation::Crelu, mirror: true, ..plain(32) }, false),
            (Architecture { activation: Activation::Pairwise, output_buckets: 8, ..plain(64) }, false),
            (Architecture { king_buckets: five(), ..plain(32) }, true),
            (Architecture { king_buckets: five(), psqt: true, layers: vec![8], ..plain(32) }, true),
        ] {
            let network = Model::start(&architecture, factoriser, 7, 1.0).quantise(About::default()).unwrap();
            let mut nnue = Nnue::new(network.into());
            for (text, expected) in [
                ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 900),
                ("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", -500),
            ] {
                let score = nnue.evaluate(&fen::position(text, false).unwrap(), 0);
                assert!((score - expected).abs() < 150, "{architecture} {text}: {score}");
            }
        }
        let few = plain(8);
        assert_eq!(Model::start(&few, false, 1, 1.0), Model::random(&few, false, 1), "too few to count with");
    }

    #[test]
    fn weights_in_floats_give_the_same_network_again() {
        for architecture in shapes() {
            let network = Model::start(&architecture, false, 3, 1.0).quantise(About::default()).unwrap();
            for factoriser in [false, true] {
                let again = Model::of(&network, factoriser).quantise(About::default()).unwrap();
                let differs = again.body().iter().zip(network.body()).position(|(a, b)| *a != b);
                assert_eq!(differs, None, "{architecture}, factoriser {factoriser}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for value in [129.0, f32::NAN, f32::INFINITY, 4.2] {
            let mut model = Model::zero(&plain(2), false);
            model.parameters[1] = value;
            assert!(model.quantise(About::default()).is_err(), "{value}");
        }
    }

    #[test]
    fn the_limits_always_fit_and_every_parameter_has_one_place() {
        for architecture in shapes() {
            let layout = ParamLayout::new(&architecture, true);
            let mut places = places(&layout);
            let count = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), count, "{architecture}");
            assert!(places.last().is_some_and(|last| *last < layout.len));
            for factoriser in [false, true] {
                let mut model = Model::zero(&architecture, factoriser);
                model.parameters = model.layout.limits().into_iter().map(|limit| -limit).collect();
                model.quantise(About::default()).unwrap();
            }
        }
        assert!(ParamLayout::new(&plain(8), false).limits().iter().all(|limit| *limit == LIMIT));
    }

    #[test]
    fn a_seed_gives_one_model() {
        let model = |seed| Model::random(&plain(8), false, seed);
        assert_eq!(model(1), model(1));
        assert_ne!(model(1), model(2));
    }
}
