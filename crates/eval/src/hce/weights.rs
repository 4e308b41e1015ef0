//! The weights: a midgame and an endgame value for every entry of the layout.

use super::layout::{COUNT, Term, parts};

/// The largest absolute weight, in centipawns; a file with a larger one is damaged.
pub const LARGEST: i32 = 10_000;

/// Weights of the hand-crafted evaluation, `[midgame, endgame]` in centipawns.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    k: f64,
    pairs: Vec<[i32; 2]>,
    pub(super) missing: Vec<String>,
}

impl Weights {
    /// Classical material (100, 300, 300, 500, 900) alone, with K = 1: the baseline of tuning.
    pub fn untuned() -> Weights {
        let mut pairs = vec![[0, 0]; COUNT];
        if let Some(material) = Term::named("material") {
            for (pair, value) in pairs[material.range()].iter_mut().zip([100, 300, 300, 500, 900]) {
                *pair = [value, value];
            }
        }
        Weights { k: 1.0, pairs, missing: Vec::new() }
    }

    /// Clamps the pairs to ±[`LARGEST`]; `None` unless there are [`COUNT`] of them and K is a positive number.
    pub fn from_pairs(k: f64, pairs: &[[i32; 2]]) -> Option<Weights> {
        let cut = |value: i32| value.clamp(-LARGEST, LARGEST);
        (pairs.len() == COUNT && k.is_finite() && k > 0.0).then(|| {
            let pairs = pairs.iter().map(|pair| pair.map(cut)).collect();
            Weights { k, pairs, missing: Vec::new() }
        })
    }

    /// Terms (`tempo`) and parts (`pawns.islands`) missing from the file, which count as 0.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// K of the sigmoid that the weights are tuned for: expected result = 1 / (1 + exp(−K · centipawns / 400)).
    pub fn k(&self) -> f64 {
        self.k
    }

    pub fn pairs(&self) -> &[[i32; 2]] {
        &self.pairs
    }

    pub fn part(&self, term: &str, part: &str) -> Option<&[[i32; 2]]> {
        let (_, _, range) = parts().find(|(t, p, _)| t.name == term && p.name == part)?;
        Some(&self.pairs[range])
    }
}

impl Default for Weights {
    fn default() -> Weights {
        let text = include_str!("../default.hce.toml");
        Weights::parse(text).expect("the embedded weights are sound")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_weights_parse_and_untuned_ones_are_material_alone() {
        let embedded = Weights::default();
        assert!(embedded.pairs().len() == COUNT && embedded.k() > 0.0);
        let weights = Weights::untuned();
        assert_eq!(weights.part("material", "queen"), Some(&[[900, 900]][..]));
        let sum: i32 = weights.pairs().iter().flatten().sum();
        assert_eq!(sum, 2 * (100 + 300 + 300 + 500 + 900));
        assert_eq!(weights.part("material", "king"), None);
    }

    #[test]
    fn a_list_of_the_wrong_length_is_refused() {
        assert!(Weights::from_pairs(1.0, &[[0, 0]]).is_none());
        assert!(Weights::from_pairs(f64::NAN, &vec![[0, 0]; COUNT]).is_none());
        let cut = Weights::from_pairs(1.0, &vec![[20_000, -20_000]; COUNT]).unwrap();
        assert_eq!(cut.pairs()[0], [LARGEST, -LARGEST]);
    }
}
