//! Everything after the hidden layer: activations, output buckets, further layers and piece-square values.
//!
//! Networks without further layers run tile by tile, with activation and output in one loop; others position
//! by position, layer by layer.

use super::model::Model;
use super::param_layout::ParamLayout;
use super::vectors::{LANES, add};
use patzer_eval::nnue::{Activation, Architecture, LayerActivation};

// Activations as const generics, so that every loop is compiled for one; numbered as in the kernels.
pub(crate) const RELU: u8 = Activation::Relu as u8;
pub(crate) const CRELU: u8 = Activation::Crelu as u8;
pub(crate) const SCRELU: u8 = Activation::Screlu as u8;
pub(crate) const PAIRWISE: u8 = Activation::Pairwise as u8;

/// Rounds up ties and what floats leave just below them; other activations are 1/512 of a unit away from a tie.
const HALF: f32 = 0.500_1;

pub(crate) struct OutputLayers {
    /// Hidden activations, `[perspective][tile][lane]`, and their gradient.
    active: Vec<f32>,
    upstream: Vec<f32>,
    /// Gradient of the penalty on activations by each of them, in the position of the backward pass.
    pub penalty: f32,
    /// Activations are rounded to multiples of 1/unit.
    pub unit: Option<f32>,
    sums: Vec<Vec<f32>>,
    gradients: Vec<Vec<f32>>,
    values: Vec<f32>,
    /// Slopes of the values that a layer passes on, where they are not one for each neuron.
    passed: Vec<f32>,
}

impl OutputLayers {
    pub(crate) fn new(layout: &ParamLayout) -> OutputLayers {
        let further = || layout.dense.iter().map(|[_, outputs]| vec![0.0; *outputs]).collect();
        let width = if layout.is_single_layer() { 0 } else { layout.dense[0][0] };
        OutputLayers {
            active: vec![0.0; width],
            upstream: vec![0.0; width],
            penalty: 0.0,
            unit: None,
            sums: further(),
            gradients: further(),
            values: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Outputs after the first: draw and loss.
    #[inline(always)]
    pub(crate) fn other_outputs(&self) -> &[f32] {
        self.sums.last().map_or(&[], |outputs| &outputs[1..])
    }

    /// Output without piece-square values; the first of a WDL head's.
    #[inline(always)]
    pub(crate) fn output<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        hidden: &[f32],
        (perspectives, positions): (usize, usize),
        i: usize,
        bucket: usize,
    ) -> f32 {
        let (layout, tiles) = (&model.layout, model.layout.hidden_tiles);
        for tile in 0..tiles {
            for perspective in 0..perspectives {
                let sums =
                    tile_of::<T>(hidden, tile, perspectives * positions, perspectives * i + perspective);
                *lanes_mut::<T>(&mut self.active, perspective * tiles + tile) = active::<A, T>(sums);
            }
        }
        if let Some(unit) = self.unit {
            self.active.iter_mut().for_each(|value| *value = (*value * unit + HALF).floor() / unit);
        }
        let architecture = &layout.architecture;
        for (layer, [inputs, outputs]) in layout.dense.iter().copied().enumerate() {
            let start = layout.layer(bucket, layer);
            let (weights, biases) =
                model.parameters[start..start + (inputs + 1) * outputs].split_at(inputs * outputs);
            let values = inputs_of(layer, &self.active, &self.sums, &mut self.values, architecture);
            let rows = weights.chunks_exact(inputs).zip(biases);
            for (sum, (weights, bias)) in self.sums[layer].iter_mut().zip(rows) {
                *sum = bias + dot(values, weights);
            }
        }
        let output = self.sums[layout.dense.len() - 1][0];
        if architecture.skip_neuron { output + self.sums[0][layout.dense[0][1] - 1] } else { output }
    }

    /// Adds the layers' gradient and turns accumulators into theirs. Follows `output` of the same position.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(crate) fn backward<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        hidden: &mut [f32],
        (perspectives, positions): (usize, usize),
        i: usize,
        bucket: usize,
        gradients: &[f32],
        gradient: &mut [f32],
    ) {
        let layout = &model.layout;
        self.backward_further(model, bucket, gradients, gradient);
        if self.penalty > 0.0 {
            self.upstream.iter_mut().for_each(|by_output| *by_output += self.penalty);
        }
        for tile in 0..layout.tiles {
            let tiles = hidden.as_chunks_mut::<T>().0;
            let sums = &mut tiles[(tile * positions + i) * perspectives..][..perspectives];
            if tile >= layout.hidden_tiles {
                backward_values::<T>(layout, tile, bucket, gradients[0], sums);
                continue;
            }
            for (perspective, sums) in sums.iter_mut().enumerate() {
                backward::<A, T>(sums, lanes::<T>(&self.upstream, perspective * layout.hidden_tiles + tile));
            }
        }
    }

