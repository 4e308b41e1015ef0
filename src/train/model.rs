//! The network in 32-bit floats, as the trainer sees it.
//!
//! In: a seed. Out: first weights, and after training the quantised [`Network`]. All parameters lie in one
//! vector, so that the optimiser and the gradients need no shape. They lie in tiles: a tile is up to 64 neurons
//! with their weights of every feature, one after another, so that the inner loops walk through contiguous
//! memory that fits a core's cache. (Whole rows of 1 KiB would share a quarter of the cache's sets.) Neurons are
//! padded to whole tiles; a padding neuron begins with zeros, gets no gradient and is cut off again.

use crate::error::{Error, Result};
use crate::eval::nnue::features::all::{COUNT, MAX_ACTIVE};
use crate::eval::nnue::network::{QA, QB, Weights};
use crate::eval::nnue::{About, Network, material};
use crate::rng::Rng;

/// Possible widths of a tile, best first.
pub const TILES: [usize; 3] = [64, 32, 16];

/// No weight or bias may leave ±1.98: then an output weight is at most 127/64, the output bias fits 16 bits in
/// units of 1/(QA·QB), and 32 feature weights and a bias sum to less than 2^15/QA (the limit that the trainer
/// bullet uses).
pub const LIMIT: f32 = 1.98;

/// All parameters of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    hidden: usize,
    width: usize,
    tile: usize,
    /// Feature weights `[tile][feature][neuron]`, bias `[neuron]`, output weights `[tile][side][neuron]` with the
    /// side to move first, output bias. Neurons are those of the tile.
    pub parameters: Vec<f32>,
}

impl Model {
    /// All zeros.
    pub fn zero(hidden: usize) -> Model {
        let width = hidden.next_multiple_of(TILES[2]);
        let tile = TILES.into_iter().find(|tile| width.is_multiple_of(*tile)).unwrap_or(width);
        Model { hidden, width, tile, parameters: vec![0.0; (COUNT + 3) * width + 1] }
    }

    /// Random weights to start from: normal; biases are 0.
    ///
    /// Feature weights begin ten times smaller than the 1/√32 that would give sums of the size of 1. What a rare
    /// feature begins with it largely keeps, as noise: on 300,000 positions of TCEC games with results alone, 32
    /// neurons, the best validation loss was 0.0777 with half of 1/√32 and 0.0762 with a tenth.
    pub fn random(hidden: usize, seed: u64) -> Model {
        let mut model = Model::zero(hidden);
        let mut rng = Rng::new(seed);
        let feature_spread = 0.1 * (1.0 / MAX_ACTIVE as f64).sqrt();
        let output_spread = (1.0 / (2 * hidden) as f64).sqrt();
        let mut weight = |spread: f64| ((rng.normal() * spread) as f32).clamp(-LIMIT, LIMIT);
        for feature in 0..COUNT {
            for neuron in 0..hidden {
                let at = model.feature_at(feature, neuron);
                model.parameters[at] = weight(feature_spread);
            }
        }
        for side in 0..2 {
            for neuron in 0..hidden {
                let at = model.output_at(side, neuron);
                model.parameters[at] = weight(output_spread);
            }
        }
        model
    }

    /// Random weights, except that the first neurons count material as [`material::network`] does, as far as
    /// there are enough.
    ///
    /// Few games hold few positions in which a side is a rook up, and none at all for many squares, so a network
    /// that starts from nothing never learns what such positions are worth; a search reaches them all the time.
    pub fn start(hidden: usize, seed: u64) -> Model {
        let mut model = Model::random(hidden, seed);
        let Some(network) = material::network(hidden) else { return model };
        let weights = network.weights();
        for neuron in 0..material::MIN_HIDDEN {
            for feature in 0..COUNT {
                let at = model.feature_at(feature, neuron);
                model.parameters[at] += f32::from(weights.features[feature * hidden + neuron]) / QA as f32;
            }
            let at = model.bias_start() + neuron;
            model.parameters[at] = f32::from(weights.bias[neuron]) / QA as f32;
            for side in 0..2 {
                let at = model.output_at(side, neuron);
                model.parameters[at] = f32::from(weights.output[side * hidden + neuron]) / QB as f32;
            }
        }
        model
    }

    /// Neurons of all tiles.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Neurons of a tile.
    #[inline]
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// Where the bias of the hidden layer begins.
    #[inline]
    pub fn bias_start(&self) -> usize {
        COUNT * self.width
    }

