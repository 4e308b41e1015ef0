//! Kernel launches of the forward pass.

use std::sync::Arc;

use super::address::Address;
use super::driver::{Driver, Kernel, Param};
use super::kernel_args::{LayerArgs, NetArgs, OrderArgs, WindowArgs, pair_numbers, tables};
use super::memory::{DeviceMemory, LARGEST_SLOTS};
use super::memory_plan::{BLOCK, MemoryPlan};
use crate::loss::Loss;
use crate::model::Model;
use crate::position_weight::Measure;
use crate::rounding::output_units;
use crate::target::Target;
use patzer_eval::nnue::network::QA;
use patzer_io::error::Result;

/// Warps per block, and per block of feature extraction.
pub(super) const WARPS: usize = BLOCK / 32;
const EXTRACTING: usize = 4;
/// Perspectives per block of the forward pass, and rows per block of `largest`.
const VIEWS: usize = 128;
const LARGEST_ROWS: usize = 64;
/// Words of a row's bits listed by one lane, and by one warp.
const LANE_WORDS: usize = 4;
const LISTED_WORDS: usize = 128;
/// Threads of the block that scans a window of more than `SCANNED_ROWS` rows.
const SCAN_BLOCK: usize = 1024;
const SCANNED_ROWS: usize = 4096;
/// Positions and outputs per block of the further layers.
pub(super) const LONG: usize = 64;
pub(super) const SHORT: usize = 16;

/// Precision of a forward pass; `Rounded` as the quantised network, in floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    F32,
    I16,
    Rounded,
}

/// Weights that the kernels of a pass read, made by [`Launcher::prepare`].
#[derive(Debug, Clone, Copy)]
pub(super) struct PassWeights {
    pub at: Address,
    pub precision: Precision,
}

macro_rules! params {
    ($($x:expr),* $(,)?) => { &[$(Param::from($x)),*] };
}
pub(super) use params;

pub(super) struct Launcher {
    pub driver: Box<dyn Driver>,
    pub plan: MemoryPlan,
    /// Shared, so that launches can read it while the driver is borrowed.
    pub memory: Arc<DeviceMemory>,
    pub net: NetArgs,
    pub layers: Vec<LayerArgs>,
}

impl Launcher {
    pub(super) fn new(mut driver: Box<dyn Driver>, plan: MemoryPlan, model: &Model) -> Result<Launcher> {
        let memory = Arc::new(DeviceMemory::new(&mut *driver, &plan)?);
        let layout = &plan.layout;
        driver.write(memory.tables, &tables(&layout.architecture))?;
        driver.write(memory.weights, &bytes(&model.parameters))?;
        driver.write(memory.limits, &bytes(&layout.limits()))?;
        if plan.shorts {
            let (mut ends, mut actives, mut end) = (Vec::new(), Vec::new(), 0);
            for set in layout.architecture.features.blocks() {
                end += set.count as u32;
                ends.extend(end.to_le_bytes());
                actives.extend((set.most as u32).to_le_bytes());
            }
            driver.write(memory.ends, &ends)?;
            driver.write(memory.actives, &actives)?;
        }
        if plan.rounds {
            driver.write(memory.output_units, &bytes(&output_units(layout)))?;
        }
        if let Some(weight) = &plan.weight {
            driver.write(memory.points, &bytes(weight.at.as_flattened()))?;
        }
        if plan.has_unbucketed() {
            driver.write(memory.pair_numbers, &pair_numbers())?;
        }
        for vector in &memory.vectors {
            driver.clear(*vector, 4 * layout.len)?;
        }
        if plan.averaged {
            driver.write(memory.average, &bytes(&model.parameters))?;
        }
        if plan.pulled {
            driver.write(memory.start, &bytes(&model.parameters))?;
        }
        let (net, layers) = (NetArgs::new(layout, plan.stride), LayerArgs::all(layout));
        Ok(Launcher { driver, plan, memory, net, layers })
    }

    pub(super) fn launch(&mut self, kernel: Kernel, grid: [usize; 3], params: &[Param]) -> Result<()> {
        self.launch_of(kernel, grid, BLOCK, params)
    }

    pub(super) fn launch_of(
        &mut self,
        kernel: Kernel,
        grid: [usize; 3],
        block: usize,
        params: &[Param],
    ) -> Result<()> {
        self.driver.launch(kernel, grid.map(|size| size as u32), block as u32, params)
    }

    pub(super) fn each(&mut self, kernel: Kernel, count: usize, params: &[Param]) -> Result<()> {
        self.launch(kernel, [count.div_ceil(BLOCK), 1, 1], params)
    }