    /// Adds the layers' gradient and leaves that of the activations in `upstream`.
    #[inline(always)]
    fn backward_further(&mut self, model: &Model, bucket: usize, gradients: &[f32], gradient: &mut [f32]) {
        let layout = &model.layout;
        let architecture = &layout.architecture;
        let last = layout.dense.len() - 1;
        self.gradients[last].copy_from_slice(gradients);
        for layer in (0..=last).rev() {
            let [inputs, outputs] = layout.dense[layer];
            let start = layout.layer(bucket, layer);
            let weights = &model.parameters[start..start + inputs * outputs];
            let (weight_gradient, bias_gradient) =
                gradient[start..start + (inputs + 1) * outputs].split_at_mut(inputs * outputs);
            let values = inputs_of(layer, &self.active, &self.sums, &mut self.values, architecture);
            let (below, here) = self.gradients.split_at_mut(layer);
            let one_each = layer > 0 && passes_one_each(architecture, layer - 1);
            let upstream = match below.last_mut() {
                None => &mut self.upstream[..],
                Some(below) if one_each => &mut below[..],
                Some(_) => {
                    self.passed.resize(inputs, 0.0);
                    &mut self.passed[..]
                }
            };
            upstream.fill(0.0);
            for (output, by_output) in here[0].iter().copied().enumerate() {
                bias_gradient[output] += by_output;
                let at = output * inputs..(output + 1) * inputs;
                for (gradient, x) in weight_gradient[at.clone()].iter_mut().zip(values) {
                    *gradient += by_output * x;
                }
                for (sum, weight) in upstream.iter_mut().zip(&weights[at]) {
                    *sum += by_output * weight;
                }
            }
            if one_each {
                let inner = architecture.layer_activation(layer - 1);
                for (by_output, sum) in upstream.iter_mut().zip(&self.sums[layer - 1]) {
                    *by_output *= derivative(inner, *sum);
                }
            } else if let Some(below) = below.last_mut() {
                let activation = architecture.layer_activation(layer - 1);
                backward_passed(activation, &self.passed, &self.sums[layer - 1], below);
                if layer == 1 && architecture.skip_neuron {
                    below[layout.dense[0][1] - 1] = gradients[0];
                }
            }
        }
    }
}

/// Inputs of a layer: the hidden activations, or those of the layer below.
#[inline(always)]
fn inputs_of<'a>(
    layer: usize,
    active: &'a [f32],
    sums: &[Vec<f32>],
    values: &'a mut Vec<f32>,
    architecture: &Architecture,
) -> &'a [f32] {
    let Some(below) = layer.checked_sub(1) else { return active };
    let activation = architecture.layer_activation(below);
    let skipped = usize::from(below == 0 && architecture.skip_neuron);
    let sums = &sums[below][..sums[below].len() - skipped];
    values.clear();
    if activation == LayerActivation::Dual {
        values.extend(sums.iter().map(|x| square(*x)));
    }
    values.extend(sums.iter().map(|x| value(activation, *x)));
    values
}

