//! Forward and backward pass over one micro-batch, where CPU training spends its time.
//!
//! - A tile of neurons of one perspective stays in registers while its feature rows are added.
//! - Backwards, (perspective, row) pairs are sorted by row, so that a tile of a gradient row is loaded and
//!   stored once.
//!
//! The loops are inlined into functions for AVX-512, AVX2 and every processor. Every sum has one written order
//! and no product is fused with a sum, so all give the same bits.

use super::TrainItem;
use super::extract::Extractor;
use super::feature_table::{FeatureTable, TILES_PER_PAIR, TileRows};
use super::loss::Loss;
use super::model::Model;
use super::output_layers::{self, OutputLayers};
use super::position_weight::PositionWeight;
use super::vectors::{LANES, Vectors, add};
use super::wdl_loss;
use patzer_eval::nnue::Activation;

/// Positions per micro-batch: one tile of all their perspectives takes 32 KiB, an L1 cache.
pub(crate) const MICRO_BATCH: usize = 128;

pub(crate) struct MicroBatch {
    extractor: Extractor,
    perspectives: usize,
    /// Feature rows, perspective by perspective, and where each perspective's rows end.
    rows: Vec<u16>,
    ends: Vec<u32>,
    /// Targets (expected result for the side to move, 0 to 1) and output buckets.
    targets: Vec<f32>,
    /// Target chances of a draw, for a WDL head.
    draws: Vec<f32>,
    /// Weights of the positions in the loss; empty if all count the same.
    weights: Vec<f32>,
    buckets: Vec<u8>,
    /// Factors from the network's output to the side to move's: 1, or −1 where that is White's and Black is to move.
    signs: Vec<f32>,
    /// Accumulators, `[tile][perspective][lane]`; in the backward pass their gradient.
    hidden: Vec<f32>,
    /// Perspectives sorted by row, rows with the end of their run, and the counts of the counting sort.
    sorted: Vec<u16>,
    runs: Vec<(u16, u32)>,
    counts: Vec<u32>,
    /// Lane products of each output in a single-layer network; the outputs, and the derivatives by them.
    products: Vec<[f32; LANES]>,
    outputs: Vec<f32>,
    gradients: Vec<f32>,
    /// Gradient of the penalty on activations by each of them, in a position of weight 1.
    penalty: f32,
    layers: OutputLayers,
}

