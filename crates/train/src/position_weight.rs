//! Weights of positions in the loss, by a rule of the recipe: later or emptier positions may count more.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::TrainItem;

/// Variable of a position's weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Plies from the start of its game.
    Ply,
    /// Pieces on the board, 2 to 32.
    Pieces,
}

/// Weights of positions in the loss: the product of one or more rules. In a recipe a table, or a list of tables.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionWeight(pub Vec<WeightRule>);

/// Weights interpolated between points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightRule {
    /// Variable of the weight.
    pub by: Measure,
    /// Points (measure, weight), ascending: linear between them, constant beyond the first and the last.
    pub at: Vec<[f32; 2]>,
}

/// Least and largest weight. Positions that shall not count at all are a filter's business.
const RANGE: [f32; 2] = [0.001, 1000.0];

impl Serialize for PositionWeight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [rule] => rule.serialize(serializer),
            rules => rules.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for PositionWeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PositionWeight, D::Error> {
        struct Rules;
        impl<'de> Visitor<'de> for Rules {
            type Value = PositionWeight;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table, or a list of tables")
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<PositionWeight, M::Error> {
                let rule = WeightRule::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PositionWeight(vec![rule]))
            }

            fn visit_seq<S: SeqAccess<'de>>(self, rules: S) -> Result<PositionWeight, S::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(rules)).map(PositionWeight)
            }
        }
        deserializer.deserialize_any(Rules)
    }
}

impl WeightRule {
    /// The reason why the points cannot be used, if so.
    pub fn fault(&self) -> Option<String> {
        let [least, largest] = RANGE;
        if self.at.is_empty() {
            return Some("needs a point [measure, weight]".to_string());
        }
        if !self.at.is_sorted_by(|a, b| a[0] < b[0]) {
            return Some("its points have to ascend".to_string());
        }
        let bad = self.at.iter().find(|[at, weight]| !at.is_finite() || !(least..=largest).contains(weight));
        bad.map(|[at, weight]| format!("[{at}, {weight}]: a weight has to be from {least} to {largest}"))
    }

    /// Weight of a position.
    pub fn weight(&self, item: &TrainItem) -> f32 {
        let x = match self.by {
            Measure::Ply => f32::from(item.ply),
            Measure::Pieces => item.board.count() as f32,
        };
        let after = self.at.partition_point(|[at, _]| *at <= x);
        match (after.checked_sub(1).map(|before| self.at[before]), self.at.get(after)) {
            (Some([from, low]), Some([to, high])) => low + (high - low) * (x - from) / (to - from),
            (Some([_, weight]), None) => weight,
            (None, first) => first.map_or(1.0, |[_, weight]| *weight),
        }
    }
}

impl PositionWeight {
    /// The reason why a rule cannot be used, if so.
    pub fn fault(&self) -> Option<String> {
        if self.0.is_empty() {
            Some("needs a rule".into())
        } else {
            self.0.iter().find_map(WeightRule::fault)
        }
    }

    /// Weight of a position.
    pub fn weight(&self, item: &TrainItem) -> f32 {
        self.0.iter().map(|rule| rule.weight(item)).product()
    }

    /// Divisor of a sum of losses: the weights of its positions, or without a rule the number of their groups.
    pub fn divisor<'a>(
        rule: Option<&PositionWeight>,
        group: usize,
        items: impl ExactSizeIterator<Item = &'a TrainItem>,
    ) -> f64 {
        match rule {
            None => (items.len() / group) as f64,
            Some(rule) => items.map(|item| f64::from(rule.weight(item))).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(by: Measure, at: &[[f32; 2]]) -> WeightRule {
        WeightRule { by, at: at.to_vec() }
    }

    #[test]
    fn weights_are_linear_between_points_and_constant_beyond() {
        let item = crate::tests::items(1, 4)[0];
        let late = rule(Measure::Ply, &[[10.0, 0.5], [20.0, 1.0], [40.0, 3.0]]);
        for (ply, weight) in [(0, 0.5), (10, 0.5), (15, 0.75), (20, 1.0), (30, 2.0), (40, 3.0), (400, 3.0)] {
            assert_eq!(late.weight(&TrainItem { ply, ..item }), weight, "ply {ply}");
        }
        let pieces = item.board.count() as f32;
        let by_pieces = rule(Measure::Pieces, &[[pieces - 1.0, 2.0], [pieces + 1.0, 4.0]]);
        assert_eq!(by_pieces.weight(&item), 3.0);
        let both = PositionWeight(vec![late, by_pieces]);
        assert_eq!(both.weight(&TrainItem { ply: 15, ..item }), 0.75 * 3.0);
    }

    #[test]
    fn a_recipe_has_one_rule_or_a_list() {
        let (one, two) = ("{ by = \"ply\", at = [[0, 1]] }", "{ by = \"pieces\", at = [[4, 2]] }");
        for (text, rules) in [(one.to_string(), 1), (format!("[{one}, {two}]"), 2)] {
            let settings =
                crate::Settings::parse(&format!("position_weight = {text}"), "r.toml".as_ref()).unwrap();
            assert_eq!(settings.position_weight.as_ref().unwrap().0.len(), rules);
            let written = toml::to_string(&settings).unwrap();
            assert_eq!(toml::from_str::<crate::Settings>(&written).unwrap(), settings);
        }
    }

    #[test]
    fn points_that_cannot_be_used_are_refused() {
        for (at, reason) in [
            (&[][..], "needs a point"),
            (&[[3.0, 1.0], [3.0, 2.0]], "ascend"),
            (&[[3.0, 0.0]], "[3, 0]: a weight has to be from 0.001 to 1000"),
            (&[[f32::NAN, 1.0]], "NaN"),
        ] {
            let fault = rule(Measure::Ply, at).fault().expect("a fault");
            assert!(fault.contains(reason), "{fault}");
        }
        assert_eq!(rule(Measure::Pieces, &[[2.0, 1.0], [32.0, 0.5]]).fault(), None);
    }
}
