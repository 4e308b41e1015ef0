//! Kernel launches of the backward pass and the optimiser step.

use super::address::Address;
use super::driver::{Kernel, Param};
use super::kernel_args::{LayerArgs, StepArgs};
use super::launch::{LONG, Launcher, PassWeights, Precision, SHORT, WARPS, params};
use super::memory_plan::{BLOCK, OUTPUT_CHUNK, SQUARES_CHUNK};
use crate::loss::Loss;
use patzer_io::error::Result;

/// Threads of a block that owns a window, and enough such blocks to occupy any device.
const LARGE_BLOCK: usize = 512;
const BUSY: usize = 512;

impl Launcher {
    pub(super) fn begin(&mut self) -> Result<()> {
        self.driver.clear(self.memory.gradient, 4 * self.plan.layout.len)?;
        self.driver.clear(self.memory.total, 8)
    }

    pub(super) fn backward(&mut self, weights: PassWeights, loss: Loss, positions: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let outputs = self.plan.output_params();
        let layout = &self.plan.layout;
        let perspectives = positions * layout.architecture.perspectives;
        let (hidden_tiles, tiles, tile) = (layout.hidden_tiles, layout.tiles, layout.tile);
        let by_output = memory.gradient.offset(layout.output_start, 4);
        let penalty = loss.penalty(&layout.architecture);
        let rows = if self.plan.layered() {
            self.backward_layers(weights, penalty, positions)?;
            self.plan.splits()
        } else {
            let chunks = positions.div_ceil(OUTPUT_CHUNK);
            let grid = [chunks, layout.architecture.perspectives * hidden_tiles + 1, 1];
            let count = positions as u32;
            let (weights, hidden, buckets) = (weights.at, memory.hidden, memory.buckets);
            let parts = memory.output_partials;
            let of_positions = self.penalty_weights(penalty);
            let flat = params![
                &net,
                penalty,
                of_positions,
                weights,
                hidden,
                buckets,
                memory.gradients,
                count,
                parts,
            ];
            self.launch(Kernel::OutputBackward, grid, flat)?;
            chunks
        };
        let sums = params![memory.output_partials, rows as u32, outputs as u32, by_output];
        self.launch(Kernel::SumParts, [outputs.div_ceil(32), 1, 1], sums)?;
        if tiles > hidden_tiles {
            let grid = [(perspectives * tile).div_ceil(BLOCK), tiles - hidden_tiles, 1];
            let values = params![&net, memory.buckets, memory.gradients, perspectives as u32, memory.hidden];
            self.launch(Kernel::ValuesBackward, grid, values)?;
        }
        self.scatter(perspectives)
    }

    fn backward_layers(&mut self, weights: PassWeights, penalty: f32, positions: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let (order, splits) = (self.order(positions), self.plan.splits());
        let buckets = self.plan.layout.architecture.output_buckets;
        if self.plan.layout.architecture.skip_neuron {
            let (width, count) = (self.layers[0].outputs, positions as u32);
            let skip = params![memory.gradients, width, count, memory.gradients_of[0]];
            self.each(Kernel::SkipBackward, positions, skip)?;
        }
        for at in (0..self.layers.len()).rev() {
            let layer = LayerArgs { penalty, ..self.layers[at] };
            let gradients = memory.gradients_of.get(at).copied().unwrap_or(memory.gradients);
            let (below, below_gradients) = match at {
                0 => (memory.hidden, Address::NONE),
                _ => (memory.sums[at - 1], memory.gradients_of[at - 1]),
            };
            let (inputs, outputs) = (layer.inputs as usize, layer.outputs as usize);
            let (of_weights, of_inputs) = match weights.precision {
                Precision::Rounded if layer.first => (Kernel::RoundedWeights, Kernel::DenseInputs),
                _ if layer.is_dual => (Kernel::DualWeights, Kernel::DualInputs),
                _ => (Kernel::DenseWeights, Kernel::DenseInputs),
            };
            // Weights first: the inputs' gradient overwrites the accumulators.
            let grid = [(inputs + 1).div_ceil(LONG), outputs.div_ceil(SHORT), buckets * splits];
            let split =
                params![&net, &layer, below, gradients, &order, splits as u32, memory.output_partials];
            self.launch(of_weights, grid, split)?;
            let grid = [self.tiles_of(positions), (layer.passed as usize).div_ceil(SHORT), 1];
            if layer.is_dual {
                let inputs = params![&net, &layer, weights.at, gradients, &order, below, below_gradients];
                self.launch(of_inputs, grid, inputs)?;
                continue;
            }
            let of_positions = self.penalty_weights(penalty);
            let inputs =
                params![&net, &layer, weights.at, gradients, &order, of_positions, below, below_gradients];
            self.launch(of_inputs, grid, inputs)?;
        }
        Ok(())
    }

