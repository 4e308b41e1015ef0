//! The network's forward and backward pass over one micro-batch.
//!
//! In: positions as lists of active features with their targets, and the model. Out: the sum of the losses, and
//! the gradient added to a buffer. This is where training spends its time:
//!
//! - A tile of neurons of one position stays in registers while its feature rows are added.
//! - Backwards, the (position, feature) pairs of a micro-batch are sorted by feature, so that a tile of a gradient
//!   row is loaded and stored once for all positions that touch it.
//!
//! One source serves both instruction sets: the loops are inlined into a function compiled for AVX2 and into one
//! compiled for every processor. Every sum has one order, written down here, and products are never fused with
//! sums, so both give the same bits; a network depends neither on the processor's vectors nor on the threads.

use super::model::Model;
use crate::eval::nnue::features::all::{COUNT, MAX_ACTIVE};

/// Positions in a micro-batch: with 256 neurons their hidden layers take 256 KiB, within a core's cache.
pub const MICRO: usize = 128;

/// Floats that are summed side by side.
const LANES: usize = 16;

/// A micro-batch and the memory to work on it.
pub struct Micro {
    /// Positions in it, at most [`MICRO`].
    count: usize,
    /// Active features, for each position as the side to move sees it, then as the other side does.
    active: Vec<[u16; MAX_ACTIVE]>,
    lengths: Vec<u8>,
    /// Expected result for the side to move, 0 to 1.
    targets: Vec<f32>,
    /// Sums of the hidden layer, `[tile][row][neuron]` with the rows of `active`; backwards, their gradient.
    hidden: Vec<f32>,
    /// Which rows of `hidden` have a feature, feature by feature, and where each feature's begin.
    sorted: Vec<u16>,
    starts: Vec<u32>,
}

/// What the loss needs besides the positions.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// K of the sigmoid.
    pub k: f32,
    /// What the gradient is multiplied with: 1 / positions in the whole batch.
    pub scale: f32,
}

impl Micro {
    /// Memory for a model's micro-batches.
    pub fn new(model: &Model) -> Micro {
        Micro {
            count: 0,
            active: vec![[0; MAX_ACTIVE]; 2 * MICRO],
            lengths: vec![0; 2 * MICRO],
            targets: vec![0.0; MICRO],
            hidden: vec![0.0; 2 * MICRO * model.width()],
            sorted: vec![0; 2 * MICRO * MAX_ACTIVE],
            starts: vec![0; COUNT + 1],
        }
    }

    /// Forgets the positions.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a position: pairs of features (own view, opponent's view) and the target.
    #[inline]
    pub fn push(&mut self, features: impl Iterator<Item = [usize; 2]>, target: f32) {
        let (ours, theirs) = (2 * self.count, 2 * self.count + 1);
        let mut length = 0;
        for [own, other] in features.take(MAX_ACTIVE) {
            self.active[ours][length] = own as u16;
            self.active[theirs][length] = other as u16;
            length += 1;
        }
        self.lengths[ours] = length as u8;
        self.lengths[theirs] = length as u8;
        self.targets[self.count] = target;
        self.count += 1;
    }

    /// The sum of the losses (squared error of the expected result).
    pub fn loss(&mut self, model: &Model, loss: Loss) -> f64 {
        self.run(model, loss, None)
    }

    /// The sum of the losses; adds the gradient of their mean over the batch.
    pub fn gradient(&mut self, model: &Model, loss: Loss, gradient: &mut [f32]) -> f64 {
        self.run(model, loss, Some(gradient))
    }

    /// The network's output for each position; an output of 1 is 400 centipawns.
    pub fn outputs(&mut self, model: &Model) -> Vec<f32> {
        let mut outputs = Vec::with_capacity(self.count);
        match model.tile() {
            64 => self.forward::<64>(model),
            32 => self.forward::<32>(model),
            _ => self.forward::<16>(model),
        }
        for i in 0..self.count {
            outputs.push(match model.tile() {
                64 => self.output::<64>(model, i),
                32 => self.output::<32>(model, i),
                _ => self.output::<16>(model, i),
            });
        }
        outputs
    }

