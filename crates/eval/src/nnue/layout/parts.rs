//! The numbers of a raw file: their order, widths and units.

use super::{Dtype, Layout};
use crate::nnue::architecture::Architecture;
use crate::nnue::error::BodyError;
use crate::nnue::padding::not_padding;
use crate::nnue::units::{QA, QB, SCALE};

/// Kind of a number of a raw body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    FeatureWeight,
    HiddenBias,
    Psqt,
    Weight { last: bool },
    Bias { last: bool },
    WdlK,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::FeatureWeight => "feature weight",
            Kind::HiddenBias => "bias of the hidden layer",
            Kind::Psqt => "piece-square value",
            Kind::Weight { .. } => "weight of a later layer",
            Kind::Bias { .. } => "bias of a later layer",
            Kind::WdlK => "K of the WDL head",
        }
    }
}

/// Numbers of one kind: their count, and the place of each in the raw body.
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) count: usize,
    pub(super) place: Box<dyn Fn(usize) -> usize>,
}

impl Layout {
    /// The numbers of a file in order.
    pub(super) fn parts(&self, shape: &Architecture) -> Vec<Part> {
        let (rows, hidden, buckets) = (shape.rows(), shape.hidden, shape.output_buckets);
        let columns = self.columns_of_features;
        let feature = move |i: usize| if columns { i % rows * hidden + i / rows } else { i };
        let bias = rows * hidden;
        let psqt = bias + hidden;
        let mut parts = vec![
            Part { kind: Kind::FeatureWeight, count: bias, place: Box::new(feature) },
            Part { kind: Kind::HiddenBias, count: hidden, place: Box::new(move |i| bias + i) },
        ];
        let values = shape.psqt_values();
        if values > 0 {
            let order = self.order(buckets);
            let place = move |i: usize| psqt + i / buckets * buckets + order[i % buckets];
            parts.push(Part { kind: Kind::Psqt, count: values, place: Box::new(place) });
        }
        let dense = shape.dense();
        let total = |of: fn(&[usize; 2]) -> usize| dense.iter().map(of).sum::<usize>();
        let (weights, biases) = (total(|[i, o]| i * o), total(|[_, o]| *o));
        let (first_weight, first_bias) = (psqt + values, psqt + values + buckets * weights);
        let (mut weight, mut bias) = (first_weight, first_bias);
        let (mut of_weights, mut of_biases) = (Vec::new(), Vec::new());
        for (layer, [inputs, outputs]) in dense.iter().copied().enumerate() {
            let last = layer + 1 == dense.len();
            let (columns, order) = (self.columns_of_outputs, self.order(buckets));
            let place = move |i: usize| {
                let (bucket, output, input) = if columns {
                    (i / outputs % buckets, i % outputs, i / (buckets * outputs))
                } else {
                    (i / (inputs * outputs), i / inputs % outputs, i % inputs)
                };
                weight + order[bucket] * weights + output * inputs + input
            };
            let count = buckets * inputs * outputs;
            of_weights.push(Part { kind: Kind::Weight { last }, count, place: Box::new(place) });
            let order = self.order(buckets);
            let place = move |i: usize| bias + order[i / outputs] * biases + i % outputs;
            let count = buckets * outputs;
            of_biases.push(Part { kind: Kind::Bias { last }, count, place: Box::new(place) });
            weight += inputs * outputs;
            bias += outputs;
        }
        if self.by_layer || dense.len() == 1 {
            parts.extend(
                of_weights.into_iter().zip(of_biases).flat_map(|(weights, biases)| [weights, biases]),
            );
        } else {
            // A body has all layers of one bucket together: its own order, except for the order of the buckets.
            for (kind, start, each) in [
                (Kind::Weight { last: false }, first_weight, weights),
                (Kind::Bias { last: false }, first_bias, biases),
            ] {
                let order = self.order(buckets);
                let place = move |i: usize| start + order[i / each] * each + i % each;
                parts.push(Part { kind, count: buckets * each, place: Box::new(place) });
            }
        }
        if shape.wdl_head {
            let place = shape.parameters() - 1;
            parts.push(Part { kind: Kind::WdlK, count: 1, place: Box::new(move |_| place) });
        }
        parts
    }

    /// Passes on the numbers of a file in a network's units, with their parts and their numbers in these.
    pub(super) fn each_number(
        &self,
        shape: &Architecture,
        bytes: &[u8],
        mut take: impl FnMut(&Part, usize, f64) -> Result<(), BodyError>,
    ) -> Result<(), BodyError> {
        self.check(shape)?;
        if !self.fits(shape, bytes) {
            let (size, found) = (self.size(shape), bytes.len());
            let reason = match found == size.next_multiple_of(64) {
                true => not_padding(found - size),
                false => format!("{shape} takes {size} bytes in this layout, the file has {found}"),
            };
            return Err(BodyError(reason));
        }
        let mut rest = bytes;
        for part in self.parts(shape) {
            let (width, factor) = (self.width(part.kind), self.factor(part.kind));
            let (numbers, after) = rest.split_at(part.count * width);
            for (i, bytes) in numbers.chunks_exact(width).enumerate() {
                take(&part, i, factor * number(bytes))?;
            }
            rest = after;
        }
        Ok(())
    }

    pub(super) fn order(&self, buckets: usize) -> Vec<usize> {
        if self.buckets.is_empty() { (0..buckets).collect() } else { self.buckets.clone() }
    }

    pub(super) fn width(&self, kind: Kind) -> usize {
        match self.dtype {
            Dtype::F32 => 4,
            Dtype::I8 if matches!(kind, Kind::FeatureWeight | Kind::Weight { .. }) => 1,
            Dtype::I16I8 if matches!(kind, Kind::Weight { .. }) => 1,
            Dtype::I8 | Dtype::I16 | Dtype::I16I8 => 2,
        }
    }

    /// A number's unit in a network divided by its unit in the file.
    pub(super) fn factor(&self, kind: Kind) -> f64 {
        let float = self.dtype == Dtype::F32;
        let [qa, qb] = [self.qa, self.qb].map(|q| if float { 1.0 } else { f64::from(q) });
        let (a, b, scale) =
            (f64::from(QA) / qa, f64::from(QB) / qb, f64::from(self.scale) / f64::from(SCALE));
        match kind {
            Kind::FeatureWeight | Kind::HiddenBias => a,
            Kind::Psqt => a * scale,
            Kind::Weight { last } => b * if last { scale } else { 1.0 },
            Kind::Bias { last } => a * b * if last { scale } else { 1.0 },
            Kind::WdlK => 1.0,
        }
    }
}

/// A little-endian number of one, two or four bytes; the last is a float.
fn number(bytes: &[u8]) -> f64 {
    match *bytes {
        [a] => f64::from(a as i8),
        [a, b] => f64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::NAN,
    }
}
