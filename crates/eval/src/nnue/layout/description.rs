//! Description of a raw file: its tensors in order, each with number type, unit and order of its axes.

use serde::{Deserialize, Serialize};

use super::axis::{Axis, BlockOrder, Coordinate, FirstColour, FirstSquare, RoleOrder};

/// One tensor of a file, a row `[[tensor]]` of a layout file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorLayout {
    pub name: TensorName,
    /// The layer of `weights` or `biases`, from 1 for the first after the hidden layer. Without it the row describes
    /// every layer: neighbouring rows without it are repeated together, layer by layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<usize>,
    #[serde(default, rename = "type")]
    pub number: Number,
    /// The integer of a weight of 1; by default QA, QB or QA·QB, and 1 for floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Axes from the slowest to the fastest; by default the order of a `.nnue` file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Axis>,
    /// The square of index 0 on the axis `square`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub squares: FirstSquare,
    /// The colour of index 0 on the axis `colour`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub colours: FirstColour,
    /// Pieces by the axis `role`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub roles: RoleOrder,
    /// Order of the neurons, where the file has them as vector instructions want them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neurons: Option<BlockOrder>,
    /// Order of the inputs of `weights`, where the values before are in another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<BlockOrder>,
    /// Alignment of the next tensor, in bytes after the header.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub align: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorName {
    /// Weights of the hidden layer, for each row of the feature table
    Features,
    /// Bias of the hidden layer
    Bias,
    /// Piece-square values, for each row and output bucket
    Psqt,
    /// Weights of a later layer
    Weights,
    /// Biases of a later layer
    Biases,
    /// K of a WDL head
    WdlK,
}

/// Number type of a tensor, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Number {
    I8,
    #[default]
    I16,
    I32,
    /// Floats without quantisation: an activation of 1 is 1.
    F32,
}

impl Number {
    pub fn bytes(self) -> usize {
        match self {
            Number::I8 => 1,
            Number::I16 => 2,
            Number::I32 | Number::F32 => 4,
        }
    }

    /// Limits of an integer; `None` for floats.
    pub(super) fn range(self) -> Option<std::ops::RangeInclusive<f64>> {
        match self {
            Number::I8 => Some(i8::MIN.into()..=i8::MAX.into()),
            Number::I16 => Some(i16::MIN.into()..=i16::MAX.into()),
            Number::I32 => Some(i32::MIN.into()..=i32::MAX.into()),
            Number::F32 => None,
        }
    }

    /// Distance to a whole number that is no rounding: floats of whole units have 24 bits.
    pub(super) fn exactness(self) -> f64 {
        if self == Number::F32 { 0.005 } else { 0.0 }
    }

    pub(in crate::nnue) fn read(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Number::I8, &[a]) => f64::from(a as i8),
            (Number::I16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (Number::I32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (Number::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            _ => f64::NAN,
        }
    }

    /// Appends a value, which is a whole number within the limits of an integer.
    pub(super) fn write(self, value: f64, bytes: &mut Vec<u8>) {
        match self {
            Number::F32 => bytes.extend((value as f32).to_le_bytes()),
            _ => bytes.extend(&(value as i32).to_le_bytes()[..self.bytes()]),
        }
    }
}

/// A product of `qa`, `qb` and numbers, such as `qa*qb` or `qa*qa*qb/512`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Unit(String);

impl Unit {
    pub(super) fn value(&self, qa: f64, qb: f64) -> f64 {
        product(&self.0, qa, qb).unwrap_or(f64::NAN)
    }
}

fn product(text: &str, qa: f64, qb: f64) -> Option<f64> {
    let mut value = 1.0;
    for factors in text.split('*') {
        for (at, factor) in factors.split('/').enumerate() {
            let number = match factor.trim() {
                "qa" => qa,
                "qb" => qb,
                number => number.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)?,
            };
            value = if at == 0 { value * number } else { value / number };
        }
    }
    Some(value)
}

impl TryFrom<String> for Unit {
    type Error = String;

    fn try_from(text: String) -> Result<Unit, String> {
        match product(&text, 1.0, 1.0) {
            Some(_) => Ok(Unit(text)),
            None => {
                Err(format!("unit \"{text}\": a product of qa, qb and numbers above 0, such as qa*qb/512"))
            }
        }
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> String {
        unit.0
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> usize {
    1
}

fn is_one(value: &usize) -> bool {
    *value == 1
}

impl TensorLayout {
    /// A tensor of 16-bit integers in the order of a `.nnue` file.
    pub fn new(name: TensorName) -> TensorLayout {
        TensorLayout {
            name,
            layer: None,
            number: Number::I16,
            unit: None,
            order: Vec::new(),
            squares: FirstSquare::A1,
            colours: FirstColour::Own,
            roles: RoleOrder::default(),
            neurons: None,
            inputs: None,
            align: 1,
        }
    }

    pub(super) fn is_of_layers(&self) -> bool {
        matches!(self.name, TensorName::Weights | TensorName::Biases)
    }

    /// Tests for all layers of an output bucket together, as a `.nnue` file has them.
    pub(super) fn has_all_layers(&self) -> bool {
        self.order.iter().any(|axis| axis.coordinate == Coordinate::Layer)
    }

    /// The order of the axes, named or by default.
    pub(super) fn axes(&self) -> Vec<Axis> {
        use Coordinate::{Input, Neuron, Output, OutputBucket, Row};
        let usual: &[Coordinate] = match self.name {
            TensorName::Features => &[Row, Neuron],
            TensorName::Bias => &[Neuron],
            TensorName::Psqt => &[Row, OutputBucket],
            TensorName::Weights => &[OutputBucket, Output, Input],
            TensorName::Biases => &[OutputBucket, Output],
            TensorName::WdlK => &[],
        };
        match self.order.is_empty() {
            true => usual.iter().map(|coordinate| Axis::from(*coordinate)).collect(),
            false => self.order.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_products() {
        let unit = |text: &str| Unit::try_from(text.to_string());
        assert_eq!(unit("qa*qb").unwrap().value(255.0, 64.0), 16_320.0);
        assert_eq!(unit("qa * qa*qb/512").unwrap().value(256.0, 64.0), 8192.0);
        assert_eq!(unit("1").unwrap().value(3.0, 5.0), 1.0);
        for wrong in ["", "qc", "qa*", "0", "qa/-1", "nan", "inf"] {
            assert!(unit(wrong).unwrap_err().contains("such as qa*qb/512"), "{wrong}");
        }
    }
}