/// Tests whether each neuron of a further layer passes on one value.
#[inline(always)]
fn passes_one_each(architecture: &Architecture, layer: usize) -> bool {
    let skips = layer == 0 && architecture.skip_neuron;
    !skips && architecture.layer_activation(layer).values() == 1
}

/// Gradients of a layer's sums from those of the values that it passes on; the skip neuron passes on none.
#[inline(always)]
fn backward_passed(activation: LayerActivation, passed: &[f32], sums: &[f32], gradients: &mut [f32]) {
    if activation == LayerActivation::Dual {
        let (squares, clipped) = passed.split_at(passed.len() / 2);
        for ((by_output, sum), (of_square, of_clipped)) in
            gradients.iter_mut().zip(sums).zip(squares.iter().zip(clipped))
        {
            let square = if sum.abs() < 1.0 { 2.0 * sum } else { 0.0 };
            *by_output = of_square * square + of_clipped * inside(*sum);
        }
        return;
    }
    for ((by_output, sum), passed) in gradients.iter_mut().zip(sums).zip(passed) {
        *by_output = passed * derivative(activation, *sum);
    }
}

/// min(x², 1); NaN stays NaN.
#[inline(always)]
fn square(sum: f32) -> f32 {
    let square = sum * sum;
    if square > 1.0 { 1.0 } else { square }
}

/// Adds a tile's activations times its output weights to the lane products.
#[inline(always)]
pub(crate) fn weigh<const A: u8, const T: usize>(
    sums: &[f32; T],
    weights: &[f32; T],
    products: &mut [f32; LANES],
) {
    let active = active::<A, T>(sums);
    for lane in 0..T {
        products[lane % LANES] += active[lane] * weights[lane];
    }
}

/// Turns accumulators into their gradient and adds the gradient of the output weights.
#[inline(always)]
pub(crate) fn backward_weights<const A: u8, const T: usize>(
    sums: &mut [f32; T],
    by_output: f32,
    weights: &[f32; T],
    gradient: &mut [f32; T],
) {
    let active = active::<A, T>(sums);
    let mut upstream = [0.0; T];
    for lane in 0..T {
        gradient[lane] += by_output * active[lane];
        upstream[lane] = by_output * weights[lane];
    }
    backward::<A, T>(sums, &upstream);
}

/// [`backward_weights`] with a penalty on each activation.
#[inline(always)]
pub(crate) fn backward_penalised<const A: u8, const T: usize>(
    sums: &mut [f32; T],
    by_output: f32,
    penalty: f32,
    weights: &[f32; T],
    gradient: &mut [f32; T],
) {
    let mut penalised = *sums;
    backward::<A, T>(&mut penalised, &[penalty; T]);
    backward_weights::<A, T>(sums, by_output, weights, gradient);
    add(sums, &penalised);
}

#[inline(always)]
pub(crate) fn backward_values<const T: usize>(
    layout: &ParamLayout,
    tile: usize,
    bucket: usize,
    by_output: f32,
    perspectives: &mut [[f32; T]],
) {
    let share = by_output / perspectives.len() as f32;
    for (sums, share) in perspectives.iter_mut().zip([share, -share]) {
        *sums = [0.0; T];
        if tile == layout.hidden_tiles + bucket / T {
            sums[bucket % T] = share;
        }
    }
}

#[inline(always)]
pub(crate) fn piece_square<const T: usize>(
    layout: &ParamLayout,
    hidden: &[f32],
    (perspectives, positions): (usize, usize),
    i: usize,
    bucket: usize,
) -> f32 {
    if layout.tiles == layout.hidden_tiles {
        return 0.0;
    }
    let tile = layout.hidden_tiles + bucket / T;
    let perspective = |perspective| {
        tile_of::<T>(hidden, tile, perspectives * positions, perspectives * i + perspective)[bucket % T]
    };
    if perspectives == 2 { (perspective(0) - perspective(1)) / 2.0 } else { perspective(0) }
}

