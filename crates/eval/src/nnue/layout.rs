//! Raw layouts of other engines and trainers: the numbers of a network without a header, in their order and units.

mod axis;
mod bullet_state;
mod description;
mod extents;
mod named;
mod recognise;
mod start;
mod stored;
#[cfg(test)]
mod tests;

pub use self::axis::{Axis, BlockOrder, Coordinate, FirstColour, FirstSquare, RoleOrder, Split};
pub use self::bullet_state::raw_of_state;
pub use self::description::{Number, TensorLayout, TensorName, Unit};
pub use self::named::{LAYOUTS, NamedLayout};
pub use self::recognise::{foreign_format, layouts_differ, layouts_of_size, piece_values};
pub use self::start::guess;

use serde::{Deserialize, Serialize};

use super::architecture::{Architecture, MAX_HIDDEN};
use super::error::BodyError;
use super::network::{About, Network};
use super::padding::{bullets, is_padding};
use super::plain::Units;
use super::units::{QA, QB, SCALE};
use super::weights::Weights;

/// Bytes after the last number, up to a multiple of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    None,
    #[default]
    Zeros,
    /// The word `bullet`, repeated.
    Bullet,
    /// Read whatever it is, as programs write what happens to be in memory; written as zeros.
    Any,
}

/// Tensors, units and padding of a raw file.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub qa: i32,
    pub qb: i32,
    pub scale: i32,
    pub tensors: Vec<TensorLayout>,
    /// The output bucket at each place of the file; empty for 0, 1, 2, ...
    pub buckets: Vec<usize>,
    pub padding: Padding,
    /// Bytes before the first number.
    pub header: Vec<u8>,
    /// Bytes at the end of the file, after the padding.
    pub trailer: Vec<u8>,
}

impl Default for Layout {
    /// The layout of a .nnue file's body.
    fn default() -> Layout {
        let all_layers = |name, own: &[Coordinate]| {
            let order = [Coordinate::OutputBucket, Coordinate::Layer].iter().chain(own);
            TensorLayout { order: order.map(|axis| Axis::from(*axis)).collect(), ..TensorLayout::new(name) }
        };
        Layout {
            qa: QA,
            qb: QB,
            scale: SCALE,
            tensors: vec![
                TensorLayout::new(TensorName::Features),
                TensorLayout::new(TensorName::Bias),
                TensorLayout::new(TensorName::Psqt),
                all_layers(TensorName::Weights, &[Coordinate::Output, Coordinate::Input]),
                all_layers(TensorName::Biases, &[Coordinate::Output]),
                TensorLayout::new(TensorName::WdlK),
            ],
            buckets: Vec::new(),
            padding: Padding::Zeros,
            header: Vec::new(),
            trailer: Vec::new(),
        }
    }
}

/// A network in another layout, with the cost of changing units.
#[derive(Debug)]
pub struct Converted<T> {
    pub content: T,
    /// Numbers that were rounded because the units differ.
    pub rounded: usize,
}

impl Layout {
    /// Sets the number type of all tensors but the biases, which have at least 16 bits; of `weights` alone where the
    /// others are to keep theirs.
    pub fn set_numbers(&mut self, number: Number, weights_alone: bool) {
        for tensor in &mut self.tensors {
            let is_bias = matches!(tensor.name, TensorName::Bias | TensorName::Biases | TensorName::Psqt);
            tensor.number = match number {
                Number::I8 if is_bias || weights_alone && tensor.name != TensorName::Weights => Number::I16,
                number => number,
            };
        }
    }

    /// Sets the order of feature weights to `[hidden][row]`.
    pub fn set_columns_of_features(&mut self) {
        let order = [Coordinate::Neuron, Coordinate::Row].map(Axis::from).to_vec();
        let features = self.tensors.iter_mut().filter(|tensor| tensor.name == TensorName::Features);
        features.for_each(|tensor| tensor.order.clone_from(&order));
    }

    /// Sets the order of later weights to `[input][output]` with the output buckets' outputs side by side. All layers
    /// of an output bucket together stay so.
    pub fn set_columns_of_outputs(&mut self) {
        for tensor in self.tensors.iter_mut().filter(|tensor| tensor.name == TensorName::Weights) {
            let columns = [Coordinate::Input, Coordinate::OutputBucket, Coordinate::Output].map(Axis::from);
            let layer = tensor.has_all_layers().then_some(Axis::from(Coordinate::Layer));
            tensor.order = layer.into_iter().chain(columns).collect();
        }
    }

    /// Tests for floats alone, which have no quantisation.
    pub fn is_float(&self) -> bool {
        self.tensors.iter().all(|tensor| tensor.number == Number::F32)
    }

    /// QA and QB, or 1 for floats.
    pub fn quantisation(&self) -> [i32; 2] {
        if self.is_float() { [1, 1] } else { [self.qa, self.qb] }
    }

    /// Units in which a network read by [`Layout::unconverted`] is to be evaluated.
    pub fn units(&self) -> Units {
        Units { qa: self.qa.into(), qb: self.qb.into(), scale: self.scale.into() }
    }

    /// The layout in a network's units, so that integers are read as they are.
    pub fn unconverted(&self) -> Layout {
        Layout { qa: QA, qb: QB, scale: SCALE, ..self.clone() }
    }

    /// Size of a file in bytes, without header, padding and trailer.
    pub fn size(&self, shape: &Architecture) -> usize {
        let stored = self.stored(shape);
        self.starts(&stored).last().copied().unwrap_or(0)
    }

    fn padded(&self, size: usize) -> usize {
        if self.padding == Padding::None { size } else { size.next_multiple_of(64) }
    }