    fn run(&mut self, model: &Model, loss: Loss, gradient: Option<&mut [f32]>) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.run_avx2(model, loss, gradient) };
        }
        self.run_portable(model, loss, gradient)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&mut self, model: &Model, loss: Loss, gradient: Option<&mut [f32]>) -> f64 {
        self.run_portable(model, loss, gradient)
    }

    #[inline(always)]
    fn run_portable(&mut self, model: &Model, loss: Loss, gradient: Option<&mut [f32]>) -> f64 {
        match model.tile() {
            64 => self.run_tiled::<64>(model, loss, gradient),
            32 => self.run_tiled::<32>(model, loss, gradient),
            _ => self.run_tiled::<16>(model, loss, gradient),
        }
    }

    #[inline(always)]
    fn run_tiled<const N: usize>(&mut self, model: &Model, loss: Loss, gradient: Option<&mut [f32]>) -> f64 {
        self.forward::<N>(model);
        let Some(gradient) = gradient else {
            return (0..self.count).map(|i| squared(self.error::<N>(model, loss, i).0)).sum();
        };
        let mut total = 0.0;
        for i in 0..self.count {
            let (error, slope) = self.error::<N>(model, loss, i);
            total += squared(error);
            self.backward_output::<N>(model, 2.0 * error * slope * loss.scale, i, gradient);
        }
        self.sort();
        self.backward::<N>(model, gradient);
        total
    }

    /// The sums of the hidden layer.
    #[inline(always)]
    fn forward<const N: usize>(&mut self, model: &Model) {
        let (tables, rest) = model.parameters.split_at(model.bias_start());
        let (tables, (biases, _)) = (tables.chunks_exact(COUNT * N), rest.as_chunks::<N>());
        for ((table, bias), hidden) in tables.zip(biases).zip(self.hidden.chunks_exact_mut(2 * MICRO * N)) {
            let ((table, _), (hidden, _)) = (table.as_chunks::<N>(), hidden.as_chunks_mut::<N>());
            let rows = self.active.iter().zip(&self.lengths).take(2 * self.count);
            for ((active, &length), hidden) in rows.zip(hidden) {
                let mut sum = *bias;
                for &feature in &active[..usize::from(length)] {
                    add(&mut sum, &table[usize::from(feature)]);
                }
                *hidden = sum;
            }
        }
    }

    /// The network's output for one position, from the sums of its hidden layers.
    #[inline(always)]
    fn output<const N: usize>(&self, model: &Model, i: usize) -> f32 {
        let mut total = [0.0f32; LANES];
        let weights = model.parameters[model.output_start()..].chunks_exact(2 * N);
        for (hidden, weights) in self.hidden.chunks_exact(2 * MICRO * N).zip(weights) {
            let (sums, _) = hidden[2 * N * i..2 * N * (i + 1)].as_chunks::<LANES>();
            let (weights, _) = weights.as_chunks::<LANES>();
            for (sum, weight) in sums.iter().zip(weights) {
                for lane in 0..LANES {
                    let active = clipped(sum[lane]);
                    total[lane] += active * active * weight[lane];
                }
            }
        }
        model.output_bias() + total.iter().sum::<f32>()
    }

    /// Predicted minus expected result, and the derivative of the prediction by the output.
    #[inline(always)]
    fn error<const N: usize>(&self, model: &Model, loss: Loss, i: usize) -> (f32, f32) {
        let predicted = 1.0 / (1.0 + (-loss.k * self.output::<N>(model, i)).exp());
        (predicted - self.targets[i], loss.k * predicted * (1.0 - predicted))
    }

    /// Given the derivative of the loss by a position's output: adds the gradient of the output layer and turns
    /// the position's sums into their gradient.
    #[inline(always)]
    fn backward_output<const N: usize>(&mut self, model: &Model, slope: f32, i: usize, gradient: &mut [f32]) {
        let weights = model.parameters[model.output_start()..].chunks_exact(2 * N);
        let gradients = gradient[model.output_start()..].chunks_exact_mut(2 * N);
        let tiles = self.hidden.chunks_exact_mut(2 * MICRO * N);
        for ((hidden, weights), gradient) in tiles.zip(weights).zip(gradients) {
            let (sums, _) = hidden[2 * N * i..2 * N * (i + 1)].as_chunks_mut::<LANES>();
            let (weights, _) = weights.as_chunks::<LANES>();
            let (gradient, _) = gradient.as_chunks_mut::<LANES>();
            for ((sum, weight), gradient) in sums.iter_mut().zip(weights).zip(gradient) {
                for lane in 0..LANES {
                    let active = clipped(sum[lane]);
                    gradient[lane] += slope * active * active;
                    let inside = if sum[lane] < 1.0 { active } else { 0.0 };
                    sum[lane] = 2.0 * slope * weight[lane] * inside;
                }
            }
        }
        if let Some(bias) = gradient.last_mut() {
            *bias += slope;
        }
    }

    /// Sorts the (row, feature) pairs by feature, rows in order within each (a counting sort).
    #[inline(always)]
    fn sort(&mut self) {
        self.starts.fill(0);
        let rows = 2 * self.count;
        for row in 0..rows {
            for &feature in &self.active[row][..usize::from(self.lengths[row])] {
                self.starts[usize::from(feature)] += 1;
            }
        }
        // Each start becomes the end of its feature's rows; filling from the back makes it the start again.
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        for row in (0..rows).rev() {
            for &feature in &self.active[row][..usize::from(self.lengths[row])] {
                let start = &mut self.starts[usize::from(feature)];
                *start -= 1;
                self.sorted[*start as usize] = row as u16;
            }
        }
    }

    /// Adds the gradient of the hidden layer's sums to the rows of their features and to the bias.
    #[inline(always)]
    fn backward<const N: usize>(&self, model: &Model, gradient: &mut [f32]) {
        let (tables, rest) = gradient.split_at_mut(model.bias_start());
        let (tables, (biases, _)) = (tables.chunks_exact_mut(COUNT * N), rest.as_chunks_mut::<N>());
        for ((table, bias), hidden) in tables.zip(biases).zip(self.hidden.chunks_exact(2 * MICRO * N)) {
            let ((table, _), (hidden, _)) = (table.as_chunks_mut::<N>(), hidden.as_chunks::<N>());
            for (row, ends) in table.iter_mut().zip(self.starts.windows(2)) {
                if ends[0] < ends[1] {
                    let mut sum = *row;
                    for &at in &self.sorted[ends[0] as usize..ends[1] as usize] {
                        add(&mut sum, &hidden[usize::from(at)]);
                    }
                    *row = sum;
                }
            }
            let mut sum = *bias;
            for row in &hidden[..2 * self.count] {
                add(&mut sum, row);
            }
            *bias = sum;
        }
    }
}