/// Activations of a tile; pairwise ones fill its lower half.
#[inline(always)]
fn active<const A: u8, const T: usize>(sums: &[f32; T]) -> [f32; T] {
    let mut active = [0.0; T];
    for lane in 0..T {
        active[lane] = match const { Activation::ALL[A as usize] } {
            Activation::Relu => positive(sums[lane]),
            Activation::Crelu => clipped(sums[lane]),
            Activation::Screlu => screlu(sums[lane]),
            Activation::Pairwise if lane < T / 2 => clipped(sums[lane]) * clipped(sums[lane + T / 2]),
            Activation::Pairwise => 0.0,
        };
    }
    active
}

#[inline(always)]
fn backward<const A: u8, const T: usize>(sums: &mut [f32; T], upstream: &[f32; T]) {
    match const { Activation::ALL[A as usize] } {
        Activation::Relu => backward_by(sums, upstream, above),
        Activation::Crelu => backward_by(sums, upstream, inside),
        Activation::Screlu => backward_by(sums, upstream, rise),
        Activation::Pairwise => {
            for lane in 0..T / 2 {
                let (a, b) = (sums[lane], sums[lane + T / 2]);
                sums[lane] = upstream[lane] * clipped(b) * inside(a);
                sums[lane + T / 2] = upstream[lane] * clipped(a) * inside(b);
            }
        }
    }
}

#[inline(always)]
fn backward_by<const T: usize>(sums: &mut [f32; T], upstream: &[f32; T], derivative: impl Fn(f32) -> f32) {
    for lane in 0..T {
        sums[lane] = upstream[lane] * derivative(sums[lane]);
    }
}

/// Value that a neuron of a further layer passes on; the second one of a dual activation.
#[inline(always)]
fn value(activation: LayerActivation, sum: f32) -> f32 {
    match activation {
        LayerActivation::Relu => positive(sum),
        LayerActivation::Crelu | LayerActivation::Dual => clipped(sum),
        LayerActivation::Screlu => screlu(sum),
    }
}

/// Derivative of [`value`].
#[inline(always)]
fn derivative(activation: LayerActivation, sum: f32) -> f32 {
    match activation {
        LayerActivation::Relu => above(sum),
        LayerActivation::Crelu | LayerActivation::Dual => inside(sum),
        LayerActivation::Screlu => rise(sum),
    }
}

#[inline(always)]
fn screlu(sum: f32) -> f32 {
    clipped(sum) * clipped(sum)
}

/// Derivative of `screlu`.
#[inline(always)]
fn rise(sum: f32) -> f32 {
    2.0 * if sum < 1.0 { clipped(sum) } else { 0.0 }
}

/// Clips to 0..1; NaN stays NaN, so that the loss shows it.
#[inline(always)]
fn clipped(value: f32) -> f32 {
    let value = positive(value);
    if value > 1.0 { 1.0 } else { value }
}

#[inline(always)]
fn positive(value: f32) -> f32 {
    if value < 0.0 { 0.0 } else { value }
}

/// Derivative of `positive`.
#[inline(always)]
fn above(value: f32) -> f32 {
    f32::from(u8::from(value > 0.0))
}

/// Derivative of `clipped`.
#[inline(always)]
fn inside(value: f32) -> f32 {
    if value > 0.0 && value < 1.0 { 1.0 } else { 0.0 }
}

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

#[inline(always)]
pub(crate) fn lanes<const T: usize>(values: &[f32], tile: usize) -> &[f32; T] {
    &values.as_chunks::<T>().0[tile]
}

#[inline(always)]
pub(crate) fn lanes_mut<const T: usize>(values: &mut [f32], tile: usize) -> &mut [f32; T] {
    &mut values.as_chunks_mut::<T>().0[tile]
}

#[inline(always)]
fn tile_of<const T: usize>(
    hidden: &[f32],
    tile: usize,
    perspectives: usize,
    perspective: usize,
) -> &[f32; T] {
    lanes::<T>(hidden, tile * perspectives + perspective)
}