pub(crate) enum Task<'a> {
    Loss(Loss),
    /// Adds the gradient of the batch's mean loss, except that of factoriser weights.
    Gradient(Loss, &'a mut [f32]),
    /// Appends the network's outputs for each position; an output of 1 is 400 centipawns.
    Outputs(&'a mut Vec<f32>),
}

impl MicroBatch {
    pub(crate) fn new(model: &Model) -> MicroBatch {
        let layout = &model.layout;
        let perspectives = layout.architecture.perspectives;
        MicroBatch {
            extractor: Extractor::new(&layout.architecture),
            perspectives,
            rows: Vec::new(),
            ends: Vec::new(),
            targets: Vec::with_capacity(MICRO_BATCH),
            draws: Vec::new(),
            weights: Vec::new(),
            buckets: Vec::with_capacity(MICRO_BATCH),
            signs: Vec::with_capacity(MICRO_BATCH),
            hidden: vec![0.0; perspectives * MICRO_BATCH * layout.tiles * layout.tile],
            sorted: Vec::new(),
            runs: Vec::new(),
            counts: vec![0; layout.rows],
            products: vec![[0.0; LANES]; MICRO_BATCH],
            outputs: Vec::with_capacity(MICRO_BATCH),
            gradients: Vec::with_capacity(MICRO_BATCH),
            penalty: 0.0,
            layers: OutputLayers::new(layout),
        }
    }

    /// Rounds the inputs of a further layer to multiples of 1/unit.
    pub(crate) fn round_activations(&mut self, unit: Option<f32>) {
        self.layers.unit = unit;
    }

    pub(crate) fn load(
        &mut self,
        items: &[TrainItem],
        weight: Option<&PositionWeight>,
        target: impl Fn(&TrainItem) -> f32,
    ) {
        self.rows.clear();
        self.ends.clear();
        self.targets.clear();
        self.weights.clear();
        self.buckets.clear();
        self.signs.clear();
        if let Some(weight) = weight {
            self.weights.extend(items.iter().take(MICRO_BATCH).map(|item| weight.weight(item)));
        }
        for item in items.iter().take(MICRO_BATCH) {
            self.extractor.rows(item, &mut self.rows, &mut self.ends);
            self.targets.push(target(item));
            self.buckets.push(self.extractor.bucket(&item.board) as u8);
            self.signs.push(self.extractor.sign(item) as f32);
        }
    }

    /// Loads the target chances of a draw for a WDL head, after [`MicroBatch::load`].
    pub(crate) fn load_draws(&mut self, draws: impl Iterator<Item = f32>) {
        self.draws.clear();
        self.draws.extend(draws.take(MICRO_BATCH));
    }

    /// `table` has factoriser weights added.
    pub(crate) fn run(&mut self, model: &Model, table: FeatureTable<'_>, task: Task<'_>) -> f64 {
        match Vectors::best() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has just been found to have AVX-512.
            Vectors::Avx512 => unsafe { self.run_avx512(model, table, task) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has just been found to have AVX2.
            Vectors::Avx2 => unsafe { self.run_avx2(model, table, task) },
            Vectors::Portable => self.run_portable(model, table, task),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2")]
    fn run_avx512(&mut self, model: &Model, table: FeatureTable<'_>, task: Task<'_>) -> f64 {
        self.run_portable(model, table, task)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&mut self, model: &Model, table: FeatureTable<'_>, task: Task<'_>) -> f64 {
        self.run_portable(model, table, task)
    }

    #[inline(always)]
    fn run_portable(&mut self, model: &Model, table: FeatureTable<'_>, task: Task<'_>) -> f64 {
        use output_layers::{CRELU, PAIRWISE, RELU, SCRELU};
        match (model.layout.tile, model.layout.architecture.activation) {
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
        table: FeatureTable<'_>,
        task: Task<'_>,
    ) -> f64 {
        let (layout, tiles) = (&model.layout, model.layout.tiles);
        self.products.fill([0.0; LANES]);
        match table {
            FeatureTable::F32Table(table) => {
                for tile in 0..tiles {
                    self.forward::<A, T, 1>(model, tile, table.tile::<T>(layout, tile));
                }
            }
            FeatureTable::I16Table(table) => {
                for tile in (0..tiles - tiles % TILES_PER_PAIR).step_by(TILES_PER_PAIR) {
                    let rows = table.tile::<T, TILES_PER_PAIR>(layout, tile);
                    self.forward::<A, T, TILES_PER_PAIR>(model, tile, rows);
                }
                for tile in tiles - tiles % TILES_PER_PAIR..tiles {
                    self.forward::<A, T, 1>(model, tile, table.tile::<T, 1>(layout, tile));
                }
            }
        }
        self.outputs.clear();
        for i in 0..self.targets.len() {
            let output = self.output::<A, T>(model, i);
            self.outputs.push(self.signs[i] * output);
            self.outputs.extend_from_slice(self.layers.other_outputs());
        }
        match task {
            Task::Outputs(outputs) => {
                outputs.extend_from_slice(&self.outputs);
                0.0
            }
            Task::Loss(loss) => self.loss(&loss),
            Task::Gradient(loss, gradient) => {
                let total = self.loss(&loss);
                self.gradients.iter_mut().zip(&self.signs).for_each(|(by_output, sign)| *by_output *= sign);
                self.penalty = loss.penalty(&model.layout.architecture);
                if !model.layout.is_single_layer() {
                    self.backward_layers::<A, T>(model, gradient);
                }
                self.sort();
                self.backward::<A, T>(model, gradient);
                total
            }
        }
    }

    /// Sums the losses of all positions and leaves the derivatives by each output.
    fn loss(&mut self, loss: &Loss) -> f64 {
        let MicroBatch { outputs, targets, draws, weights, gradients, .. } = self;
        match loss.wdl_head {
            true => wdl_loss::all((loss.k, loss.scale), outputs, (targets, draws), weights, gradients),
            false => loss.all(outputs, targets, weights, gradients),
        }
    }

    #[inline(always)]
    fn output<const A: u8, const T: usize>(&mut self, model: &Model, i: usize) -> f32 {
        let (layout, bucket) = (&model.layout, usize::from(self.buckets[i]));
        let perspectives = (self.perspectives, MICRO_BATCH);
        let values = output_layers::piece_square::<T>(layout, &self.hidden, perspectives, i, bucket);
        if layout.is_single_layer() {
            let bias = model.parameters[layout.layer(bucket, 0) + layout.output_size - 1];
            return bias + self.products[i].iter().sum::<f32>() + values;
        }
        self.layers.output::<A, T>(model, &self.hidden, perspectives, i, bucket) + values
    }

    /// Accumulates `W` tiles; in a single-layer network also adds their part of the output.
    #[inline(always)]
    fn forward<const A: u8, const T: usize, const W: usize>(
        &mut self,
        model: &Model,
        tile: usize,
        rows: impl TileRows<T, W>,
    ) {
        let (layout, perspectives) = (&model.layout, self.perspectives);
        let size = perspectives * MICRO_BATCH;
        let hidden = &mut self.hidden.as_chunks_mut::<T>().0[tile * size..][..W * size];
        let mut start = 0;
        for (i, ends) in self.ends.chunks_exact(perspectives).enumerate() {
            let at = if layout.is_single_layer() { layout.layer(usize::from(self.buckets[i]), 0) } else { 0 };
            let weights = model.parameters[at..].as_chunks::<T>().0;
            for (perspective, &end) in ends.iter().enumerate() {
                let sums = rows.sum(&self.rows[start..end as usize]);
                start = end as usize;
                for (place, sums) in sums.iter().enumerate() {
                    hidden[place * size + i * perspectives + perspective] = *sums;
                    if layout.is_single_layer() && tile + place < layout.hidden_tiles {
                        let weights = &weights[perspective * layout.hidden_tiles + tile + place];
                        output_layers::weigh::<A, T>(sums, weights, &mut self.products[i]);
                    }
                }
            }
        }
    }

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
        for (perspective, &end) in self.ends.iter().enumerate() {
            for &row in &self.rows[start..end as usize] {
                let place = &mut self.counts[usize::from(row)];
                self.sorted[*place as usize] = perspective as u16;
                *place += 1;
            }
            start = end as usize;
        }
        for &(row, _) in &self.runs {
            self.counts[usize::from(row)] = 0;
        }
    }

    #[inline(always)]
    fn backward_layers<const A: u8, const T: usize>(&mut self, model: &Model, gradient: &mut [f32]) {
        let perspectives = (self.perspectives, MICRO_BATCH);
        let outputs = model.layout.architecture.outputs();
        for (i, (gradients, &bucket)) in self.gradients.chunks_exact(outputs).zip(&self.buckets).enumerate() {
            // `layers` holds the last position only, so compute each again.
            let bucket = usize::from(bucket);
            self.layers.penalty = penalty_of(&self.weights, self.penalty, i);
            self.layers.output::<A, T>(model, &self.hidden, perspectives, i, bucket);
            self.layers.backward::<A, T>(
                model,
                &mut self.hidden,
                perspectives,
                i,
                bucket,
                gradients,
                gradient,
            );
        }
    }

    #[inline(always)]
    fn backward<const A: u8, const T: usize>(&mut self, model: &Model, gradient: &mut [f32]) {
        let layout = &model.layout;
        let (tables, rest) = gradient.split_at_mut(layout.bias);
        let (biases, outputs_gradient) = rest.split_at_mut(layout.factor - layout.bias);
        let outputs_gradient = &mut outputs_gradient[layout.output_start - layout.factor..];
        let flat = layout.is_single_layer();
        for tile in 0..layout.tiles {
            if flat {
                self.backward_flat::<A, T>(model, tile, outputs_gradient);
            }
            let table = &mut tables.as_chunks_mut::<T>().0[tile * layout.rows..][..layout.rows];
            self.scatter::<T>(tile, table, &mut biases.as_chunks_mut::<T>().0[tile]);
        }
        if flat {
            for (by_output, bucket) in self.gradients.iter().zip(&self.buckets) {
                outputs_gradient[(usize::from(*bucket) + 1) * layout.output_size - 1] += by_output;
            }
        }
    }

    #[inline(always)]
    fn backward_flat<const A: u8, const T: usize>(
        &mut self,
        model: &Model,
        tile: usize,
        outputs_gradient: &mut [f32],
    ) {
        let (layout, perspectives) = (&model.layout, self.perspectives);
        let hidden = &mut self.hidden.as_chunks_mut::<T>().0[tile * perspectives * MICRO_BATCH..]
            [..perspectives * MICRO_BATCH];
        for (i, (hidden, &by_output)) in
            hidden.chunks_exact_mut(perspectives).zip(&self.gradients).enumerate()
        {
            let bucket = usize::from(self.buckets[i]);
            if tile >= layout.hidden_tiles {
                output_layers::backward_values::<T>(layout, tile, bucket, by_output, hidden);
                continue;
            }
            let at = bucket * layout.output_size;
            let weights = &model.parameters[layout.output_start + at..];
            for (perspective, sums) in hidden.iter_mut().enumerate() {
                let place = perspective * layout.hidden_tiles + tile;
                let weights = output_layers::lanes::<T>(weights, place);
                let gradient = output_layers::lanes_mut::<T>(&mut outputs_gradient[at..], place);
                if self.penalty > 0.0 {
                    let penalty = penalty_of(&self.weights, self.penalty, i);
                    output_layers::backward_penalised::<A, T>(sums, by_output, penalty, weights, gradient);
                } else {
                    output_layers::backward_weights::<A, T>(sums, by_output, weights, gradient);
                }
            }
        }
    }

    #[inline(always)]
    fn scatter<const T: usize>(&self, tile: usize, table: &mut [[f32; T]], bias: &mut [f32; T]) {
        let hidden = &self.hidden.as_chunks::<T>().0[tile * self.perspectives * MICRO_BATCH..]
            [..self.perspectives * MICRO_BATCH];
        let mut start = 0;
        for &(row, end) in &self.runs {
            let row = &mut table[usize::from(row)];
            let mut sum = *row;
            for &perspective in &self.sorted[start..end as usize] {
                add(&mut sum, &hidden[usize::from(perspective)]);
            }
            *row = sum;
            start = end as usize;
        }
        let mut sum = *bias;
        for perspective in &hidden[..self.ends.len()] {
            add(&mut sum, perspective);
        }
        *bias = sum;
    }
}

/// Gradient of the penalty on activations in a position.
#[inline(always)]
fn penalty_of(weights: &[f32], penalty: f32, position: usize) -> f32 {
    weights.get(position).map_or(penalty, |weight| weight * penalty)
}

#[cfg(test)]
mod tests;
