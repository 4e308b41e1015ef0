//! The network in 32-bit floats, as the trainer sees it.
//!
//! In: an architecture and a seed. Out: first weights, and after training the quantised [`Network`].

use super::shape::Shape;
use patzer_chess::rng::Rng;
use patzer_eval::nnue::network::{Dense, QA, QB, Weights};
use patzer_eval::nnue::{About, Activation, Architecture, Network, material};
use patzer_io::error::{Error, Result};

/// Centipawns of pawn to king that piece-square values begin with.
const MATERIAL: [f32; 6] = [100.0, 320.0, 330.0, 500.0, 900.0, 0.0];

/// All parameters of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Where they lie.
    pub shape: Shape,
    /// The parameters.
    pub parameters: Vec<f32>,
}

impl Model {
    /// All zeros.
    pub fn zero(architecture: &Architecture, factoriser: bool) -> Model {
        let shape = Shape::new(architecture, factoriser);
        Model { parameters: vec![0.0; shape.len], shape }
    }

    /// Random weights to start from: normal; biases are 0. With a factoriser only the shared weights are random.
    ///
    /// Feature weights begin ten times smaller than the 1/√(active features) that would give sums of the size of 1.
    /// What a rare feature begins with it largely keeps, as noise: on 300,000 positions of TCEC games with results
    /// alone, 32 neurons, the best validation loss was 0.0777 with half of 1/√32 and 0.0762 with a tenth.
    pub fn random(architecture: &Architecture, factoriser: bool, seed: u64) -> Model {
        let mut model = Model::zero(architecture, factoriser);
        let shape = &model.shape;
        let mut rng = Rng::new(seed);
        let active = architecture.features.blocks().iter().map(|set| set.most.min(64)).sum::<usize>();
        let spread = 0.1 * (1.0 / active as f64).sqrt();
        let limits = shape.limits();
        let mut fill = |at: usize, spread: f64| {
            model.parameters[at] = ((rng.normal() * spread) as f32).clamp(-limits[at], limits[at]);
        };
        let rows = if factoriser { shape.factor_rows } else { shape.rows };
        for row in 0..rows {
            for neuron in 0..architecture.hidden {
                let at =
                    if factoriser { shape.factor_at(row, neuron) } else { shape.feature_at(row, neuron) };
                fill(at, spread);
            }
        }
        for bucket in 0..architecture.output_buckets {
            for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
                for output in 0..outputs {
                    for input in 0..inputs {
                        let at = shape.weight_at(bucket, layer, output, input);
                        fill(at, (1.0 / inputs as f64).sqrt());
                    }
                }
            }
        }
        // Buckets begin alike, as none has seen anything yet.
        for bucket in 1..architecture.output_buckets {
            let (first, from) = (shape.heads, shape.heads + bucket * shape.head);
            model.parameters.copy_within(first..first + shape.head, from);
        }
        model
    }

    /// Random weights, except that the network counts material: by its piece-square values if it has them, or else by
    /// its first neurons as [`material::network`] does, as far as there are enough.
    ///
    /// Few games hold few positions in which a side is a rook up, and none at all for many squares, so a network
    /// that starts from nothing never learns what such positions are worth; a search reaches them all the time.
    pub fn start(architecture: &Architecture, factoriser: bool, seed: u64) -> Model {
        let mut model = Model::random(architecture, factoriser, seed);
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

    /// Brings every parameter within [`Shape::limits`]. Where several blocks share what 16 bits hold, that of a queen's
    /// value is a little less than the whole.
    fn clip(&mut self) {
        for (weight, limit) in self.parameters.iter_mut().zip(self.shape.limits()) {
            *weight = weight.clamp(-limit, limit);
        }
    }

    /// The weights of a network in floats. With a factoriser half of the first bucket's are shared.
    pub fn of(network: &Network, factoriser: bool) -> Model {
        let (architecture, weights) = (network.architecture(), network.weights());
        let mut model = Model::zero(architecture, factoriser);
        let (shape, parameters) = (&model.shape, &mut model.parameters);
        let [qa, qb] = [QA, QB].map(|unit| unit as f32);
        let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
        let values = if architecture.psqt { buckets } else { 0 };
        for row in 0..shape.rows {
            for neuron in 0..hidden {
                let weight = weights.features[row * hidden + neuron];
                parameters[shape.feature_at(row, neuron)] = f32::from(weight) / qa;
            }
            for bucket in 0..values {
                parameters[shape.psqt_at(row, bucket)] = f32::from(weights.psqt[row * buckets + bucket]) / qa;
            }
        }
        // With a factoriser a part may be half as large as the whole, so half of the first bucket's is shared.
        for feature in 0..shape.factor_rows {
            let neurons = (0..hidden).map(|n| (shape.factor_at(feature, n), shape.feature_at(feature, n)));
            let values = (0..values).map(|b| (shape.psqt_factor_at(feature, b), shape.psqt_at(feature, b)));
            for (shared, first) in neurons.chain(values) {
                let half = parameters[first] / 2.0;
                parameters[shared] = half;
                for row in (0..shape.rows).step_by(shape.factor_rows) {
                    parameters[first + row * shape.tile] -= half;
                }
            }
        }
        for neuron in 0..hidden {
            parameters[shape.bias_at(neuron)] = f32::from(weights.bias[neuron]) / qa;
        }
        for (bucket, head) in weights.dense.iter().enumerate() {
            for (layer, (dense, [inputs, outputs])) in head.iter().zip(architecture.dense()).enumerate() {
                for output in 0..outputs {
                    for input in 0..inputs {
                        let weight = f32::from(dense.weights[output * inputs + input]) / qb;
                        parameters[shape.weight_at(bucket, layer, output, input)] = weight;
                    }
                    let bias = f32::from(dense.bias[output]) / (qa * qb);
                    parameters[shape.dense_bias_at(bucket, layer, output)] = bias;
                }
            }
        }
        // Weights of another trainer may be larger than what is safe here.
        model.clip();
        model
    }

    /// Rows, or shared rows if there are any, of the same feature.
    fn copies(&self, feature: usize) -> impl Iterator<Item = usize> + use<> {
        let features = self.shape.architecture.features.count();
        let rows = if self.shape.factor_rows > 0 { features } else { self.shape.rows };
        (feature..rows).step_by(features)
    }

    fn start_values(&mut self) {
        let shape = self.shape.clone();
        for feature in 0..768 {
            let sign = if feature < 384 { 1.0 } else { -1.0 };
            let value = sign * MATERIAL[feature / 64 % 6] / patzer_eval::nnue::network::SCALE as f32;
            // Half of it is shared where something is, as a queen is more than either part may be.
            let is_shared = shape.factor_rows > 0;
            let part = if is_shared { value / 2.0 } else { value };
            for bucket in 0..shape.architecture.output_buckets {
                for row in (feature..shape.rows).step_by(shape.architecture.features.count()) {
                    self.parameters[shape.psqt_at(row, bucket)] = part;
                }
                if is_shared {
                    self.parameters[shape.psqt_factor_at(feature, bucket)] = part;
                }
            }
        }
    }

    /// (1/2 + x)² − (1/2 − x)² = (1/2 + x) − (1/2 − x) = 2x, so the same weights count for every activation; the
    /// second neuron of a pair is 1.
    fn start_neurons(&mut self) {
        let shape = self.shape.clone();
        let architecture = &shape.architecture;
        let hidden = architecture.outputs_per_perspective();
        let Some(network) = material::network(hidden) else { return };
        let weights = network.weights();
        for neuron in 0..material::MIN_HIDDEN {
            for feature in 0..768 {
                for row in self.copies(feature) {
                    let shared = shape.factor_rows > 0;
                    let at =
                        if shared { shape.factor_at(row, neuron) } else { shape.feature_at(row, neuron) };
                    self.parameters[at] += f32::from(weights.features[feature * hidden + neuron]) / QA as f32;
                }
            }
            self.parameters[shape.bias_at(neuron)] = f32::from(weights.bias[neuron]) / QA as f32;
            if architecture.activation == Activation::Pairwise {
                self.parameters[shape.bias_at(hidden + neuron)] = 1.0;
            }
            for bucket in 0..architecture.output_buckets {
                for view in 0..architecture.views {
                    let input = view * hidden + neuron;
                    let weight = f32::from(weights.dense[0][0].weights[input]) / QB as f32;
                    self.parameters[shape.weight_at(bucket, 0, 0, input)] = weight;
                }
            }
        }
    }

    /// Writes the feature table with the shared weights added, if there are any.
    pub fn whole_table(&self, table: &mut Vec<f32>) {
        use rayon::prelude::*;

        let shape = &self.shape;
        if shape.factor_rows == 0 {
            return;
        }
        table.resize(shape.bias, 0.0);
        let size = shape.factor_rows * shape.tile;
        table.par_chunks_mut(size).enumerate().for_each(|(i, part)| {
            let own = &self.parameters[i * size..(i + 1) * size];
            let tile = i * size / (shape.rows * shape.tile);
            let shared = &self.parameters[shape.factor + tile * size..shape.factor + (tile + 1) * size];
            for ((sum, own), shared) in part.iter_mut().zip(own).zip(shared) {
                *sum = own + shared;
            }
        });
    }

    /// The weight of a row of features for a neuron, with what is shared.
    pub fn feature(&self, row: usize, neuron: usize) -> f32 {
        let shape = &self.shape;
        let own = self.parameters[shape.feature_at(row, neuron)];
        match shape.factor_rows {
            0 => own,
            rows => own + self.parameters[shape.factor_at(row % rows, neuron)],
        }
    }

    /// The piece-square value of a row for an output bucket, with what is shared.
    pub fn value(&self, row: usize, bucket: usize) -> f32 {
        let shape = &self.shape;
        let own = self.parameters[shape.psqt_at(row, bucket)];
        match shape.factor_rows {
            0 => own,
            rows => own + self.parameters[shape.psqt_factor_at(row % rows, bucket)],
        }
    }

    /// The network in whole numbers.
    ///
    /// # Errors
    /// If a weight does not fit 16 bits, or the features that can hold at once may sum to more. After training that
    /// cannot be, because weights stay within [`Shape::limits`].
    pub fn quantise(&self, about: About) -> Result<Network> {
        let (shape, architecture) = (&self.shape, &self.shape.architecture);
        let numbers = |values: &mut dyn Iterator<Item = f32>, scale: i32| -> Result<Vec<i16>> {
            values.map(|value| rounded(value, scale)).collect()
        };
        let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
        let rows = || (0..shape.rows).flat_map(move |row| (0..hidden).map(move |neuron| (row, neuron)));
        let at = |at: usize| self.parameters[at];
        let mut dense = Vec::new();
        for bucket in 0..buckets {
            let mut layers = Vec::new();
            for (layer, [inputs, outputs]) in architecture.dense().into_iter().enumerate() {
                let places = (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input)));
                let mut weights =
                    places.map(|(output, input)| at(shape.weight_at(bucket, layer, output, input)));
                let mut bias = (0..outputs).map(|output| at(shape.dense_bias_at(bucket, layer, output)));
                layers
                    .push(Dense { weights: numbers(&mut weights, QB)?, bias: numbers(&mut bias, QA * QB)? });
            }
            dense.push(layers);
        }
        let values = || (0..shape.rows).flat_map(move |row| (0..buckets).map(move |bucket| (row, bucket)));
        let mut psqt = values().map(|(row, bucket)| self.value(row, bucket));
        let weights = Weights {
            features: numbers(&mut rows().map(|(row, neuron)| self.feature(row, neuron)), QA)?,
            bias: numbers(&mut (0..hidden).map(|neuron| at(shape.bias_at(neuron))), QA)?,
            psqt: if architecture.psqt { numbers(&mut psqt, QA)? } else { Vec::new() },
            dense,
        };
        check_sums(architecture, &weights)?;
        Network::new(architecture.clone(), &weights, about)
            .ok_or_else(|| Error::internal(format!("no network {architecture} is possible")))
    }
}

