//! Launching kernels for the backward pass of a part of a batch, and for a step.
//!
//! In: a part whose losses were taken. Out: its gradient, added to the batch's; then weights that have gone a step on.

use super::driver::{Address, Kernel, Param};
use super::kernel_args::StepNumbers;
use super::launch::{BLOCK, LONG, SHORT, Work, params};
use super::memory_plan::{FLAT_CHUNK, SQUARES_CHUNK};
use patzer_io::error::Result;

/// Threads of a block that has a window for itself, and blocks of that size that any device can take.
const LARGE_BLOCK: usize = 512;
const BUSY: usize = 512;

impl Work {
    /// Forgets the gradient and the loss of the batch before.
    pub fn begin(&mut self) -> Result<()> {
        self.driver.clear(self.memory.gradient, 4 * self.plan.shape.len)?;
        self.driver.clear(self.memory.total, 8)
    }

    /// Adds the gradient of a part.
    pub fn backward(&mut self, positions: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let heads = self.plan.heads();
        let shape = &self.plan.shape;
        let views = positions * shape.architecture.views;
        let (hidden_tiles, tiles, tile) = (shape.hidden_tiles, shape.tiles, shape.tile);
        let head_gradient = memory.gradient.offset(shape.heads, 4);
        let rows = if self.plan.layered() {
            self.backward_layers(positions)?;
            self.plan.splits()
        } else {
            let chunks = positions.div_ceil(FLAT_CHUNK);
            let grid = [chunks, shape.architecture.views * hidden_tiles + 1, 1];
            let count = positions as u32;
            let (weights, hidden, buckets) = (memory.weights, memory.hidden, memory.buckets);
            let flat = params![&net, weights, hidden, buckets, memory.slopes, count, memory.head_parts];
            self.launch(Kernel::FlatBackward, grid, flat)?;
            chunks
        };
        let sums = params![memory.head_parts, rows as u32, heads as u32, head_gradient];
        self.launch(Kernel::SumParts, [heads.div_ceil(32), 1, 1], sums)?;
        if tiles > hidden_tiles {
            let grid = [(views * tile).div_ceil(BLOCK), tiles - hidden_tiles, 1];
            let values = params![&net, memory.buckets, memory.slopes, views as u32, memory.hidden];
            self.launch(Kernel::ValuesBackward, grid, values)?;
        }
        self.scatter(views)
    }

    /// The gradient of the layers behind the hidden one, and of the hidden layer's sums in their place.
    fn backward_layers(&mut self, positions: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let (order, splits) = (self.order(positions), self.plan.splits());
        let buckets = self.plan.shape.architecture.output_buckets;
        for at in (0..self.layers.len()).rev() {
            let layer = self.layers[at];
            let slopes = memory.slopes_of.get(at).copied().unwrap_or(memory.slopes);
            let (below, below_slopes) = match at {
                0 => (memory.hidden, Address::NONE),
                _ => (memory.sums[at - 1], memory.slopes_of[at - 1]),
            };
            let (inputs, outputs) = (layer.inputs as usize, layer.outputs as usize);
            // First the weights' gradient: the other overwrites the hidden layer's sums.
            let grid = [(inputs + 1).div_ceil(LONG), outputs.div_ceil(SHORT), buckets * splits];
            let weights = params![&net, &layer, below, slopes, &order, splits as u32, memory.head_parts];
            self.launch(Kernel::DenseWeights, grid, weights)?;
            let grid = [self.tiles_of(positions), inputs.div_ceil(SHORT), 1];
            let inputs = params![&net, &layer, memory.weights, slopes, &order, below, below_slopes];
            self.launch(Kernel::DenseInputs, grid, inputs)?;
        }
        Ok(())
    }

