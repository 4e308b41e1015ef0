//! What follows the hidden layer: activations, output buckets, further layers and piece-square values.
//!
//! In: the sums of the hidden layer of one position. Out: the network's output; backwards, the gradient of the layers
//! behind the hidden one, and that of the sums in their place.
//!
//! A network without further layers, the usual one, goes tile by tile, where activation and output are one loop; the
//! others go position by position, layer by layer.

use super::micro_batch::LANES;
use super::model::Model;
use super::param_layout::Shape;
use patzer_eval::nnue::Activation;

// Activations as constants, so that every loop is compiled for one.
pub const RELU: u8 = 0;
pub const CRELU: u8 = 1;
pub const SCRELU: u8 = 2;
pub const PAIRWISE: u8 = 3;

/// Memory for the further layers of one position.
pub struct Layers {
    /// Activations of the hidden layer, `[view][tile][lane]`, and their gradient.
    active: Vec<f32>,
    upstream: Vec<f32>,
    /// Sums of each further layer, and their gradient.
    sums: Vec<Vec<f32>>,
    slopes: Vec<Vec<f32>>,
    values: Vec<f32>,
}

impl Layers {
    /// Memory for a network's layers.
    pub fn new(shape: &Shape) -> Layers {
        let further = || shape.dense.iter().map(|[_, outputs]| vec![0.0; *outputs]).collect();
        let width = if shape.dense.len() > 1 { shape.dense[0][0] } else { 0 };
        Layers {
            active: vec![0.0; width],
            upstream: vec![0.0; width],
            sums: further(),
            slopes: further(),
            values: Vec::new(),
        }
    }

