//! Declaration of a non-linear part in the terms file (`[[part]]`).

use serde::{Deserialize, Serialize};

use super::term::is_default;

/// A part as the terms file declares it; [`Part`](super::reference::Part) says what it computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartDeclaration {
    pub name: String,
    /// `none`, `linear`, `square`, `scale`, or the term with the table's entries, of the midgame and the endgame.
    #[serde(default = "linear")]
    pub halves: [String; 2],
    #[serde(default = "ones")]
    pub divisors: [f64; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamp: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub malus: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ahead: bool,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub factors: usize,
}

fn linear() -> [String; 2] {
    ["linear", "linear"].map(String::from)
}

fn ones() -> [f64; 2] {
    [1.0; 2]
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(factors: &usize) -> bool {
    *factors == 1
}
