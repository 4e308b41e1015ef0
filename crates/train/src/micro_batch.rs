//! The network's forward and backward pass over one micro-batch.
//!
//! In: positions as lists of rows with their targets, and the model. Out: the sum of the losses, and the gradient added
//! to a buffer. This is where training spends its time:
//!
//! - A tile of neurons of one view stays in registers while its feature rows are added.
//! - Backwards, the (view, row) pairs of a micro-batch are sorted by row, so that a tile of a gradient row is loaded and
//!   stored once for all views that touch it.
//!
//! One source serves all instruction sets: the loops are inlined into functions compiled for AVX-512, for AVX2 and for
//! every processor. Every sum has one order, written down here, and products are never fused with sums, so all give the
//! same bits; a network depends neither on the processor's vectors nor on the threads.

use super::TrainItem;
use super::extract::Extractor;
use super::feature_table::{ABREAST, Table, Tile};
use super::loss::Loss;
use super::model::Model;
use super::output_layers::{self, Layers};
use patzer_eval::nnue::Activation;

/// Positions in a micro-batch: a tile of all their views takes 32 KiB, a core's nearest cache.
pub const MICRO: usize = 128;

/// Floats that are summed side by side.
pub const LANES: usize = 16;

/// A micro-batch and the memory to work on it.
pub struct Micro {
    extractor: Extractor,
    views: usize,
    /// Rows of the feature table for every view, one view after another, and where each ends.
    rows: Vec<u16>,
    ends: Vec<u32>,
    /// Expected result for the side to move, 0 to 1, and output bucket of each position.
    targets: Vec<f32>,
    buckets: Vec<u8>,
    /// Sums of the hidden layer, `[tile][view][lane]`; backwards, their gradient.
    hidden: Vec<f32>,
    /// Views sorted by row, the rows with where their views end, and the counts to sort by.
    sorted: Vec<u16>,
    runs: Vec<(u16, u32)>,
    counts: Vec<u32>,
    /// What each output sums up, in a network without further layers; the outputs, and the derivatives by them.
    products: Vec<[f32; LANES]>,
    outputs: Vec<f32>,
    slopes: Vec<f32>,
    layers: Layers,
}