    /// The output of position `i` without piece-square values. `views` is how many views a position has, and how many
    /// positions `hidden` holds.
    #[inline(always)]
    pub fn output<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        hidden: &[f32],
        (views, positions): (usize, usize),
        i: usize,
        bucket: usize,
    ) -> f32 {
        self.activate::<A, T>(&model.shape, hidden, views, positions, i);
        self.further(model, bucket)
    }

    /// Given the derivative of the loss by the output: adds the gradient of the layers and turns the position's sums
    /// into their gradient. Follows [`Layers::output`] of the same position.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn backward<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        hidden: &mut [f32],
        (views, positions): (usize, usize),
        i: usize,
        bucket: usize,
        slope: f32,
        gradient: &mut [f32],
    ) {
        let shape = &model.shape;
        self.backward_further(model, bucket, slope, gradient);
        for tile in 0..shape.tiles {
            let tiles = hidden.as_chunks_mut::<T>().0;
            let sums = &mut tiles[(tile * positions + i) * views..][..views];
            if tile >= shape.hidden_tiles {
                backward_values::<T>(shape, tile, bucket, slope, sums);
                continue;
            }
            for (view, sums) in sums.iter_mut().enumerate() {
                backward::<A, T>(sums, lanes::<T>(&self.upstream, view * shape.hidden_tiles + tile));
            }
        }
    }

    #[inline(always)]
    fn activate<const A: u8, const T: usize>(
        &mut self,
        shape: &Shape,
        hidden: &[f32],
        views: usize,
        positions: usize,
        i: usize,
    ) {
        for tile in 0..shape.hidden_tiles {
            for view in 0..views {
                let sums = tile_of::<T>(hidden, tile, views * positions, views * i + view);
                *lanes_mut::<T>(&mut self.active, view * shape.hidden_tiles + tile) = active::<A, T>(sums);
            }
        }
    }

    /// The output of the layers behind the activations.
    #[inline(always)]
    fn further(&mut self, model: &Model, bucket: usize) -> f32 {
        let shape = &model.shape;
        let inner = shape.architecture.inner();
        for (layer, [inputs, outputs]) in shape.dense.iter().copied().enumerate() {
            let start = shape.layer(bucket, layer);
            let (weights, biases) =
                model.parameters[start..start + (inputs + 1) * outputs].split_at(inputs * outputs);
            if layer > 0 {
                let below = &self.sums[layer - 1];
                self.values.clear();
                self.values.extend(below.iter().map(|x| value(inner, *x)));
            }
            let values = if layer == 0 { &self.active[..] } else { &self.values[..] };
            for ((sum, weights), bias) in
                self.sums[layer].iter_mut().zip(weights.chunks_exact(inputs)).zip(biases)
            {
                *sum = bias + dot(values, weights);
            }
        }
        self.sums[shape.dense.len() - 1][0]
    }

    /// Adds the gradient of the layers behind the activations and leaves that of the activations in `upstream`.
    #[inline(always)]
    fn backward_further(&mut self, model: &Model, bucket: usize, slope: f32, gradient: &mut [f32]) {
        let shape = &model.shape;
        let inner = shape.architecture.inner();
        let last = shape.dense.len() - 1;
        self.slopes[last][0] = slope;
        for layer in (0..=last).rev() {
            let [inputs, outputs] = shape.dense[layer];
            let start = shape.layer(bucket, layer);
            let weights = &model.parameters[start..start + inputs * outputs];
            let (weight_gradient, bias_gradient) =
                gradient[start..start + (inputs + 1) * outputs].split_at_mut(inputs * outputs);
            if layer > 0 {
                let below = &self.sums[layer - 1];
                self.values.clear();
                self.values.extend(below.iter().map(|x| value(inner, *x)));
            }
            let values = if layer == 0 { &self.active[..] } else { &self.values[..] };
            let (below, here) = self.slopes.split_at_mut(layer);
            let upstream = if layer == 0 { &mut self.upstream[..] } else { &mut below[layer - 1][..] };
            upstream.fill(0.0);
            for (output, slope) in here[0].iter().copied().enumerate() {
                bias_gradient[output] += slope;
                let at = output * inputs..(output + 1) * inputs;
                for (gradient, x) in weight_gradient[at.clone()].iter_mut().zip(values) {
                    *gradient += slope * x;
                }
                for (sum, weight) in upstream.iter_mut().zip(&weights[at]) {
                    *sum += slope * weight;
                }
            }
            if layer > 0 {
                for (slope, sum) in upstream.iter_mut().zip(&self.sums[layer - 1]) {
                    *slope *= derivative(inner, *sum);
                }
            }
        }
    }
}

/// Adds what a tile's sums are worth to the products of the output.
#[inline(always)]
pub fn weigh<const A: u8, const T: usize>(sums: &[f32; T], weights: &[f32; T], products: &mut [f32; LANES]) {
    let active = active::<A, T>(sums);
    for lane in 0..T {
        products[lane % LANES] += active[lane] * weights[lane];
    }
}

/// Turns sums into their gradient, given the derivative by the output that they are weighed for, and adds the gradient
/// of the weights.
#[inline(always)]
pub fn backward_weights<const A: u8, const T: usize>(
    sums: &mut [f32; T],
    slope: f32,
    weights: &[f32; T],
    gradient: &mut [f32; T],
) {
    let active = active::<A, T>(sums);
    let mut upstream = [0.0; T];
    for lane in 0..T {
        gradient[lane] += slope * active[lane];
        upstream[lane] = slope * weights[lane];
    }
    backward::<A, T>(sums, &upstream);
}

/// Turns a position's sums of a tile of piece-square values into their gradient.
#[inline(always)]
pub fn backward_values<const T: usize>(
    shape: &Shape,
    tile: usize,
    bucket: usize,
    slope: f32,
    views: &mut [[f32; T]],
) {
    let share = slope / views.len() as f32;
    for (sums, share) in views.iter_mut().zip([share, -share]) {
        *sums = [0.0; T];
        if tile == shape.hidden_tiles + bucket / T {
            sums[bucket % T] = share;
        }
    }
}

