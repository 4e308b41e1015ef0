//! Coordinates of a tensor: their extents, and their strides in the raw body of a `.nnue` file.

use super::axis::Coordinate::{
    self, Colour, Feature, Input, KingBucket, Layer, Neuron, Output, OutputBucket, Role, Row, Square,
};
use super::description::TensorName;
use crate::nnue::architecture::Architecture;

/// Extent of a coordinate and its stride in the raw body.
pub(super) type Extent = (Coordinate, usize, usize);

/// Numbers of a layer of `[inputs, outputs]`.
pub(super) type LayerCount = fn(&[usize; 2]) -> usize;

pub(super) const WEIGHTS: LayerCount = |[inputs, outputs]| inputs * outputs;
pub(super) const BIASES: LayerCount = |[_, outputs]| *outputs;

/// The start of a tensor, or of one layer of it, in the raw body, and its coordinates.
pub(super) fn extents(name: TensorName, layer: Option<usize>, shape: &Architecture) -> (usize, Vec<Extent>) {
    let (hidden, buckets) = (shape.hidden, shape.output_buckets);
    let bias = shape.rows() * hidden;
    let psqt = bias + hidden;
    let weights = psqt + shape.psqt_values();
    let biases = weights + buckets * shape.dense().iter().map(WEIGHTS).sum::<usize>();
    match name {
        TensorName::Features => (0, [table(shape, hidden), vec![(Neuron, hidden, 1)]].concat()),
        TensorName::Bias => (bias, vec![(Neuron, hidden, 1)]),
        TensorName::Psqt => (psqt, [table(shape, buckets), vec![(OutputBucket, buckets, 1)]].concat()),
        TensorName::Weights => of_layer(weights, true, layer, shape),
        TensorName::Biases => of_layer(biases, false, layer, shape),
        TensorName::WdlK => (shape.parameters() - 1, Vec::new()),
    }
}

/// Coordinates of a row of the feature table.
fn table(shape: &Architecture, stride: usize) -> Vec<Extent> {
    let features = shape.features.bucketed();
    let mut extents = vec![(Row, shape.rows(), stride)];
    // An axis of king buckets does not reach shared rows, which follow all buckets.
    if features == shape.features.count() {
        extents.push((KingBucket, shape.king_bucket_count(), features * stride));
        extents.push((Feature, features, stride));
    }
    if shape.features.is_all() {
        extents.extend([(Colour, 2, 384 * stride), (Role, 6, 64 * stride), (Square, 64, stride)]);
    }
    extents
}

/// Coordinates of the weights or biases of a layer, or of all layers of an output bucket together.
fn of_layer(
    start: usize,
    is_matrix: bool,
    layer: Option<usize>,
    shape: &Architecture,
) -> (usize, Vec<Extent>) {
    let (dense, count) = (shape.dense(), if is_matrix { WEIGHTS } else { BIASES });
    let of_bucket: usize = dense.iter().map(count).sum();
    let bucket = (OutputBucket, shape.output_buckets, of_bucket);
    let Some(layer) = layer else { return (start, vec![bucket, (Layer, of_bucket, 1)]) };
    let [inputs, outputs] = dense[layer];
    let start = start + dense[..layer].iter().map(count).sum::<usize>();
    match is_matrix {
        true => (start, vec![bucket, (Output, outputs, inputs), (Input, inputs, 1)]),
        false => (start, vec![bucket, (Output, outputs, 1)]),
    }
}
