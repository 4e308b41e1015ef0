//! The numbers of a raw file: their order, widths and units for an architecture.

use super::Layout;
use super::axis::{Axis, Coordinate, FirstColour, Split};
use super::description::{Number, TensorLayout, TensorName};
use super::extents::{BIASES, LayerCount, WEIGHTS, extents};
use crate::nnue::architecture::Architecture;
use crate::nnue::error::BodyError;
use crate::nnue::padding::not_padding;
use crate::nnue::units::{QA, QB, SCALE};

/// One tensor as a file stores it, or one layer of it.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub(super) tensor: &'a TensorLayout,
    /// The layer of `weights` and `biases`; `None` for all layers together.
    pub(super) layer: Option<usize>,
    pub(super) count: usize,
}

impl Stored<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self.tensor.name {
            TensorName::Features => "feature weight",
            TensorName::Bias => "bias of the hidden layer",
            TensorName::Psqt => "piece-square value",
            TensorName::Weights => "weight of a later layer",
            TensorName::Biases => "bias of a later layer",
            TensorName::WdlK => "K of the WDL head",
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.count * self.tensor.number.bytes()
    }
}

/// Places in the raw body of a `.nnue` file: a sum of one offset for each axis.
pub(super) struct Places {
    start: usize,
    axes: Vec<Vec<usize>>,
}

impl Places {
    /// Places of all numbers in the order of the file.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(usize, usize) -> Result<(), BodyError>,
    ) -> Result<(), BodyError> {
        let (last, outer) =
            self.axes.split_last().map_or((&[0][..], &[][..]), |(last, outer)| (&last[..], outer));
        let mut digits = vec![0; outer.len()];
        let mut number = 0;
        loop {
            let row = self.start + digits.iter().zip(outer).map(|(digit, axis)| axis[*digit]).sum::<usize>();
            for offset in last {
                take(number, row + offset)?;
                number += 1;
            }
            let Some(axis) = (0..outer.len()).rev().find(|axis| digits[*axis] + 1 < outer[*axis].len())
            else {
                return Ok(());
            };
            digits[axis] += 1;
            digits[axis + 1..].fill(0);
        }
    }
}

/// A coordinate that several axes have, if not as its blocks and what is in a block.
fn twice(order: &[Axis]) -> Option<Coordinate> {
    use Coordinate::{Colour, Feature, KingBucket, Role, Row, Square};
    let covers = |a: Coordinate, b: Coordinate| match a {
        Row => matches!(b, KingBucket | Feature | Colour | Role | Square),
        Feature => matches!(b, Colour | Role | Square),
        _ => false,
    };
    let both = |a: Split, b: Split| match (a, b) {
        (Split::Blocks(a), Split::Within(b)) | (Split::Within(a), Split::Blocks(b)) => a == b,
        _ => false,
    };
    let clash = |a: &Axis, b: &Axis| {
        let same = a.coordinate == b.coordinate && !both(a.split, b.split);
        same || covers(a.coordinate, b.coordinate) || covers(b.coordinate, a.coordinate)
    };
    let later = |(at, axis): (usize, &Axis)| {
        order[at + 1..].iter().any(|other| clash(axis, other)).then_some(axis.coordinate)
    };
    order.iter().enumerate().find_map(later)
}

