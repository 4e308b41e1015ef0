//! Launching kernels for a part of a batch.
//!
//! In: the device, its memory, and the shape of the network. Out: the forward pass; what each kernel does says its file.

use std::sync::Arc;

use super::driver::{Address, Driver, Kernel, Param};
use super::memory::{MOST_SETS, Memory};
use super::net::{Layer, LossNumbers, Net, Order, Windows, tables};
use super::plan::Plan;
use crate::loss::{Loss, Target};
use crate::model::Model;
use patzer_io::error::Result;

/// Threads of a block.
pub const BLOCK: usize = 256;
/// Warps of a block, and of a block that extracts features.
pub const WARPS: usize = BLOCK / 32;
const EXTRACTING: usize = 4;
/// Views of a block of the forward pass, and rows of one that looks for the largest weights.
const VIEWS: usize = 128;
const LARGEST_ROWS: usize = 64;
/// Words of a row's bits that a lane lists by itself, and that a warp does.
const LANE_WORDS: usize = 4;
const LISTED_WORDS: usize = 128;
/// Positions and outputs of a block of the further layers.
pub const LONG: usize = 64;
pub const SHORT: usize = 16;

/// Parameters from whatever they are made of.
macro_rules! params {
    ($($x:expr),* $(,)?) => { &[$(Param::from($x)),*] };
}
pub(super) use params;

/// A device with a network on it.
pub struct Work {
    pub driver: Box<dyn Driver>,
    pub plan: Plan,
    /// Shared, so that a launch can read it while the driver is borrowed.
    pub memory: Arc<Memory>,
    pub net: Net,
    pub layers: Vec<Layer>,
}

impl Work {
    /// Puts a network on a device.
    pub fn new(mut driver: Box<dyn Driver>, plan: Plan, model: &Model) -> Result<Work> {
        let memory = Arc::new(Memory::new(&mut *driver, &plan)?);
        let shape = &plan.shape;
        driver.write(memory.tables, &tables(&shape.architecture))?;
        driver.write(memory.weights, &bytes(&model.parameters))?;
        driver.write(memory.limits, &bytes(&shape.limits()))?;
        if plan.shorts {
            let sets = shape.architecture.features.blocks();
            let end = |n: usize| sets[..=n].iter().map(|set| set.count as u32).sum();
            let ends: Vec<u32> = (0..sets.len()).map(end).collect();
            let actives: Vec<u32> = sets.iter().map(|set| set.most as u32).collect();
            driver.write(memory.ends, &integers(&ends))?;
            driver.write(memory.actives, &integers(&actives))?;
        }
        for vector in &memory.vectors {
            driver.clear(*vector, 4 * shape.len)?;
        }
        if plan.averaged {
            driver.write(memory.average, &bytes(&model.parameters))?;
        }
        let (net, layers) = (Net::new(shape, plan.stride), Layer::all(shape));
        Ok(Work { driver, plan, memory, net, layers })
    }

    /// Starts a kernel with blocks of [`BLOCK`] threads.
    pub fn launch(&mut self, kernel: Kernel, grid: [usize; 3], params: &[Param]) -> Result<()> {
        self.launch_of(kernel, grid, BLOCK, params)
    }

    pub fn launch_of(
        &mut self,
        kernel: Kernel,
        grid: [usize; 3],
        block: usize,
        params: &[Param],
    ) -> Result<()> {
        self.driver.launch(kernel, grid.map(|size| size as u32), block as u32, params)
    }

    /// Starts a kernel with a thread for each of so many.
    pub fn each(&mut self, kernel: Kernel, count: usize, params: &[Param]) -> Result<()> {
        self.launch(kernel, [count.div_ceil(BLOCK), 1, 1], params)
    }

