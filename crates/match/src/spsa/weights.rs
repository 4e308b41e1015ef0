//! Weights of an evaluation as parameters: terms of the hand-crafted evaluation, or the output layers of a network.
//!
//! Names are `term.part.index.mg` and `term.part.index.eg`, with a square as the index of a board and no index of a
//! single pair, or `output.bucket.layer.weight.index` and `output.bucket.layer.bias.index`.

use std::collections::HashMap;
use std::sync::Arc;

use regex::Regex;
use shakmaty::Square;

use super::Param;
use crate::message_error::message_error;
use patzer_eval::Evaluation;
use patzer_eval::hce::{self, LARGEST, Shape};
use patzer_eval::nnue::Network;

message_error!(WeightError);

/// Tells the name of a weight from the name of an option.
pub fn is_weight(name: &str) -> bool {
    name.contains('.')
}

/// Names and values of all weights that can be tuned.
fn all(evaluation: &Evaluation) -> Vec<(String, i32)> {
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
    }
}

/// Parameters of the weights whose names, or the beginnings of whose names up to a dot, match a pattern with `*`.
/// Several patterns have commas between them.
pub fn params(evaluation: &Evaluation, patterns: &str) -> Result<Vec<Param>, WeightError> {
    let all = all(evaluation);
    let mut chosen = vec![false; all.len()];
    for pattern in patterns.split(',').map(str::trim) {
        let text = format!(r"^{}(\..*)?$", regex::escape(pattern).replace(r"\*", ".*"));
        let matcher = Regex::new(&text).map_err(|error| WeightError(error.to_string()))?;
        let mut none = true;
        for (chosen, (name, _)) in chosen.iter_mut().zip(&all) {
            if matcher.is_match(name) {
                (*chosen, none) = (true, false);
            }
        }
        if none {
            let examples: Vec<&str> =
                all.iter().step_by(all.len() / 3 + 1).map(|(name, _)| &name[..]).collect();
            return Err(WeightError(format!(
                "no weight matches `{pattern}`; names are such as {}",
                examples.join(", ")
            )));
        }
    }
    let chosen = all.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(chosen.map(|((name, value), _)| param(evaluation, name, *value)).collect())
}

fn param(evaluation: &Evaluation, name: &str, value: i32) -> Param {
    let (size, start) = (f64::from(value.abs()), f64::from(value));
    let (least, most) = match evaluation {
        Evaluation::Hce(_) => (2.0, f64::from(LARGEST)),
        // Weights beyond 127 would leave the fast path of the inference.
        Evaluation::Nnue(_) if name.contains(".weight.") => (2.0, size.max(127.0)),
        Evaluation::Nnue(_) => (16.0, f64::from(i16::MAX)),
    };
    let c_end = (size / 20.0).round().max(least);
    let (min, max) = ((start - 20.0 * c_end).max(-most), (start + 20.0 * c_end).min(most));
    Param { name: name.to_string(), float: false, start, min, max, c_end, r_end: 0.002 }
}

/// The evaluation with other values of these weights.
pub fn with(evaluation: &Evaluation, values: &[(String, String)]) -> Result<Evaluation, WeightError> {
    let known = all(evaluation);
    let places: HashMap<&str, usize> = known.iter().map(|(name, _)| &name[..]).zip(0..).collect();
    let mut numbers: Vec<i32> = known.iter().map(|(_, value)| *value).collect();
    for (name, value) in values {
        let at = places.get(&name[..]);
        let at = at.ok_or_else(|| WeightError(format!("the evaluation has no weight `{name}`")))?;
        numbers[*at] =
            value.parse().map_err(|_| WeightError(format!("{name} is a whole number, not `{value}`")))?;
    }
    Ok(match evaluation {
        Evaluation::Hce(weights) => {
            let pairs: Vec<[i32; 2]> = numbers.as_chunks::<2>().0.to_vec();
            let changed = hce::Weights::from_pairs(weights.k(), &pairs);
            Evaluation::Hce(Arc::new(changed.ok_or_else(|| WeightError("the weights are not sound".into()))?))
        }
        Evaluation::Nnue(network) => {
            let mut weights = network.weights();
            let layers = weights.dense.iter_mut().flatten();
            let places = layers.flat_map(|dense| dense.weights.iter_mut().chain(&mut dense.bias));
            for (place, number) in places.zip(numbers) {
                *place = number.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            }
            let changed = Network::new(network.architecture().clone(), &weights, network.about().clone());
            Evaluation::Nnue(Arc::new(changed.ok_or_else(|| WeightError("the network is not sound".into()))?))
        }
    })
}

/// The file of the evaluation: `.hce.toml` or `.nnue`.
pub fn file(evaluation: &Evaluation) -> (Vec<u8>, &'static str) {
    match evaluation {
        Evaluation::Hce(weights) => (weights.to_toml().into_bytes(), "hce.toml"),
        Evaluation::Nnue(network) => (network.to_bytes(), "nnue"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(evaluation: &Evaluation, name: &str) -> i32 {
        all(evaluation).into_iter().find(|(known, _)| known == name).unwrap().1
    }

    #[test]
    fn weights_are_chosen_by_pattern_and_set_by_name() {
        let hce = Evaluation::default_hce();
        let queen = params(&hce, "material.queen.*").or_else(|_| params(&hce, "material.queen")).unwrap();
        assert_eq!(
            queen.iter().map(|param| &param.name[..]).collect::<Vec<_>>(),
            ["material.queen.mg", "material.queen.eg"]
        );
        let boards = params(&hce, "psqt.knight,material.pawn.mg").unwrap();
        assert_eq!(boards.len(), 129);
        assert!(boards.iter().any(|param| param.name == "psqt.knight.a8.eg"));
        let changed = with(&hce, &[("psqt.knight.a8.eg".into(), "-77".into())]).unwrap();
        assert_eq!(weight(&changed, "psqt.knight.a8.eg"), -77);
        assert_eq!(weight(&changed, "psqt.knight.a8.mg"), weight(&hce, "psqt.knight.a8.mg"));
        let Evaluation::Hce(weights) = &changed else { panic!() };
        assert_eq!(weights.part("psqt", "knight").unwrap()[Square::A8 as usize][1], -77);
        assert!(
            params(&hce, "material.quen")
                .unwrap_err()
                .to_string()
                .contains("`material.quen`; names are such as")
        );
        assert!(with(&hce, &[("tempo".into(), "1".into())]).is_err());
    }

    #[test]
    fn the_output_layer_of_a_network_is_tuned_alone() {
        let network = Evaluation::default();
        let params = params(&network, "output").unwrap();
        let bias = params.iter().find(|param| param.name.contains("bias")).unwrap();
        let changed = with(&network, &[(bias.name.clone(), "123".into())]).unwrap();
        assert_eq!(weight(&changed, &bias.name), 123);
        let (Evaluation::Nnue(before), Evaluation::Nnue(after)) = (&network, &changed) else { panic!() };
        let (before, after) = (before.weights(), after.weights());
        assert!(
            before.features == after.features && before.bias == after.bias && before.dense != after.dense
        );
        for param in params.iter().filter(|param| param.name.contains("weight")) {
            assert!(param.min >= -128.0 || param.start < -127.0, "{param}");
        }
    }
}