/// Whether the features that can hold at once never sum to more than 16 bits hold.
fn check_sums(architecture: &Architecture, weights: &Weights) -> Result<()> {
    let features = architecture.features.count();
    let sums = |table: &[i16], columns: usize, column: usize| -> i32 {
        let bucket = |bucket: usize| -> i32 {
            let mut from = bucket * features;
            let block = |set: &&'static patzer_eval::nnue::features::FeatureBlock| {
                let rows = from..from + set.count;
                from = rows.end;
                let largest =
                    rows.map(|row| i32::from(table[row * columns + column]).abs()).max().unwrap_or(0);
                largest * set.most as i32
            };
            architecture.features.blocks().iter().map(block).sum()
        };
        (0..architecture.king_bucket_count()).map(bucket).max().unwrap_or(0)
    };
    for neuron in 0..architecture.hidden {
        let sum =
            i32::from(weights.bias[neuron]).abs() + sums(&weights.features, architecture.hidden, neuron);
        if sum > i32::from(i16::MAX) {
            return Err(Error::internal(format!("neuron {neuron} may reach {sum}, beyond 16 bits")));
        }
    }
    if architecture.psqt {
        for bucket in 0..architecture.output_buckets {
            let sum = sums(&weights.psqt, architecture.output_buckets, bucket);
            if sum > i32::from(i16::MAX) {
                return Err(Error::internal(format!("piece-square values may reach {sum}, beyond 16 bits")));
            }
        }
    }
    Ok(())
}