    /// The numbers of a file and their padding; `None` if it lacks the header or the trailer.
    pub(super) fn body<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.strip_prefix(&self.header[..])?.strip_suffix(&self.trailer[..])
    }

    /// Tests for a file of an architecture's size, with nothing but padding after its numbers.
    fn fits(&self, shape: &Architecture, bytes: &[u8]) -> bool {
        let (size, Some(body)) = (self.size(shape), self.body(bytes)) else { return false };
        let is_size = body.len() == size || body.len() == size.next_multiple_of(64);
        is_size && (self.padding == Padding::Any || is_padding(&body[size..]))
    }

    /// Tests whether a file ends in bullet's padding after the numbers of an architecture.
    pub fn ends_as_of_bullet(&self, shape: &Architecture, bytes: &[u8]) -> bool {
        let padding = bytes.get(self.size(shape)..).unwrap_or_default();
        !padding.is_empty() && padding.len() < 64 && padding.iter().eq(bullets(padding.len()))
    }

    /// Hidden size of a file of an otherwise known architecture, from its number of bytes and its padding.
    pub fn hidden(&self, shape: &Architecture, bytes: &[u8]) -> Option<usize> {
        let of = |hidden| Architecture { hidden, ..shape.clone() };
        (1..=MAX_HIDDEN).find(|hidden| self.fits(&of(*hidden), bytes))
    }

    fn check(&self, shape: &Architecture) -> Result<(), BodyError> {
        shape.check().map_err(|error| BodyError(error.to_string()))?;
        let mut sorted = self.order(shape.output_buckets);
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..shape.output_buckets) {
            let buckets = shape.output_buckets;
            return Err(BodyError(format!(
                "the order of {buckets} output buckets has to name each of them once"
            )));
        }
        if shape.wdl_head && (Layout { padding: Padding::Zeros, ..self.clone() }) != Layout::default() {
            let reason = "a WDL head (`wdl_head`) has the layout `patzer` in its own units alone";
            return Err(BodyError(reason.into()));
        }
        let together = |tensor: &TensorLayout| tensor.has_all_layers();
        let usual = |tensor: &TensorLayout| {
            tensor.order.first().is_none_or(|axis| axis.coordinate == Coordinate::OutputBucket)
        };
        let unusual = self.tensors.iter().any(|tensor| together(tensor) && !usual(tensor));
        let by_layer = !self.tensors.iter().any(together);
        if !by_layer && shape.dense().len() > 1 && (self.scale != SCALE || unusual) {
            let reason =
                "further layers in another scale or by columns need a layout by layers, such as `bullet`";
            return Err(BodyError(reason.into()));
        }
        self.check_tensors(shape)
    }

    /// Reads a network of a known architecture, with or without padding.
    pub fn read(
        &self,
        shape: &Architecture,
        bytes: &[u8],
        about: About,
    ) -> Result<Converted<Network>, BodyError> {
        let (mut body, mut rounded) = (vec![0i16; shape.parameters()], 0);
        self.each_number(shape, bytes, |stored, i, place, value| {
            let whole = value.round();
            if !(f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&whole) {
                let name = stored.name();
                let reason = format!("{name} {i} is {value:.1} in units of a network: beyond 16 bits");
                return Err(BodyError(reason));
            }
            rounded += usize::from((whole - value).abs() > stored.tensor.number.exactness());
            body[place] = whole as i16;
            Ok(())
        })?;
        let weights = Weights::read(shape, &mut body.into_iter());
        weights.check_values(shape)?;
        let network = Network::new(shape.clone(), &weights, about)
            .ok_or_else(|| BodyError("the lengths of its parts disagree".into()))?;
        Ok(Converted { content: network, rounded })
    }

    /// Reads the numbers of a raw body in a network's units, not rounded.
    pub fn exact(&self, shape: &Architecture, bytes: &[u8]) -> Result<Vec<f32>, BodyError> {
        let mut body = vec![0.0; shape.parameters()];
        self.each_number(shape, bytes, |_, _, place, value| {
            body[place] = value as f32;
            Ok(())
        })?;
        Ok(body)
    }

    /// Writes a network, and counts the numbers that its units round.
    pub fn write(&self, network: &Network) -> Result<Converted<Vec<u8>>, BodyError> {
        let shape = network.architecture();
        self.check(shape)?;
        let body: Vec<i16> = network.weights().numbers().collect();
        let (mut bytes, mut rounded) = (self.header.clone(), 0);
        let stored = self.stored(shape);
        for (tensor, start) in stored.iter().zip(self.starts(&stored)) {
            bytes.resize(self.header.len() + start, 0);
            let factor = self.factor(tensor, shape);
            let (number, range) = (tensor.tensor.number, tensor.tensor.number.range());
            self.places(tensor, shape)?.each(|i, place| {
                let value = f64::from(body[place]) / factor;
                let Some(range) = &range else {
                    number.write(value, &mut bytes);
                    return Ok(());
                };
                let whole = value.round();
                if !range.contains(&whole) {
                    let (name, bits) = (tensor.name(), 8 * number.bytes());
                    let reason =
                        format!("{name} {i} would be {whole}: beyond {bits} bits; take smaller units");
                    return Err(BodyError(reason));
                }
                rounded += usize::from(whole != value);
                number.write(whole, &mut bytes);
                Ok(())
            })?;
        }
        let size = self.size(shape);
        bytes.resize(self.header.len() + size, 0);
        match self.padding {
            Padding::None => {}
            Padding::Zeros | Padding::Any => bytes.resize(self.header.len() + self.padded(size), 0),
            Padding::Bullet => bytes.extend(bullets(self.padded(size) - size)),
        }
        bytes.extend(&self.trailer);
        Ok(Converted { content: bytes, rounded })
    }
}