    /// Weights of the positions for a penalty on activations; null where all are 1 or nothing is penalised.
    fn penalty_weights(&self, penalty: f32) -> Address {
        if penalty > 0.0 { self.memory.position_weights } else { Address::NONE }
    }

    fn scatter(&mut self, perspectives: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let (rows, tiles, tile) = (self.plan.layout.rows, self.plan.layout.tiles, self.plan.layout.tile);
        let (windows, (_, cut)) = (self.plan.windows(perspectives), self.plan.cut());
        let (starts, gradient, parts) = (memory.starts, memory.gradient, memory.scattered);
        let (hidden, perspectives) = (memory.hidden, perspectives as u32);
        let (members, items) = (memory.members, memory.item_rows);
        // A thread handles four neurons. A single window gets all blocks, several as few as keep a device busy.
        let blocks_of = |threads: usize| (cut.items as usize).div_ceil(threads / (tile / 4));
        if self.plan.is_windowed() {
            let blocks = BUSY.div_ceil(windows * tiles).min(blocks_of(LARGE_BLOCK));
            let all = params![&net, &cut, hidden, perspectives, starts, members, items, gradient, parts];
            self.launch_of(Kernel::ScatterWindows, [blocks * windows, tiles, 1], LARGE_BLOCK, all)?;
        } else {
            let all = params![&net, hidden, perspectives, starts, members, items, gradient, parts];
            self.launch(Kernel::ScatterItems, [blocks_of(BLOCK), tiles, 1], all)?;
        }
        // Where a row has a window for each warp of a block, they share it.
        let sharers = if windows >= WARPS { WARPS } else { 1 };
        let grid = [((rows + 1) * sharers).div_ceil(BLOCK / (tile / 4)), tiles, 1];
        let sums = params![&net, windows as u32, sharers as u32, starts, parts, gradient];
        self.launch(Kernel::ScatterRows, grid, sums)
    }

    pub(super) fn share(&mut self) -> Result<()> {
        let (net, gradient, layout) = (self.net, self.memory.gradient, &self.plan.layout);
        match layout.tiles * layout.factor_rows * layout.tile {
            0 => Ok(()),
            count => self.each(Kernel::Share, count, params![&net, gradient]),
        }
    }

    /// Adds L2 to the gradient and computes the factor that clips its norm to `longest`; null if that is 0.
    pub(super) fn clip_gradient(&mut self, l2: f32, longest: f32) -> Result<Address> {
        if l2 == 0.0 && longest == 0.0 {
            return Ok(Address::NONE);
        }
        let (memory, count) = (self.memory.clone(), self.plan.layout.len);
        let blocks = count.div_ceil(SQUARES_CHUNK);
        let chunk = SQUARES_CHUNK as u32;
        let squares = params![memory.weights, l2, count as u32, chunk, memory.gradient, memory.squares];
        self.launch(Kernel::Squares, [blocks, 1, 1], squares)?;
        if longest == 0.0 {
            return Ok(Address::NONE);
        }
        let clip_factor = params![memory.squares, blocks as u32, longest, memory.factor];
        self.driver.launch(Kernel::ClipFactor, [1; 3], 1, clip_factor)?;
        Ok(memory.factor)
    }

    pub(super) fn adam(&mut self, step: &StepArgs, factor: Address, limited: bool) -> Result<()> {
        let memory = self.memory.clone();
        let limits = if limited { memory.limits } else { Address::NONE };
        let (weights, mean, square) = (memory.weights, memory.vectors[0], memory.vectors[1]);
        let adam = params![step, memory.gradient, factor, limits, weights, mean, square];
        self.each(Kernel::Adam, self.plan.layout.len, adam)
    }

    pub(super) fn descend(&mut self, step: &StepArgs, factor: Address) -> Result<()> {
        let memory = self.memory.clone();
        let (weights, velocity) = (memory.weights, memory.vectors[0]);
        let descend = params![step, memory.gradient, factor, memory.limits, weights, velocity];
        self.each(Kernel::Descend, self.plan.layout.len, descend)
    }

    pub(super) fn look_back(&mut self, share: f32) -> Result<()> {
        let (memory, count) = (self.memory.clone(), self.plan.layout.len);
        let look = params![share, memory.limits, memory.weights, memory.vectors[2], count as u32];
        self.each(Kernel::LookBack, count, look)
    }

    /// Keeps a share of `vector` and takes the rest from `other`.
    pub(super) fn mix(&mut self, keep: f32, vector: Address, other: Address) -> Result<()> {
        let count = self.plan.layout.len;
        self.each(Kernel::Average, count, params![keep, other, vector, count as u32])
    }
}