/// What the piece-square values add to the output.
#[inline(always)]
pub fn piece_square<const T: usize>(
    shape: &Shape,
    hidden: &[f32],
    (views, positions): (usize, usize),
    i: usize,
    bucket: usize,
) -> f32 {
    if shape.tiles == shape.hidden_tiles {
        return 0.0;
    }
    let tile = shape.hidden_tiles + bucket / T;
    let view = |view| tile_of::<T>(hidden, tile, views * positions, views * i + view)[bucket % T];
    if views == 2 { (view(0) - view(1)) / 2.0 } else { view(0) }
}

/// The activations of a tile; of pairs in its lower half.
#[inline(always)]
fn active<const A: u8, const T: usize>(sums: &[f32; T]) -> [f32; T] {
    let mut active = [0.0; T];
    for lane in 0..T {
        active[lane] = match A {
            RELU => positive(sums[lane]),
            CRELU => clipped(sums[lane]),
            SCRELU => clipped(sums[lane]) * clipped(sums[lane]),
            _ if lane < T / 2 => clipped(sums[lane]) * clipped(sums[lane + T / 2]),
            _ => 0.0,
        };
    }
    active
}

/// Turns sums into their gradient, given that of their activations.
#[inline(always)]
fn backward<const A: u8, const T: usize>(sums: &mut [f32; T], upstream: &[f32; T]) {
    if A == PAIRWISE {
        for lane in 0..T / 2 {
            let (a, b) = (sums[lane], sums[lane + T / 2]);
            sums[lane] = upstream[lane] * clipped(b) * inside(a);
            sums[lane + T / 2] = upstream[lane] * clipped(a) * inside(b);
        }
        return;
    }
    for lane in 0..T {
        let sum = sums[lane];
        sums[lane] = upstream[lane]
            * match A {
                RELU => f32::from(u8::from(sum > 0.0)),
                CRELU => inside(sum),
                _ => 2.0 * if sum < 1.0 { clipped(sum) } else { 0.0 },
            };
    }
}

/// An activation behind the first layer.
#[inline(always)]
fn value(activation: Activation, sum: f32) -> f32 {
    match activation {
        Activation::Relu => positive(sum),
        Activation::Crelu => clipped(sum),
        Activation::Screlu | Activation::Pairwise => clipped(sum) * clipped(sum),
    }
}

#[inline(always)]
fn derivative(activation: Activation, sum: f32) -> f32 {
    match activation {
        Activation::Relu => f32::from(u8::from(sum > 0.0)),
        Activation::Crelu => inside(sum),
        Activation::Screlu | Activation::Pairwise => 2.0 * if sum < 1.0 { clipped(sum) } else { 0.0 },
    }
}

/// Clipped to 0..1; not a number stays so, for the loss to show it.
#[inline(always)]
fn clipped(value: f32) -> f32 {
    let value = positive(value);
    if value > 1.0 { 1.0 } else { value }
}

#[inline(always)]
fn positive(value: f32) -> f32 {
    if value < 0.0 { 0.0 } else { value }
}

/// 1 where clipping changes nothing.
#[inline(always)]
fn inside(value: f32) -> f32 {
    if value > 0.0 && value < 1.0 { 1.0 } else { 0.0 }
}

/// The sum of products, in lanes that compile to vectors.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// A tile of numbers.
#[inline(always)]
pub fn lanes<const T: usize>(values: &[f32], tile: usize) -> &[f32; T] {
    &values.as_chunks::<T>().0[tile]
}

/// The same, to change.
#[inline(always)]
pub fn lanes_mut<const T: usize>(values: &mut [f32], tile: usize) -> &mut [f32; T] {
    &mut values.as_chunks_mut::<T>().0[tile]
}

/// A tile of a view's sums.
#[inline(always)]
fn tile_of<const T: usize>(hidden: &[f32], tile: usize, views: usize, view: usize) -> &[f32; T] {
    lanes::<T>(hidden, tile * views + view)
}
