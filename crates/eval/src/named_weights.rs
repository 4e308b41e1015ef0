//! Weights of an evaluation by name: terms of the hand-crafted evaluation, or the output layers of a network.
//!
//! Names are `term.part.index.mg` and `term.part.index.eg`, with a square as the index of a board and no index of a
//! single pair, or `output.bucket.layer.weight.index` and `output.bucket.layer.bias.index`.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use shakmaty::Square;

use super::Evaluation;
use super::hce::{self, Shape};
use super::nnue::Network;

/// Error of setting weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedWeightError(String);

impl fmt::Display for NamedWeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NamedWeightError {}

/// Tests whether an option's name is that of a weight.
pub fn is_weight(name: &str) -> bool {
    name.contains('.')
}

/// Names and values of all weights that can be tuned; none of a network of Stockfish.
pub fn named_weights(evaluation: &Evaluation) -> Vec<(String, i32)> {
    match evaluation {
        Evaluation::Hce(weights) => {
            let names = hce::parts().flat_map(|(term, part, range)| {
                let index = move |at: usize| match part.shape {
                    Shape::Single => String::new(),
                    Shape::Board => format!(".{}", Square::new(at as u32)),
                    Shape::List(_) | Shape::Grid { .. } => format!(".{at}"),
                };
                let names =
                    (0..range.len()).map(move |at| format!("{}.{}{}", term.name, part.name, index(at)));
                names.flat_map(|name| ["mg", "eg"].map(|phase| format!("{name}.{phase}")))
            });
            names.zip(weights.pairs().iter().flatten().copied()).collect()
        }
        Evaluation::Nnue(network) => {
            let mut all = Vec::new();
            for (bucket, layers) in network.weights().dense.iter().enumerate() {
                for (layer, dense) in layers.iter().enumerate() {
                    for (kind, values) in [("weight", &dense.weights), ("bias", &dense.bias)] {
                        let name = |at: usize| format!("output.{bucket}.{layer}.{kind}.{at}");
                        all.extend(values.iter().enumerate().map(|(at, &value)| (name(at), value.into())));
                    }
                }
            }
            all
        }
        Evaluation::Stockfish(_) => Vec::new(),
    }
}

/// The evaluation with other values of these weights. An error for an unknown name or a value out of range.
pub fn with(evaluation: &Evaluation, values: &[(String, String)]) -> Result<Evaluation, NamedWeightError> {
    let known = named_weights(evaluation);
    let places: HashMap<&str, usize> = known.iter().map(|(name, _)| &name[..]).zip(0..).collect();
    let mut numbers: Vec<i32> = known.iter().map(|(_, value)| *value).collect();
    for (name, value) in values {
        let at = places.get(&name[..]);
        let at = at.ok_or_else(|| NamedWeightError(format!("the evaluation has no weight `{name}`")))?;
        numbers[*at] = value
            .parse()
            .map_err(|_| NamedWeightError(format!("{name} is a whole number, not `{value}`")))?;
    }
    Ok(match evaluation {
        Evaluation::Hce(weights) => {
            let pairs: Vec<[i32; 2]> = numbers.as_chunks::<2>().0.to_vec();
            let changed = hce::Weights::from_pairs(weights.k(), &pairs);
            Evaluation::Hce(Arc::new(
                changed.ok_or_else(|| NamedWeightError("the weights are not sound".into()))?,
            ))
        }
        Evaluation::Nnue(network) => {
            let mut weights = network.weights();
            let layers = weights.dense.iter_mut().flatten();
            let places = layers.flat_map(|dense| dense.weights.iter_mut().chain(&mut dense.bias));
            for (place, number) in places.zip(numbers) {
                *place = number.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            }
            let changed = Network::new(network.architecture().clone(), &weights, network.about().clone());
            Evaluation::Nnue(Arc::new(
                changed.ok_or_else(|| NamedWeightError("the network is not sound".into()))?,
            ))
        }
        Evaluation::Stockfish(_) => evaluation.clone(),
    })
}

/// The file of the evaluation: `.hce.toml` or `.nnue`.
pub fn file(evaluation: &Evaluation) -> (Vec<u8>, &'static str) {
    match evaluation {
        Evaluation::Hce(weights) => (weights.to_toml().into_bytes(), "hce.toml"),
        Evaluation::Nnue(network) => (network.to_bytes(), "nnue"),
        Evaluation::Stockfish(network) => (network.to_bytes(), "nnue"),
    }
}