    /// The gradient of the feature table and of the biases, from that of the hidden layer's sums.
    fn scatter(&mut self, views: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let (rows, tiles, tile) = (self.plan.shape.rows, self.plan.shape.tiles, self.plan.shape.tile);
        let (windows, (_, cut)) = (self.plan.windows(views), self.plan.cut());
        let (starts, gradient, parts) = (memory.starts, memory.gradient, memory.scattered);
        let (hidden, views) = (memory.hidden, views as u32);
        let (members, items) = (memory.members, memory.item_rows);
        // A thread has four neurons. A single window is worked on by all there is, of several each by as few blocks as
        // keep a device busy.
        let blocks_of = |threads: usize| (cut.items as usize).div_ceil(threads / (tile / 4));
        if self.plan.is_cut() {
            let blocks = BUSY.div_ceil(windows * tiles).min(blocks_of(LARGE_BLOCK));
            let all = params![&net, &cut, hidden, views, starts, members, items, gradient, parts];
            self.launch_of(Kernel::ScatterWindows, [blocks * windows, tiles, 1], LARGE_BLOCK, all)?;
        } else {
            let all = params![&net, hidden, views, starts, members, items, gradient, parts];
            self.launch(Kernel::ScatterItems, [blocks_of(BLOCK), tiles, 1], all)?;
        }
        let grid = [(rows + 1).div_ceil(BLOCK / (tile / 4)), tiles, 1];
        self.launch(Kernel::ScatterRows, grid, params![&net, windows as u32, starts, parts, gradient])
    }

    /// When all parts are done: the gradient of what input buckets share.
    pub fn share(&mut self) -> Result<()> {
        let (net, gradient, shape) = (self.net, self.memory.gradient, &self.plan.shape);
        match shape.tiles * shape.factor_rows * shape.tile {
            0 => Ok(()),
            count => self.each(Kernel::Share, count, params![&net, gradient]),
        }
    }

    /// Adds `l2` times the weights to the gradient, and finds what makes it no longer than `longest`, if that is not 0.
    /// Gives the factor's address, or none.
    pub fn shorten(&mut self, l2: f32, longest: f32) -> Result<Address> {
        if l2 == 0.0 && longest == 0.0 {
            return Ok(Address::NONE);
        }
        let (memory, count) = (self.memory.clone(), self.plan.shape.len);
        let blocks = count.div_ceil(SQUARES_CHUNK);
        let chunk = SQUARES_CHUNK as u32;
        let squares = params![memory.weights, l2, count as u32, chunk, memory.gradient, memory.squares];
        self.launch(Kernel::Squares, [blocks, 1, 1], squares)?;
        if longest == 0.0 {
            return Ok(Address::NONE);
        }
        let shortening = params![memory.squares, blocks as u32, longest, memory.factor];
        self.driver.launch(Kernel::Shortening, [1; 3], 1, shortening)?;
        Ok(memory.factor)
    }

    /// A step of any of Adam's kind. Weights are kept within their limits if `limited`.
    pub fn adam(&mut self, step: &StepNumbers, factor: Address, limited: bool) -> Result<()> {
        let memory = self.memory.clone();
        let limits = if limited { memory.limits } else { Address::NONE };
        let (weights, mean, square) = (memory.weights, memory.vectors[0], memory.vectors[1]);
        let adam = params![step, memory.gradient, factor, limits, weights, mean, square];
        self.each(Kernel::Adam, self.plan.shape.len, adam)
    }

    /// A step of plain descent.
    pub fn descend(&mut self, step: &StepNumbers, factor: Address) -> Result<()> {
        let memory = self.memory.clone();
        let (weights, velocity) = (memory.weights, memory.vectors[0]);
        let descend = params![step, memory.gradient, factor, memory.limits, weights, velocity];
        self.each(Kernel::Descend, self.plan.shape.len, descend)
    }

    /// Draws the weights back to the slow ones, which follow them by a share.
    pub fn look_back(&mut self, share: f32) -> Result<()> {
        let (memory, count) = (self.memory.clone(), self.plan.shape.len);
        let look = params![share, memory.limits, memory.weights, memory.vectors[2], count as u32];
        self.each(Kernel::LookBack, count, look)
    }

    /// Lets an average follow the weights; each step keeps a share of it.
    pub fn average(&mut self, keep: f32, average: Address) -> Result<()> {
        let (weights, count) = (self.memory.weights, self.plan.shape.len);
        self.each(Kernel::Average, count, params![keep, weights, average, count as u32])
    }
}