    /// Where the output weights begin.
    #[inline]
    pub fn output_start(&self) -> usize {
        (COUNT + 1) * self.width
    }

    /// The output bias.
    #[inline]
    pub fn output_bias(&self) -> f32 {
        self.parameters[self.parameters.len() - 1]
    }

    /// Where the weight of a feature for a neuron lies.
    pub fn feature_at(&self, feature: usize, neuron: usize) -> usize {
        (neuron / self.tile * COUNT + feature) * self.tile + neuron % self.tile
    }

    /// Where the output weight of a neuron lies; side 0 is the side to move.
    pub fn output_at(&self, side: usize, neuron: usize) -> usize {
        self.output_start() + (neuron / self.tile * 2 + side) * self.tile + neuron % self.tile
    }

    /// The network in whole numbers.
    ///
    /// # Errors
    /// If a weight, or the sum of any 32 features of a neuron, does not fit 16 bits. After training that cannot
    /// be, because weights stay within [`LIMIT`].
    pub fn quantise(&self, about: About) -> Result<Network> {
        let get = |at: usize, scale: i32| rounded(self.parameters[at], scale);
        let table = |rows: usize, at: &dyn Fn(usize, usize) -> usize, scale: i32| -> Result<Vec<i16>> {
            let places = (0..rows).flat_map(|row| (0..self.hidden).map(move |neuron| (row, neuron)));
            places.map(|(row, neuron)| get(at(row, neuron), scale)).collect()
        };
        let weights = Weights {
            features: table(COUNT, &|feature, neuron| self.feature_at(feature, neuron), QA)?,
            bias: table(1, &|_, neuron| self.bias_start() + neuron, QA)?,
            output: table(2, &|side, neuron| self.output_at(side, neuron), QB)?,
            output_bias: get(self.parameters.len() - 1, QA * QB)?,
        };
        self.check_sums(&weights)?;
        Network::new(&weights, about)
            .ok_or_else(|| Error::internal(format!("no network of {} neurons", self.hidden)))
    }

    fn check_sums(&self, weights: &Weights) -> Result<()> {
        for neuron in 0..self.hidden {
            let column = weights.features.iter().skip(neuron).step_by(self.hidden);
            let largest = column.map(|w| i32::from(*w).abs()).max().unwrap_or(0);
            let sum = i32::from(weights.bias[neuron]).abs() + MAX_ACTIVE as i32 * largest;
            if sum > i32::from(i16::MAX) {
                return Err(Error::internal(format!("neuron {neuron} may reach {sum}, beyond 16 bits")));
            }
        }
        Ok(())
    }
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

    #[test]
    fn quantising_rounds_to_the_nearest() {
        let mut model = Model::zero(3);
        model.parameters[1] = 1.0 / 255.0 * 2.4;
        model.parameters[16 + 2] = -1.98;
        let last = model.parameters.len() - 1;
        model.parameters[last] = 0.5;
        let weights = model.quantise(About::default()).unwrap().weights();
        assert_eq!(weights.features[1], 2);
        assert_eq!(weights.features[3 + 2], -505);
        assert_eq!(weights.output_bias, 8160);
        assert_eq!(weights.features.iter().filter(|w| **w != 0).count(), 2);
    }

    #[test]
    fn training_starts_from_material() {
        use crate::chess::fen;
        use crate::eval::{Evaluator, nnue::Nnue};

        let network = Model::start(32, 7).quantise(About::default()).unwrap();
        let mut nnue = Nnue::new(network.into());
        for (text, expected) in [
            ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 900),
            ("4k3/8/8/8/8/8/8/R3K3 b - - 0 1", -500),
        ] {
            let score = nnue.evaluate(&fen::position(text, false).unwrap(), 0);
            assert!((score - expected).abs() < 150, "{text}: {score}");
        }
        assert_eq!(Model::start(8, 1), Model::random(8, 1), "too few neurons to count with");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for value in [129.0, f32::NAN, f32::INFINITY, 4.2] {
            let mut model = Model::zero(2);
            model.parameters[1] = value;
            assert!(model.quantise(About::default()).is_err(), "{value}");
        }
    }

    #[test]
    fn the_limit_always_fits() {
        let mut model = Model::zero(16);
        model.parameters.fill(-LIMIT);
        model.quantise(About::default()).unwrap();
    }

    #[test]
    fn a_seed_gives_one_model() {
        assert_eq!(Model::random(8, 1), Model::random(8, 1));
        assert_ne!(Model::random(8, 1), Model::random(8, 2));
    }
}