    pub(super) fn prepare(&mut self, weights: Address, precision: Precision) -> Result<PassWeights> {
        let at = if precision == Precision::Rounded { self.memory.rounded } else { weights };
        match precision {
            Precision::F32 => self.whole_table(weights),
            Precision::I16 => self.shorten(weights),
            Precision::Rounded => {
                let (net, memory, count) = (self.net, self.memory.clone(), self.plan.layout.len);
                let units = memory.output_units;
                let round = params![&net, weights, QA as f32, units, memory.rounded, count as u32];
                self.each(Kernel::RoundParameters, count, round)
            }
        }?;
        Ok(PassWeights { at, precision })
    }

    fn whole_table(&mut self, weights: Address) -> Result<()> {
        let (net, table) = (self.net, self.memory.table);
        match self.plan.layout.factor_rows {
            0 => Ok(()),
            _ => self.each(Kernel::WholeTable, self.plan.layout.bias, params![&net, weights, table]),
        }
    }

    fn shorten(&mut self, weights: Address) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let layout = &self.plan.layout;
        let (rows, tiles) = (layout.rows, layout.tiles);
        let features = layout.architecture.features.blocks().len() as u32;
        self.driver.clear(memory.most, 4 * LARGEST_SLOTS * tiles)?;
        let grid = [rows.div_ceil(LARGEST_ROWS), tiles, 1];
        let chunk = LARGEST_ROWS as u32;
        self.launch(Kernel::Largest, grid, params![&net, weights, memory.ends, chunk, memory.most])?;
        let units = params![&net, memory.most, memory.actives, features, memory.units];
        self.each(Kernel::Units, tiles, units)?;
        let count = self.plan.short_table() / 2;
        let shorten = params![&net, weights, memory.units, memory.shorts, count as u32];
        self.each(Kernel::ToI16, count, shorten)
    }

    pub(super) fn extract(
        &mut self,
        records: Address,
        positions: usize,
        target: Target,
        backward: bool,
    ) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let ((_, cut), bucket_words) = (self.plan.cut(), self.plan.sub_batch.div_ceil(32));
        let layout = &self.plan.layout;
        let (rows, buckets) = (layout.rows, layout.architecture.output_buckets);
        let perspectives = positions * layout.architecture.perspectives;
        let bits = if backward { memory.bits } else { Address::NONE };
        if backward {
            self.driver.clear(memory.bits, 4 * self.plan.in_windows()[0])?;
        }
        if self.plan.layered() {
            self.driver.clear(memory.bucket_bits, 4 * buckets * bucket_words)?;
        }
        let extract = params![
            &net,
            memory.tables,
            records,
            positions as u32,
            target,
            memory.rows,
            memory.counts,
            bits,
            cut.words,
            memory.targets,
            memory.buckets,
            memory.bucket_bits,
            bucket_words as u32,
        ];
        let grid = [perspectives.div_ceil(EXTRACTING), 1, 1];
        self.launch_of(Kernel::Extract, grid, 32 * EXTRACTING, extract)?;
        if self.plan.has_unbucketed() {
            let append = params![
                &net,
                memory.tables,
                memory.pair_numbers,
                records,
                positions as u32,
                memory.rows,
                memory.counts,
                bits,
                cut.words,
            ];
            self.launch_of(Kernel::ExtractUnbucketed, grid, 32 * EXTRACTING, append)?;
        }
        if let Some(weight) = &self.plan.weight {
            let (count, by_pieces) = (weight.at.len() as u32, u32::from(weight.by == Measure::Pieces));
            let weigh =
                params![records, positions as u32, memory.points, count, by_pieces, memory.position_weights];
            self.each(Kernel::Weigh, positions, weigh)?;
        }
        if self.plan.layered() {
            let (bits, counts, starts) = (memory.bucket_bits, memory.bucket_counts, memory.bucket_starts);
            let all = WindowArgs { words: bucket_words as u32, members: 0, items: 0, parts: 0 };
            self.list([bits, counts, starts, memory.order, Address::NONE], 1, all, [buckets, 0])?;
        }
        if backward {
            let lists = [memory.bits, memory.row_counts, memory.starts, memory.members, memory.item_rows];
            self.list(lists, self.plan.windows(perspectives), cut, [rows, perspectives])?;
        }
        Ok(())
    }

    /// Turns bit sets of `count` windows into lists; `sizes` are rows and members of the row of all.
    fn list(
        &mut self,
        memory: [Address; 5],
        count: usize,
        windows: WindowArgs,
        sizes: [usize; 2],
    ) -> Result<()> {
        let [bits, counts, starts, members, items] = memory;
        let ([rows, everybody], words) = (sizes.map(|size| size as u32), windows.words);
        let all_rows = if everybody > 0 { rows + 1 } else { rows };
        // A lane lists four words or more; several warps share long rows.
        let lanes = (words as usize / LANE_WORDS).next_power_of_two().min(32);
        let each = (words as usize / LISTED_WORDS).next_power_of_two().min(WARPS);
        let grid = |rows: usize, sharing: usize| (rows * sharing).div_ceil(BLOCK);
        let lists = count * sizes[0];
        let each_row = params![bits, lists as u32, words, lanes as u32, counts];
        self.launch(Kernel::CountRows, [grid(lists, lanes), 1, 1], each_row)?;
        let scan = params![&windows, counts, rows, everybody, starts];
        let scanning = if sizes[0] > SCANNED_ROWS { SCAN_BLOCK } else { BLOCK };
        self.launch_of(Kernel::ScanRows, [count, 1, 1], scanning, scan)?;
        let list = params![bits, rows, all_rows, words, lanes as u32, each as u32, starts, members, items];
        self.launch(Kernel::ListRows, [grid(all_rows as usize, lanes * each), count, 1], list)
    }

    pub(super) fn order(&self, positions: usize) -> OrderArgs {
        OrderArgs { positions: self.memory.order, starts: self.memory.bucket_starts, count: positions as u32 }
    }

    /// Computes outputs without piece-square values; follows `prepare`.
    pub(super) fn forward(&mut self, weights: PassWeights, positions: usize) -> Result<()> {
        let (net, memory) = (self.net, self.memory.clone());
        let PassWeights { at: weights, precision } = weights;
        let layout = &self.plan.layout;
        let perspectives = positions * layout.architecture.perspectives;
        let (tiles, bias) = (layout.tiles, weights.offset(layout.bias, 4));
        let (rows, counts, hidden) = (memory.rows, memory.counts, memory.hidden);
        let chunks = perspectives.div_ceil(VIEWS);
        if precision == Precision::I16 {
            let grid = [chunks, tiles.div_ceil(2), 1];
            let sums = params![&net, memory.shorts, memory.units, rows, counts, perspectives as u32, hidden];
            self.launch(Kernel::ForwardShorts, grid, sums)?;
        } else {
            let is_whole = precision == Precision::F32 && layout.factor_rows > 0;
            let table = if is_whole { memory.table } else { weights };
            let sums = params![&net, table, bias, rows, counts, perspectives as u32, hidden];
            self.launch(Kernel::ForwardFloats, [chunks, tiles, 1], sums)?;
        }
        if !self.plan.layered() {
            let output = params![&net, weights, hidden, memory.buckets, positions as u32, memory.outputs];
            return self.launch(Kernel::OutputForward, [positions.div_ceil(WARPS), 1, 1], output);
        }
        let order = self.order(positions);
        for at in 0..self.layers.len() {
            let layer = self.layers[at];
            let below = if at == 0 { hidden } else { memory.sums[at - 1] };
            let sums = memory.sums.get(at).copied().unwrap_or(memory.outputs);
            let grid = [self.tiles_of(positions), (layer.outputs as usize).div_ceil(SHORT), 1];
            let kernel = match precision {
                Precision::Rounded if layer.first => Kernel::RoundedForward,
                _ if layer.is_dual => Kernel::DualForward,
                _ => Kernel::DenseForward,
            };
            self.launch(kernel, grid, params![&net, &layer, weights, below, &order, sums])?;
        }
        if self.plan.layout.architecture.skip_neuron {
            let (width, count) = (self.layers[0].outputs, positions as u32);
            let skip = params![memory.sums[0], width, count, memory.outputs];
            self.each(Kernel::SkipForward, positions, skip)?;
        }
        Ok(())
    }

    /// Most tiles if each bucket begins a new one.
    pub(super) fn tiles_of(&self, positions: usize) -> usize {
        positions.div_ceil(LONG) + self.plan.layout.architecture.output_buckets
    }

    pub(super) fn losses(
        &mut self,
        loss: Loss,
        target: Target,
        records: Address,
        positions: usize,
    ) -> Result<()> {
        let (net, memory, groups) = (self.net, self.memory.clone(), positions / loss.group());
        let (hidden, buckets, targets) = (memory.hidden, memory.buckets, memory.targets);
        let (weights, count) = (memory.position_weights, positions as u32);
        let (outputs, values, gradients) = (memory.outputs, memory.values, memory.gradients);
        if loss.wdl_head {
            let losses = params![&loss, target, records, targets, weights, count, outputs, values, gradients];
            self.each(Kernel::WdlLosses, groups, losses)?;
        } else {
            let losses = params![
                &net, &loss, records, hidden, buckets, targets, weights, count, outputs, values, gradients,
            ];
            self.each(Kernel::Losses, groups, losses)?;
        }
        let total = params![memory.values, groups.div_ceil(BLOCK) as u32, memory.total];
        self.launch(Kernel::Total, [1; 3], total)
    }

    pub(super) fn vector(&mut self, at: Address) -> Result<Vec<f32>> {
        let mut bytes = vec![0; 4 * self.plan.layout.len];
        self.driver.read(at, &mut bytes)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

pub(super) fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|x| x.to_le_bytes()).collect()
}