#[inline(always)]
fn add<const N: usize>(sum: &mut [f32; N], values: &[f32; N]) {
    for lane in 0..N {
        sum[lane] += values[lane];
    }
}

/// Clipped to 0..1; not a number stays so, for the loss to show it.
#[inline(always)]
fn clipped(value: f32) -> f32 {
    let value = if value < 0.0 { 0.0 } else { value };
    if value > 1.0 { 1.0 } else { value }
}

#[inline(always)]
fn squared(error: f32) -> f64 {
    f64::from(error) * f64::from(error)
}

#[cfg(test)]
mod tests {
    use super::super::cpu::{Target, load};
    use super::super::tests::items;
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn wide_vectors_change_no_bit() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        for hidden in [16, 80] {
            let model = Model::random(hidden, 3);
            let loss = Loss { k: 1.3, scale: 0.01 };
            let mut micro = Micro::new(&model);
            let items = items(MICRO - 1, 4);
            let mut portable = vec![0.0; model.parameters.len()];
            let mut wide = portable.clone();
            load(&mut micro, &items, Target { wdl: 0.5, k: 1.3 });
            let a = micro.run_portable(&model, loss, Some(&mut portable));
            load(&mut micro, &items, Target { wdl: 0.5, k: 1.3 });
            // SAFETY: the processor has AVX2.
            let b = unsafe { micro.run_avx2(&model, loss, Some(&mut wide)) };
            assert_eq!(a.to_bits(), b.to_bits());
            assert!(portable.iter().zip(&wide).all(|(a, b)| a.to_bits() == b.to_bits()));
            assert!(portable.iter().any(|g| *g != 0.0));
        }
    }

    #[test]
    fn a_weight_that_is_no_number_shows_in_the_loss() {
        let mut model = Model::random(16, 1);
        let start = model.bias_start();
        model.parameters[start] = f32::NAN;
        let mut micro = Micro::new(&model);
        load(&mut micro, &items(4, 1), Target { wdl: 0.5, k: 1.0 });
        assert!(micro.loss(&model, Loss { k: 1.0, scale: 1.0 }).is_nan());
    }
}