/// What to do with a micro-batch.
enum Task<'a> {
    Loss(Loss),
    Gradient(Loss, &'a mut [f32]),
    Outputs(&'a mut Vec<f32>),
}

impl Micro {
    /// Memory for a model's micro-batches.
    pub fn new(model: &Model) -> Micro {
        let shape = &model.shape;
        let views = shape.architecture.views;
        Micro {
            extractor: Extractor::new(&shape.architecture),
            views,
            rows: Vec::new(),
            ends: Vec::new(),
            targets: Vec::with_capacity(MICRO),
            buckets: Vec::with_capacity(MICRO),
            hidden: vec![0.0; views * MICRO * shape.tiles * shape.tile],
            sorted: Vec::new(),
            runs: Vec::new(),
            counts: vec![0; shape.rows],
            products: vec![[0.0; LANES]; MICRO],
            outputs: Vec::with_capacity(MICRO),
            slopes: Vec::with_capacity(MICRO),
            layers: Layers::new(shape),
        }
    }

    /// Takes positions, at most [`MICRO`], with their targets.
    pub fn load(&mut self, items: &[TrainItem], target: impl Fn(&TrainItem) -> f32) {
        self.rows.clear();
        self.ends.clear();
        self.targets.clear();
        self.buckets.clear();
        for item in items.iter().take(MICRO) {
            self.extractor.rows(item, &mut self.rows, &mut self.ends);
            self.targets.push(target(item));
            self.buckets.push(self.extractor.bucket(&item.board) as u8);
        }
    }

    /// The sum of the losses. `table` is the feature table with what is shared.
    pub fn loss(&mut self, model: &Model, table: Table<'_>, loss: Loss) -> f64 {
        self.run(model, table, Task::Loss(loss))
    }

    /// The sum of the losses; adds the gradient of their mean over the batch. That of the shared weights is left to the
    /// caller: it follows from the table's.
    pub fn gradient(&mut self, model: &Model, table: Table<'_>, loss: Loss, gradient: &mut [f32]) -> f64 {
        self.run(model, table, Task::Gradient(loss, gradient))
    }

    /// Appends the network's output for each position; an output of 1 is 400 centipawns.
    pub fn outputs(&mut self, model: &Model, table: Table<'_>, outputs: &mut Vec<f32>) {
        self.run(model, table, Task::Outputs(outputs));
    }

    fn run(&mut self, model: &Model, table: Table<'_>, task: Task<'_>) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { self.run_avx512(model, table, task) };
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.run_avx2(model, table, task) };
        }
        self.run_portable(model, table, task)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2")]
    fn run_avx512(&mut self, model: &Model, table: Table<'_>, task: Task<'_>) -> f64 {
        self.run_portable(model, table, task)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&mut self, model: &Model, table: Table<'_>, task: Task<'_>) -> f64 {
        self.run_portable(model, table, task)
    }

    #[inline(always)]
    fn run_portable(&mut self, model: &Model, table: Table<'_>, task: Task<'_>) -> f64 {
        use output_layers::{CRELU, PAIRWISE, RELU, SCRELU};
        match (model.shape.tile, model.shape.architecture.activation) {
            (32, Activation::Relu) => self.run_tiled::<RELU, 32>(model, table, task),
            (32, Activation::Crelu) => self.run_tiled::<CRELU, 32>(model, table, task),
            (32, Activation::Screlu) => self.run_tiled::<SCRELU, 32>(model, table, task),
            (32, Activation::Pairwise) => self.run_tiled::<PAIRWISE, 32>(model, table, task),
            (_, Activation::Relu) => self.run_tiled::<RELU, 16>(model, table, task),
            (_, Activation::Crelu) => self.run_tiled::<CRELU, 16>(model, table, task),
            (_, Activation::Screlu) => self.run_tiled::<SCRELU, 16>(model, table, task),
            (_, Activation::Pairwise) => self.run_tiled::<PAIRWISE, 16>(model, table, task),
        }
    }

    #[inline(always)]
    fn run_tiled<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        table: Table<'_>,
        task: Task<'_>,
    ) -> f64 {
        let (shape, tiles) = (&model.shape, model.shape.tiles);
        self.products.fill([0.0; LANES]);
        match table {
            Table::Floats(table) => {
                for tile in 0..tiles {
                    self.forward::<A, T, 1>(model, tile, table.tile::<T>(shape, tile));
                }
            }
            Table::Shorts(table) => {
                for tile in (0..tiles - tiles % ABREAST).step_by(ABREAST) {
                    self.forward::<A, T, ABREAST>(model, tile, table.tile::<T, ABREAST>(shape, tile));
                }
                for tile in tiles - tiles % ABREAST..tiles {
                    self.forward::<A, T, 1>(model, tile, table.tile::<T, 1>(shape, tile));
                }
            }
        }
        let count = self.targets.len();
        let mut total = 0.0;
        match task {
            Task::Loss(loss) => {
                self.outputs.clear();
                for i in 0..count {
                    let output = self.output::<A, T>(model, i);
                    self.outputs.push(output);
                }
                total = loss.all(&self.outputs, &self.targets, &mut self.slopes);
            }
            Task::Outputs(outputs) => {
                for i in 0..count {
                    outputs.push(self.output::<A, T>(model, i));
                }
            }
            Task::Gradient(loss, gradient) => {
                self.outputs.clear();
                for i in 0..count {
                    let output = self.output::<A, T>(model, i);
                    self.outputs.push(output);
                }
                total = loss.all(&self.outputs, &self.targets, &mut self.slopes);
                if !model.shape.is_flat() {
                    self.backward_layers::<A, T>(model, gradient);
                }
                self.sort();
                self.backward::<A, T>(model, gradient);
            }
        }
        total
    }

    /// The output of a position whose tiles have all been summed.
    #[inline(always)]
    fn output<const A: u8, const T: usize>(&mut self, model: &Model, i: usize) -> f32 {
        let (shape, bucket) = (&model.shape, usize::from(self.buckets[i]));
        let views = (self.views, MICRO);
        let values = output_layers::piece_square::<T>(shape, &self.hidden, views, i, bucket);
        if shape.is_flat() {
            let bias = model.parameters[shape.layer(bucket, 0) + shape.head - 1];
            return bias + self.products[i].iter().sum::<f32>() + values;
        }
        self.layers.output::<A, T>(model, &self.hidden, views, i, bucket) + values
    }

    /// The sums of `W` tiles of the hidden layer; without further layers also what they add to the output, while they
    /// are in registers.
    #[inline(always)]
    fn forward<const A: u8, const T: usize, const W: usize>(
        &mut self,
        model: &Model,
        tile: usize,
        rows: impl Tile<T, W>,
    ) {
        let (shape, views) = (&model.shape, self.views);
        let size = views * MICRO;
        let hidden = &mut self.hidden.as_chunks_mut::<T>().0[tile * size..][..W * size];
        let mut start = 0;
        for (i, ends) in self.ends.chunks_exact(views).enumerate() {
            let at = if shape.is_flat() { shape.layer(usize::from(self.buckets[i]), 0) } else { 0 };
            let weights = model.parameters[at..].as_chunks::<T>().0;
            for (view, &end) in ends.iter().enumerate() {
                let sums = rows.sum(&self.rows[start..end as usize]);
                start = end as usize;
                for (place, sums) in sums.iter().enumerate() {
                    hidden[place * size + i * views + view] = *sums;
                    if shape.is_flat() && tile + place < shape.hidden_tiles {
                        let weights = &weights[view * shape.hidden_tiles + tile + place];
                        output_layers::weigh::<A, T>(sums, weights, &mut self.products[i]);
                    }
                }
            }
        }
    }

    /// Sorts the views by row, in a stable order.
    #[inline(always)]
    fn sort(&mut self) {
        for &row in &self.rows {
            self.counts[usize::from(row)] += 1;
        }
        self.runs.clear();
        let mut sum = 0;
        for (row, count) in self.counts.iter_mut().enumerate() {
            if *count > 0 {
                let start = sum;
                sum += *count;
                *count = start;
                self.runs.push((row as u16, sum));
            }
        }
        self.sorted.resize(self.rows.len(), 0);
        let mut start = 0;
        for (view, &end) in self.ends.iter().enumerate() {
            for &row in &self.rows[start..end as usize] {
                let place = &mut self.counts[usize::from(row)];
                self.sorted[*place as usize] = view as u16;
                *place += 1;
            }
            start = end as usize;
        }
        for &(row, _) in &self.runs {
            self.counts[usize::from(row)] = 0;
        }
    }

    /// Turns the hidden layer's sums into their gradient where further layers follow, and adds those layers'.
    #[inline(always)]
    fn backward_layers<const A: u8, const T: usize>(&mut self, model: &Model, gradient: &mut [f32]) {
        let views = (self.views, MICRO);
        for (i, (&slope, &bucket)) in self.slopes.iter().zip(&self.buckets).enumerate() {
            // The layers hold the sums of one position; of all but the last they have been overwritten.
            let bucket = usize::from(bucket);
            self.layers.output::<A, T>(model, &self.hidden, views, i, bucket);
            self.layers.backward::<A, T>(model, &mut self.hidden, views, i, bucket, slope, gradient);
        }
    }

    /// Tile by tile: turns the hidden layer's sums into their gradient, and adds it to their rows and to the bias.
    #[inline(always)]
    fn backward<const A: u8, const T: usize>(&mut self, model: &Model, gradient: &mut [f32]) {
        let shape = &model.shape;
        let (tables, rest) = gradient.split_at_mut(shape.bias);
        let (biases, heads) = rest.split_at_mut(shape.factor - shape.bias);
        let heads = &mut heads[shape.heads - shape.factor..];
        let flat = shape.is_flat();
        for tile in 0..shape.tiles {
            if flat {
                self.backward_flat::<A, T>(model, tile, heads);
            }
            let table = &mut tables.as_chunks_mut::<T>().0[tile * shape.rows..][..shape.rows];
            self.scatter::<T>(tile, table, &mut biases.as_chunks_mut::<T>().0[tile]);
        }
        if flat {
            for (slope, bucket) in self.slopes.iter().zip(&self.buckets) {
                heads[(usize::from(*bucket) + 1) * shape.head - 1] += slope;
            }
        }
    }

    /// Turns the sums of a tile into their gradient where the output is the next layer, and adds that layer's.
    #[inline(always)]
    fn backward_flat<const A: u8, const T: usize>(&mut self, model: &Model, tile: usize, heads: &mut [f32]) {
        let (shape, views) = (&model.shape, self.views);
        let hidden = &mut self.hidden.as_chunks_mut::<T>().0[tile * views * MICRO..][..views * MICRO];
        for (i, (hidden, &slope)) in hidden.chunks_exact_mut(views).zip(&self.slopes).enumerate() {
            let bucket = usize::from(self.buckets[i]);
            if tile >= shape.hidden_tiles {
                output_layers::backward_values::<T>(shape, tile, bucket, slope, hidden);
                continue;
            }
            let at = bucket * shape.head;
            let weights = &model.parameters[shape.heads + at..];
            for (view, sums) in hidden.iter_mut().enumerate() {
                let place = view * shape.hidden_tiles + tile;
                let weights = output_layers::lanes::<T>(weights, place);
                output_layers::backward_weights::<A, T>(
                    sums,
                    slope,
                    weights,
                    output_layers::lanes_mut::<T>(&mut heads[at..], place),
                );
            }
        }
    }

    /// Adds the gradient of a tile's sums to its rows and its bias.
    #[inline(always)]
    fn scatter<const T: usize>(&self, tile: usize, table: &mut [[f32; T]], bias: &mut [f32; T]) {
        let hidden = &self.hidden.as_chunks::<T>().0[tile * self.views * MICRO..][..self.views * MICRO];
        let mut start = 0;
        for &(row, end) in &self.runs {
            let row = &mut table[usize::from(row)];
            let mut sum = *row;
            for &view in &self.sorted[start..end as usize] {
                add(&mut sum, &hidden[usize::from(view)]);
            }
            *row = sum;
            start = end as usize;
        }
        let mut sum = *bias;
        for view in &hidden[..self.ends.len()] {
            add(&mut sum, view);
        }
        *bias = sum;
    }
}

