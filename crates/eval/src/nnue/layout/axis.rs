//! Axes of a tensor: their coordinates, blocks, and the orders along them.

use serde::{Deserialize, Serialize};
use shakmaty::Role;

/// An axis of a tensor, or one of the two that it makes in blocks: `input/4` numbers the blocks of four inputs,
/// `input%4` the inputs of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Axis {
    pub coordinate: Coordinate,
    pub split: Split,
}

/// Coordinate of a number of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinate {
    /// A row of the feature table: king bucket × features + feature
    Row,
    KingBucket,
    /// A feature of a king bucket
    Feature,
    Colour,
    Role,
    Square,
    Neuron,
    OutputBucket,
    /// All layers of an output bucket after one another
    Layer,
    Output,
    Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    Whole,
    Blocks(usize),
    Within(usize),
}

const COORDINATES: [(&str, Coordinate); 11] = [
    ("row", Coordinate::Row),
    ("king_bucket", Coordinate::KingBucket),
    ("feature", Coordinate::Feature),
    ("colour", Coordinate::Colour),
    ("role", Coordinate::Role),
    ("square", Coordinate::Square),
    ("neuron", Coordinate::Neuron),
    ("output_bucket", Coordinate::OutputBucket),
    ("layer", Coordinate::Layer),
    ("output", Coordinate::Output),
    ("input", Coordinate::Input),
];

impl From<Coordinate> for Axis {
    fn from(coordinate: Coordinate) -> Axis {
        Axis { coordinate, split: Split::Whole }
    }
}

impl TryFrom<String> for Axis {
    type Error = String;

    fn try_from(text: String) -> Result<Axis, String> {
        let at = text.find(['/', '%']).unwrap_or(text.len());
        let (name, size) = text.split_at(at);
        let coordinate = COORDINATES.iter().find(|(known, _)| *known == name);
        let number = size.get(1..).map(|size| size.parse().ok().filter(|size| *size > 0));
        let split = match (size.as_bytes().first(), number.flatten()) {
            (None, _) => Some(Split::Whole),
            (Some(b'/'), Some(size)) => Some(Split::Blocks(size)),
            (Some(_), Some(size)) => Some(Split::Within(size)),
            _ => None,
        };
        let axis =
            coordinate.zip(split).map(|((_, coordinate), split)| Axis { coordinate: *coordinate, split });
        axis.ok_or_else(|| {
            let names: Vec<&str> = COORDINATES.iter().map(|(name, _)| *name).collect();
            format!("axis \"{text}\": one of {}, or in blocks, such as input/4 and input%4", names.join(", "))
        })
    }
}

impl From<Axis> for String {
    fn from(axis: Axis) -> String {
        let name = axis.coordinate.name();
        match axis.split {
            Split::Whole => name.to_string(),
            Split::Blocks(size) => format!("{name}/{size}"),
            Split::Within(size) => format!("{name}%{size}"),
        }
    }
}

impl Coordinate {
    pub(super) fn name(self) -> &'static str {
        COORDINATES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstSquare {
    #[default]
    A1,
    A8,
    H1,
    H8,
}

impl FirstSquare {
    /// The xor mask from an index of the file to a square.
    pub(in crate::nnue) fn mask(self) -> usize {
        match self {
            FirstSquare::A1 => 0,
            FirstSquare::A8 => 56,
            FirstSquare::H1 => 7,
            FirstSquare::H8 => 63,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FirstColour {
    #[default]
    Own,
    Other,
}

/// The six letters of the pieces, such as `PNBRQK`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoleOrder(String);

impl Default for RoleOrder {
    fn default() -> RoleOrder {
        RoleOrder("PNBRQK".into())
    }
}

impl RoleOrder {
    /// The role, from 0 for pawns, at each index.
    pub(super) fn roles(&self) -> Vec<usize> {
        let letter = |role: Role| role.upper_char();
        let role = |wanted| Role::ALL.iter().position(|role| letter(*role) == wanted);
        self.0.chars().filter_map(role).collect()
    }
}

impl TryFrom<String> for RoleOrder {
    type Error = String;

    fn try_from(text: String) -> Result<RoleOrder, String> {
        let order = RoleOrder(text);
        let mut roles = order.roles();
        roles.sort_unstable();
        let whole = order.0.len() == 6 && roles.into_iter().eq(0..6);
        if whole { Ok(order) } else { Err(format!("roles \"{}\": each of PNBRQK once", order.0)) }
    }
}

impl From<RoleOrder> for String {
    fn from(order: RoleOrder) -> String {
        order.0
    }
}

/// Blocks of neurons or inputs in another order, repeated along their axis: the block at each place of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockOrder {
    /// Numbers of a block.
    pub block: usize,
    pub order: Vec<usize>,
}

impl BlockOrder {
    /// The number at each place; `None` if the order is no permutation or does not divide the axis.
    pub(super) fn numbers(&self, count: usize) -> Option<Vec<usize>> {
        let BlockOrder { block, order } = self;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let period = block.checked_mul(order.len()).filter(|period| *period > 0)?;
        let whole = sorted.into_iter().eq(0..order.len()) && count.is_multiple_of(period);
        let neuron =
            |place: usize| place / period * period + order[place % period / block] * block + place % block;
        whole.then(|| (0..count).map(neuron).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_read_and_written() {
        for text in ["row", "king_bucket", "input/4", "input%4", "neuron/16"] {
            assert_eq!(String::from(Axis::try_from(text.to_string()).unwrap()), text);
        }
        for wrong in ["", "rows", "input/", "input/0", "input%x", "/4"] {
            assert!(
                Axis::try_from(wrong.to_string()).unwrap_err().contains("one of row, king_bucket"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn orders_of_roles_and_neurons_are_permutations() {
        let roles = |text: &str| RoleOrder::try_from(text.to_string()).map(|order| order.roles());
        assert_eq!(roles("KQRBNP").unwrap(), [5, 4, 3, 2, 1, 0]);
        assert!(["PNBRQ", "PPNBRQ", "pnbrqk", "PNBRQKK"].into_iter().all(|text| roles(text).is_err()));
        let neurons = |block, order: &[usize]| BlockOrder { block, order: order.to_vec() }.numbers(8);
        assert_eq!(neurons(2, &[1, 0]).unwrap(), [2, 3, 0, 1, 6, 7, 4, 5]);
        assert!(
            [neurons(3, &[0]), neurons(2, &[0, 0]), neurons(0, &[0]), neurons(1, &[])]
                .iter()
                .all(Option::is_none)
        );
    }
}
