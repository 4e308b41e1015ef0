//! Raw layouts of other engines and trainers: the numbers of a network without a header, in their order and units.

mod bullet_state;
mod named;
mod parts;
mod recognise;
mod start;
#[cfg(test)]
mod tests;

pub use self::bullet_state::raw_of_state;
pub use self::named::{LAYOUTS, NamedLayout};
pub use self::recognise::{foreign_format, layouts_differ, layouts_of_size, piece_values};
pub use self::start::guess;

use super::architecture::{Architecture, MAX_HIDDEN};
use super::error::BodyError;
use super::network::{About, Network};
use super::padding::{bullets, is_padding};
use super::units::{QA, QB, SCALE};
use super::weights::Weights;

/// Number type of a raw file. Biases of an `i8` file have 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    I8,
    I16,
    /// 16 bits; later weights have 8.
    I16I8,
    /// Floats without quantisation: an activation of 1 is 1.
    F32,
}

/// Bytes after the last number, up to a multiple of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    None,
    Zeros,
    /// The word `bullet`, repeated.
    Bullet,
    /// Read whatever it is, as programs write what happens to be in memory; written as zeros.
    Any,
}

/// Order and units of a raw file's numbers: feature weights, their bias, piece-square values, then the later layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub dtype: Dtype,
    pub qa: i32,
    pub qb: i32,
    pub scale: i32,
    /// Set if feature weights are `[hidden][row]`, not `[row][hidden]`.
    pub columns_of_features: bool,
    /// Set if later weights are `[input][output]` with the output buckets' outputs side by side, not
    /// `[output][input]`.
    pub columns_of_outputs: bool,
    /// Set if each later layer has its weights and biases for all output buckets together; else all weights come
    /// first.
    pub by_layer: bool,
    /// The output bucket at each place of the file; empty for 0, 1, 2, ...
    pub buckets: Vec<usize>,
    pub padding: Padding,
}

impl Default for Layout {
    /// The layout of a .nnue file's body.
    fn default() -> Layout {
        Layout {
            dtype: Dtype::I16,
            qa: QA,
            qb: QB,
            scale: SCALE,
            columns_of_features: false,
            columns_of_outputs: false,
            by_layer: false,
            buckets: Vec::new(),
            padding: Padding::Zeros,
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
    /// Size of a file in bytes, without its padding.
    pub fn size(&self, shape: &Architecture) -> usize {
        self.parts(shape).iter().map(|part| part.count * self.width(part.kind)).sum()
    }

    fn padded(&self, size: usize) -> usize {
        if self.padding == Padding::None { size } else { size.next_multiple_of(64) }
    }

    /// Tests for a file of an architecture's size, with nothing but padding after its numbers.
    fn fits(&self, shape: &Architecture, bytes: &[u8]) -> bool {
        let size = self.size(shape);
        let is_size = bytes.len() == size || bytes.len() == size.next_multiple_of(64);
        is_size && (self.padding == Padding::Any || is_padding(&bytes[size..]))
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
        let rescaled = self.scale != SCALE;
        if !self.by_layer && shape.dense().len() > 1 && (rescaled || self.columns_of_outputs) {
            let reason =
                "further layers in another scale or by columns need a layout by layers, such as `bullet`";
            return Err(BodyError(reason.into()));
        }
        Ok(())
    }

    /// Reads a network of a known architecture, with or without padding.
    pub fn read(
        &self,
        shape: &Architecture,
        bytes: &[u8],
        about: About,
    ) -> Result<Converted<Network>, BodyError> {
        let (mut body, mut rounded) = (vec![0i16; shape.parameters()], 0);
        self.each_number(shape, bytes, |part, i, value| {
            let whole = value.round();
            if !(f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&whole) {
                let kind = part.kind.name();
                let reason = format!("{kind} {i} is {value:.1} in units of a network: beyond 16 bits");
                return Err(BodyError(reason));
            }
            rounded += usize::from(whole != value);
            body[(part.place)(i)] = whole as i16;
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
        self.each_number(shape, bytes, |part, i, value| {
            body[(part.place)(i)] = value as f32;
            Ok(())
        })?;
        Ok(body)
    }

    pub fn write(&self, network: &Network) -> Result<Converted<Vec<u8>>, BodyError> {
        let shape = network.architecture();
        self.check(shape)?;
        let body: Vec<i16> = network.weights().numbers().collect();
        let (mut bytes, mut rounded) = (Vec::with_capacity(self.size(shape) + 64), 0);
        for part in self.parts(shape) {
            let (width, factor) = (self.width(part.kind), self.factor(part.kind));
            let most = if width == 1 { f64::from(i8::MAX) } else { f64::from(i16::MAX) };
            for i in 0..part.count {
                let value = f64::from(body[(part.place)(i)]) / factor;
                if width == 4 {
                    bytes.extend((value as f32).to_le_bytes());
                    continue;
                }
                let whole = value.round();
                if !(-most - 1.0..=most).contains(&whole) {
                    let (kind, bits) = (part.kind.name(), 8 * width);
                    let reason =
                        format!("{kind} {i} would be {whole}: beyond {bits} bits; take smaller units");
                    return Err(BodyError(reason));
                }
                rounded += usize::from(whole != value);
                bytes.extend(&(whole as i16).to_le_bytes()[..width]);
            }
        }
        let size = self.padded(bytes.len());
        match self.padding {
            Padding::None => {}
            Padding::Zeros | Padding::Any => bytes.resize(size, 0),
            Padding::Bullet => {
                let missing = size - bytes.len();
                bytes.extend(bullets(missing));
            }
        }
        Ok(Converted { content: bytes, rounded })
    }
}