    /// Makes the table that the forward pass reads from the weights at an address, in 16 bits or in floats.
    pub fn prepare(&mut self, weights: Address, shorts: bool) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let (rows, tiles, features) = (
            self.plan.shape.rows,
            self.plan.shape.tiles,
            self.plan.shape.architecture.features.blocks().len(),
        );
        if !shorts {
            let floats = self.plan.shape.bias;
            return match self.plan.shape.factor_rows {
                0 => Ok(()),
                _ => self.each(Kernel::WholeTable, floats, params![&net, weights, memory.table]),
            };
        }
        self.driver.clear(memory.most, 4 * MOST_SETS * tiles)?;
        let grid = [rows.div_ceil(LARGEST_ROWS), tiles, 1];
        let chunk = LARGEST_ROWS as u32;
        self.launch(Kernel::Largest, grid, params![&net, weights, memory.ends, chunk, memory.most])?;
        let units = params![&net, memory.most, memory.actives, features as u32, memory.units];
        self.each(Kernel::Units, tiles, units)?;
        let count = self.plan.short_table() / 2;
        let shorten = params![&net, weights, memory.units, memory.shorts, count as u32];
        self.each(Kernel::Shorten, count, shorten)
    }

    /// Finds the rows, targets and buckets of positions; for a backward pass also who has each row.
    pub fn extract(
        &mut self,
        records: Address,
        positions: usize,
        target: Target,
        backward: bool,
    ) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let ((_, cut), bucket_words) = (self.plan.cut(), self.plan.part.div_ceil(32));
        let shape = &self.plan.shape;
        let (rows, buckets) = (shape.rows, shape.architecture.output_buckets);
        let views = positions * shape.architecture.views;
        let bits = if backward { memory.bits } else { Address::NONE };
        if backward {
            self.driver.clear(memory.bits, 4 * self.plan.bits())?;
        }
        if self.plan.layered() {
            self.driver.clear(memory.bucket_bits, 4 * buckets * bucket_words)?;
        }
        let extract = params![
            &net,
            memory.tables,
            records,
            positions as u32,
            target.wdl,
            target.k,
            memory.rows,
            memory.counts,
            bits,
            cut.words,
            memory.targets,
            memory.buckets,
            memory.bucket_bits,
            bucket_words as u32,
        ];
        let grid = [views.div_ceil(EXTRACTING), 1, 1];
        self.launch_of(Kernel::Extract, grid, 32 * EXTRACTING, extract)?;
        if self.plan.layered() {
            let (bits, counts, starts) = (memory.bucket_bits, memory.bucket_counts, memory.bucket_starts);
            let all = Windows { words: bucket_words as u32, members: 0, items: 0, parts: 0 };
            self.list([bits, counts, starts, memory.order, Address::NONE], 1, all, [buckets, 0])?;
        }
        if backward {
            let lists = [memory.bits, memory.row_counts, memory.starts, memory.members, memory.item_rows];
            self.list(lists, self.plan.windows(views), cut, [rows, views])?;
        }
        Ok(())
    }

    /// Makes lists from bits: `[bits, counts, starts, members, item_rows]` of so many windows, `[rows, everybody]`.
    fn list(
        &mut self,
        memory: [Address; 5],
        count: usize,
        windows: Windows,
        sizes: [usize; 2],
    ) -> Result<()> {
        let [bits, counts, starts, members, items] = memory;
        let ([rows, everybody], words) = (sizes.map(|size| size as u32), windows.words);
        let all_rows = if everybody > 0 { rows + 1 } else { rows };
        // A lane has four words or more; of long rows several warps have some each.
        let lanes = (words as usize / LANE_WORDS).next_power_of_two().min(32);
        let each = (words as usize / LISTED_WORDS).next_power_of_two().min(WARPS);
        let grid = |rows: usize, sharing: usize| (rows * sharing).div_ceil(BLOCK);
        let lists = count * sizes[0];
        let each_row = params![bits, lists as u32, words, lanes as u32, counts];
        self.launch(Kernel::CountRows, [grid(lists, lanes), 1, 1], each_row)?;
        self.launch(Kernel::ScanRows, [count, 1, 1], params![&windows, counts, rows, everybody, starts])?;
        let list = params![bits, rows, all_rows, words, lanes as u32, each as u32, starts, members, items];
        self.launch(Kernel::ListRows, [grid(all_rows as usize, lanes * each), count, 1], list)
    }

    /// The positions by output bucket.
    pub fn order(&self, positions: usize) -> Order {
        Order { positions: self.memory.order, starts: self.memory.bucket_starts, count: positions as u32 }
    }

    /// Outputs without piece-square values, from weights whose table was made.
    pub fn forward(&mut self, weights: Address, positions: usize, shorts: bool) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let shape = &self.plan.shape;
        let views = positions * shape.architecture.views;
        let (tiles, bias) = (shape.tiles, weights.offset(shape.bias, 4));
        let (rows, counts, hidden) = (memory.rows, memory.counts, memory.hidden);
        let chunks = views.div_ceil(VIEWS);
        if shorts {
            let grid = [chunks, tiles.div_ceil(2), 1];
            let sums = params![&net, memory.shorts, memory.units, rows, counts, views as u32, hidden];
            self.launch(Kernel::ForwardShorts, grid, sums)?;
        } else {
            let table = if shape.factor_rows > 0 { memory.table } else { weights };
            let sums = params![&net, table, bias, rows, counts, views as u32, hidden];
            self.launch(Kernel::ForwardFloats, [chunks, tiles, 1], sums)?;
        }
        if !self.plan.layered() {
            let output = params![&net, weights, hidden, memory.buckets, positions as u32, memory.outputs];
            return self.launch(Kernel::FlatOutput, [positions.div_ceil(WARPS), 1, 1], output);
        }
        let order = self.order(positions);
        for at in 0..self.layers.len() {
            let layer = self.layers[at];
            let below = if at == 0 { hidden } else { memory.sums[at - 1] };
            let sums = memory.sums.get(at).copied().unwrap_or(memory.outputs);
            let grid = [self.tiles_of(positions), (layer.outputs as usize).div_ceil(SHORT), 1];
            self.launch(Kernel::DenseForward, grid, params![&net, &layer, weights, below, &order, sums])?;
        }
        Ok(())
    }

    /// The most tiles that the positions make when each bucket begins a new one.
    pub fn tiles_of(&self, positions: usize) -> usize {
        positions.div_ceil(LONG) + self.plan.shape.architecture.output_buckets
    }

    /// Adds the losses to the total, and leaves the derivatives by the outputs.
    pub fn losses(&mut self, loss: Loss, positions: usize) -> Result<()> {
        let (net, memory, groups) = (self.net, self.memory.clone(), positions / loss.group());
        let (hidden, buckets, targets) = (memory.hidden, memory.buckets, memory.targets);
        let numbers = LossNumbers::new(loss);
        let losses = params![
            &net,
            &numbers,
            hidden,
            buckets,
            targets,
            positions as u32,
            memory.outputs,
            memory.values,
            memory.slopes,
        ];
        self.each(Kernel::Losses, groups, losses)?;
        self.launch(
            Kernel::Total,
            [1; 3],
            params![memory.values, groups.div_ceil(BLOCK) as u32, memory.total],
        )
    }

    /// A vector of one number a weight.
    pub fn vector(&mut self, at: Address) -> Result<Vec<f32>> {
        let mut bytes = vec![0; 4 * self.plan.shape.len];
        self.driver.read(at, &mut bytes)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

/// Floats as bytes.
pub fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn integers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}