fn rounded(value: f32, scale: i32) -> Result<i16> {
    let scaled = (f64::from(value) * f64::from(scale)).round();
    if scaled.abs() <= f64::from(i16::MAX) {
        return Ok(scaled as i16);
    }
    Err(Error::internal(format!("weight {value} times {scale} does not fit 16 bits")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::LIMIT;

    fn plain(hidden: usize) -> Architecture {
        Architecture::plain(hidden)
    }

    #[test]
    fn quantising_rounds_to_the_nearest() {
        let mut model = Model::zero(&plain(3), false);
        model.parameters[1] = 1.0 / 255.0 * 2.4;
        let at = model.shape.feature_at(1, 2);
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
            let network = Model::start(&architecture, factoriser, 7).quantise(About::default()).unwrap();
            let mut nnue = Nnue::new(network.into());
            for (text, expected) in [
                ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 900),
                ("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", -500),
            ] {
                let score = nnue.evaluate(&fen::position(text, false).unwrap(), 0);
                assert!((score - expected).abs() < 150, "{architecture} {text}: {score}");
            }
        }
        assert_eq!(
            Model::start(&plain(8), false, 1),
            Model::random(&plain(8), false, 1),
            "too few to count with"
        );
    }

    #[test]
    fn weights_in_floats_give_the_same_network_again() {
        for architecture in crate::tests::shapes() {
            let network = Model::start(&architecture, false, 3).quantise(About::default()).unwrap();
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
    fn the_limits_always_fit() {
        for architecture in crate::tests::shapes() {
            for factoriser in [false, true] {
                let mut model = Model::zero(&architecture, factoriser);
                model.parameters = model.shape.limits().into_iter().map(|limit| -limit).collect();
                model.quantise(About::default()).unwrap();
            }
        }
        assert!(Shape::new(&plain(8), false).limits().iter().all(|limit| *limit == LIMIT));
    }

    #[test]
    fn a_seed_gives_one_model() {
        let model = |seed| Model::random(&plain(8), false, seed);
        assert_eq!(model(1), model(1));
        assert_ne!(model(1), model(2));
    }

    #[test]
    fn every_parameter_has_one_place() {
        for architecture in crate::tests::shapes() {
            let shape = Shape::new(&architecture, true);
            let mut places = crate::tests::places(&shape);
            let count = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), count, "{architecture}");
            assert!(places.last().is_some_and(|last| *last < shape.len));
        }
    }
}