/// Adds lane by lane.
#[inline(always)]
pub fn add<const T: usize>(sum: &mut [f32; T], values: &[f32; T]) {
    for lane in 0..T {
        sum[lane] += values[lane];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_table::{Floats, Shorts};
    use crate::tests::{items, shapes};
    use patzer_eval::nnue::Architecture;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn wide_vectors_change_no_bit() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        for architecture in shapes() {
            let model = Model::random(&architecture, false, 3);
            let loss = Loss::squared(1.3, 0.01);
            let mut micro = Micro::new(&model);
            let items = items(MICRO - 1, 4);
            let floats = Floats::of(&model.parameters, &model.shape);
            let mut shorts = Shorts::default();
            shorts.fill(floats, &model.shape);
            for table in [Table::Floats(floats), Table::Shorts(&shorts)] {
                let mut portable = vec![0.0; model.parameters.len()];
                let mut wide = portable.clone();
                micro.load(&items, |item| item.expected());
                let a = micro.run_portable(&model, table, Task::Gradient(loss, &mut portable));
                micro.load(&items, |item| item.expected());
                // SAFETY: the processor has AVX2.
                let b = unsafe { micro.run_avx2(&model, table, Task::Gradient(loss, &mut wide)) };
                assert_eq!(a.to_bits(), b.to_bits(), "{architecture}");
                assert!(
                    portable.iter().zip(&wide).all(|(a, b)| a.to_bits() == b.to_bits()),
                    "{architecture}"
                );
                assert!(portable.iter().any(|g| *g != 0.0));
            }
        }
    }

    #[test]
    fn a_weight_that_is_no_number_shows_in_the_loss() {
        let mut model = Model::random(&Architecture::plain(16), false, 1);
        let start = model.shape.bias;
        model.parameters[start] = f32::NAN;
        let mut micro = Micro::new(&model);
        micro.load(&items(4, 1), |item| item.expected());
        let floats = Floats::of(&model.parameters, &model.shape);
        let mut shorts = Shorts::default();
        shorts.fill(floats, &model.shape);
        for table in [Table::Floats(floats), Table::Shorts(&shorts)] {
            assert!(micro.loss(&model, table, Loss::squared(1.0, 1.0)).is_nan());
        }
    }
}