impl Layout {
    /// The tensors of a file in order, with one for each layer where the description has one for all.
    pub(super) fn stored(&self, shape: &Architecture) -> Vec<Stored<'_>> {
        let dense = shape.dense();
        let repeats = |tensor: &TensorLayout| {
            tensor.is_of_layers() && tensor.layer.is_none() && !tensor.has_all_layers()
        };
        let mut stored = Vec::new();
        for run in self.tensors.chunk_by(|a, b| repeats(a) && repeats(b)) {
            let layers = if repeats(&run[0]) { dense.len() } else { 1 };
            for repeated in 0..layers {
                stored.extend(run.iter().map(|tensor| {
                    let single = (tensor.is_of_layers() && dense.len() == 1).then_some(0);
                    let named = tensor.layer.map(|layer| layer.saturating_sub(1));
                    let layer = if repeats(tensor) { Some(repeated) } else { named.or(single) };
                    let of_layer = |of: LayerCount| match layer {
                        Some(layer) => dense.get(layer).map_or(0, of),
                        None => dense.iter().map(of).sum(),
                    };
                    let count = match tensor.name {
                        TensorName::Features => shape.rows() * shape.hidden,
                        TensorName::Bias => shape.hidden,
                        TensorName::Psqt => shape.psqt_values(),
                        TensorName::Weights => shape.output_buckets * of_layer(WEIGHTS),
                        TensorName::Biases => shape.output_buckets * of_layer(BIASES),
                        TensorName::WdlK => shape.wdl_head.into(),
                    };
                    Stored { tensor, layer, count }
                }));
            }
        }
        stored.retain(|stored| stored.count > 0);
        stored
    }

    /// Start of each tensor and the end of the last, in bytes after the header.
    pub(super) fn starts(&self, stored: &[Stored]) -> Vec<usize> {
        let mut starts = vec![0];
        for tensor in stored {
            let end = starts.last().map_or(0, |start| start + tensor.bytes());
            starts.push(end.next_multiple_of(tensor.tensor.align.max(1)));
        }
        starts
    }

    /// Finds a tensor of the architecture that the description lacks or has twice.
    pub(super) fn check_tensors(&self, shape: &Architecture) -> Result<(), BodyError> {
        let stored = self.stored(shape);
        let layers = shape.dense().len();
        let wanted = |name, needed: bool| if needed { vec![(name, None)] } else { Vec::new() };
        let mut all = [
            wanted(TensorName::Features, true),
            wanted(TensorName::Bias, true),
            wanted(TensorName::Psqt, shape.psqt),
            wanted(TensorName::WdlK, shape.wdl_head),
        ]
        .concat();
        all.extend((0..layers).flat_map(|n| [(TensorName::Weights, Some(n)), (TensorName::Biases, Some(n))]));
        for (name, layer) in all {
            let holds = |stored: &&Stored| {
                stored.tensor.name == name && (stored.layer == layer || stored.layer.is_none())
            };
            let count = stored.iter().filter(holds).count();
            if count != 1 {
                let of = layer.map_or(String::new(), |layer| format!(" of layer {}", layer + 1));
                let fault = if count == 0 { "lacks" } else { "has twice" };
                let name = format!("{name:?}").to_lowercase();
                return Err(BodyError(format!("the layout {fault} the tensor {name}{of} of {shape}")));
            }
        }
        match self.tensors.iter().filter_map(|tensor| tensor.layer).find(|layer| *layer > layers) {
            Some(layer) => Err(BodyError(format!(
                "the layout has a layer {layer}, {shape} has {layers} after the hidden one"
            ))),
            None => Ok(()),
        }
    }

    /// The places of a tensor's numbers in the raw body.
    pub(super) fn places(&self, stored: &Stored, shape: &Architecture) -> Result<Places, BodyError> {
        let (start, extents) = extents(stored.tensor.name, stored.layer, shape);
        let tensor = stored.tensor;
        let mut order = tensor.axes();
        match stored.layer {
            // The layers' own axes are inside of that of all layers.
            None if tensor.is_of_layers() => {
                order.retain(|axis| !matches!(axis.coordinate, Coordinate::Output | Coordinate::Input));
            }
            _ => order.retain(|axis| axis.coordinate != Coordinate::Layer),
        }
        let fault = |reason: String| BodyError(format!("the order of a {}: {reason}", stored.name()));
        if let Some(coordinate) = twice(&order) {
            return Err(fault(format!("{} is there twice", coordinate.name())));
        }
        let mut axes: Vec<Vec<usize>> = Vec::new();
        for axis in order {
            let (coordinate, name) = (axis.coordinate, axis.coordinate.name());
            let found = extents.iter().find(|(known, ..)| *known == coordinate);
            let (_, extent, stride) =
                *found.ok_or_else(|| fault(format!("{shape} has no axis {name} there")))?;
            let values = self.values(tensor, coordinate, extent).ok_or_else(|| {
                fault(format!("the order along {name} does not name each of {extent} once"))
            })?;
            let digits: Vec<usize> = match axis.split {
                Split::Whole => (0..extent).collect(),
                Split::Blocks(size) | Split::Within(size) if !extent.is_multiple_of(size) => {
                    return Err(fault(format!("{extent} along {name} are not whole blocks of {size}")));
                }
                Split::Blocks(size) => (0..extent).step_by(size).collect(),
                Split::Within(size) => (0..size).collect(),
            };
            let is_permuted = values.iter().enumerate().any(|(at, value)| at != *value);
            if is_permuted && axis.split != Split::Whole {
                return Err(fault(format!("{name} in blocks has an order of its own, too")));
            }
            axes.push(digits.into_iter().map(|digit| values[digit] * stride).collect());
        }
        let product: usize = axes.iter().map(Vec::len).product();
        if product != stored.count {
            return Err(fault(format!("its axes have {product} numbers, {shape} has {}", stored.count)));
        }
        Ok(Places { start, axes })
    }

    /// The value of a coordinate at each index of its axis; `None` if an order of the description is none.
    fn values(&self, tensor: &TensorLayout, coordinate: Coordinate, extent: usize) -> Option<Vec<usize>> {
        let plain = || (0..extent).collect::<Vec<usize>>();
        let order = match coordinate {
            Coordinate::Neuron => tensor.neurons.as_ref(),
            Coordinate::Input => tensor.inputs.as_ref(),
            _ => None,
        };
        if let Some(order) = order {
            return order.numbers(extent);
        }
        match coordinate {
            Coordinate::Square => Some(plain().into_iter().map(|at| at ^ tensor.squares.mask()).collect()),
            Coordinate::Colour if tensor.colours == FirstColour::Other => Some(vec![1, 0]),
            Coordinate::Role => Some(tensor.roles.roles()),
            Coordinate::OutputBucket => Some(self.order(extent)),
            _ => Some(plain()),
        }
    }

    /// Passes on the numbers of a file in a network's units, with their tensors, indices and places in a raw body.
    pub(super) fn each_number(
        &self,
        shape: &Architecture,
        bytes: &[u8],
        mut take: impl FnMut(&Stored, usize, usize, f64) -> Result<(), BodyError>,
    ) -> Result<(), BodyError> {
        self.check(shape)?;
        let body = self
            .body(bytes)
            .ok_or_else(|| BodyError("does not begin with the header of its layout".into()))?;
        if !self.fits(shape, bytes) {
            let (size, found) = (self.size(shape), body.len());
            let reason = match found == size.next_multiple_of(64) {
                true => not_padding(found - size),
                false => format!("{shape} takes {size} bytes in this layout, the file has {found}"),
            };
            return Err(BodyError(reason));
        }
        let all = self.stored(shape);
        for (stored, start) in all.iter().zip(self.starts(&all)) {
            let (width, factor) = (stored.tensor.number.bytes(), self.factor(stored, shape));
            let numbers = &body[start..start + stored.bytes()];
            self.places(stored, shape)?.each(|i, place| {
                let value = stored.tensor.number.read(&numbers[i * width..(i + 1) * width]);
                take(stored, i, place, factor * value)
            })?;
        }
        Ok(())
    }

    pub(super) fn order(&self, buckets: usize) -> Vec<usize> {
        if self.buckets.is_empty() { (0..buckets).collect() } else { self.buckets.clone() }
    }

    /// A number's unit in a network divided by its unit in the file.
    pub(super) fn factor(&self, stored: &Stored, shape: &Architecture) -> f64 {
        let (a, b) = (f64::from(QA), f64::from(QB));
        let (qa, qb) = (f64::from(self.qa), f64::from(self.qb));
        let (own, theirs) = match stored.tensor.name {
            TensorName::Features | TensorName::Bias | TensorName::Psqt => (a, qa),
            TensorName::Weights => (b, qb),
            TensorName::Biases => (a * b, qa * qb),
            TensorName::WdlK => return 1.0,
        };
        let theirs = match &stored.tensor.unit {
            Some(unit) => unit.value(qa, qb),
            None if stored.tensor.number == Number::F32 => 1.0,
            None => theirs,
        };
        let last = shape.dense().len() - 1;
        let is_output = match stored.tensor.name {
            TensorName::Psqt => true,
            TensorName::Weights | TensorName::Biases => stored.layer.unwrap_or(0) == last,
            _ => false,
        };
        let scale = if is_output { f64::from(self.scale) / f64::from(SCALE) } else { 1.0 };
        own / theirs * scale
    }
}
