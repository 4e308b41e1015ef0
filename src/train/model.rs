//! The network in 32-bit floats, as the trainer sees it.
//!
//! In: a seed. Out: first weights, and after training the quantised [`Network`]. All parameters lie in one
//! vector, feature rows first, so that the optimiser and the gradients need no shape. Rows are padded to
//! [`LANES`] neurons; a padding neuron begins with zeros, gets no gradient and is cut off again.

use crate::error::{Error, Result};
use crate::eval::nnue::features::all::{COUNT, MAX_ACTIVE};
use crate::eval::nnue::network::{QA, QB, Weights};
use crate::eval::nnue::{About, Network};
use crate::rng::Rng;

/// Floats that the inner loops handle at once; rows are a multiple of it.
pub const LANES: usize = 16;

/// No weight or bias may leave ±1.98: then an output weight is at most 127/64, the output bias fits 16 bits in
/// units of 1/(QA·QB), and 32 feature weights and a bias sum to less than 2^15/QA (the limit that the trainer
/// bullet uses).
pub const LIMIT: f32 = 1.98;

/// All parameters of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    hidden: usize,
    width: usize,
    /// Feature rows, bias, output weights (side to move, then the other), output bias.
    pub parameters: Vec<f32>,
}

impl Model {
    /// All zeros.
    pub fn zero(hidden: usize) -> Model {
        let width = hidden.next_multiple_of(LANES);
        Model { hidden, width, parameters: vec![0.0; (COUNT + 3) * width + 1] }
    }

    /// Random weights to start from: normal, with a spread that suits about 32 active features; biases are 0.
    pub fn random(hidden: usize, seed: u64) -> Model {
        let mut model = Model::zero(hidden);
        let mut rng = Rng::new(seed);
        let (width, output) = (model.width, model.output_start());
        let (feature_spread, output_spread) =
            ((1.0 / MAX_ACTIVE as f64).sqrt() * 0.5, (1.0 / (2 * hidden) as f64).sqrt());
        for row in model.parameters[..COUNT * width].chunks_exact_mut(width) {
            row[..hidden].fill_with(|| limited(rng.normal() * feature_spread));
        }
        for row in model.parameters[output..output + 2 * width].chunks_exact_mut(width) {
            row[..hidden].fill_with(|| limited(rng.normal() * output_spread));
        }
        model
    }

    /// Floats in a row: `hidden`, padded.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The table of feature rows.
    #[inline]
    pub fn features(&self) -> &[f32] {
        &self.parameters[..COUNT * self.width]
    }

    /// The bias of the hidden layer.
    #[inline]
    pub fn bias(&self) -> &[f32] {
        &self.parameters[COUNT * self.width..self.output_start()]
    }

    /// Output weights, side to move first.
    #[inline]
    pub fn output(&self) -> &[f32] {
        &self.parameters[self.output_start()..self.parameters.len() - 1]
    }

    /// The output bias.
    #[inline]
    pub fn output_bias(&self) -> f32 {
        self.parameters[self.parameters.len() - 1]
    }

    fn output_start(&self) -> usize {
        (COUNT + 1) * self.width
    }

    /// The network in whole numbers.
    ///
    /// # Errors
    /// If a weight, or the sum of any 32 features of a neuron, does not fit 16 bits. After training that cannot
    /// be, because weights stay within [`LIMIT`].
    pub fn quantise(&self, about: About) -> Result<Network> {
        let rows = |values: &[f32], scale: i32| -> Result<Vec<i16>> {
            values
                .chunks_exact(self.width)
                .flat_map(|row| &row[..self.hidden])
                .map(|&value| rounded(value, scale))
                .collect()
        };
        let weights = Weights {
            features: rows(self.features(), QA)?,
            bias: rows(self.bias(), QA)?,
            output: rows(self.output(), QB)?,
            output_bias: rounded(self.output_bias(), QA * QB)?,
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

fn limited(value: f64) -> f32 {
    (value as f32).clamp(-LIMIT, LIMIT)
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
        model.parameters[LANES + 2] = -1.98;
        let last = model.parameters.len() - 1;
        model.parameters[last] = 0.5;
        let weights = model.quantise(About::default()).unwrap().weights();
        assert_eq!(weights.features[1], 2);
        assert_eq!(weights.features[3 + 2], -505);
        assert_eq!(weights.output_bias, 8160);
        assert_eq!(weights.features.iter().filter(|w| **w != 0).count(), 2);
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
