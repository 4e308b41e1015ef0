//! Device buffers of a run; those a network does not need are null.

use super::driver::{Address, Driver};
use super::launch::BLOCK;
use super::memory_plan::{MemoryPlan, SQUARES_CHUNK};
use super::records::RECORD;
use patzer_io::error::Result;

/// Feature blocks plus the biases, in `largest` of table.cu.
pub const LARGEST_SLOTS: usize = 10;

/// Bytes of `Starts` in common.cuh.
pub const START: usize = 16;

#[derive(Debug, Clone)]
pub struct DeviceMemory {
    /// Per weight: weights, gradient, limits, optimiser moments, average.
    pub weights: Address,
    pub gradient: Address,
    pub limits: Address,
    pub vectors: Vec<Address>,
    pub average: Address,
    /// Sums of squared gradients, and the clipping factor.
    pub squares: Address,
    pub factor: Address,
    /// Feature table with factoriser weights, in f32 and in 16 bits with a unit per tile, and the inputs of
    /// the units.
    pub table: Address,
    pub shorts: Address,
    pub units: Address,
    pub most: Address,
    pub ends: Address,
    pub actives: Address,
    /// King buckets by square and output buckets by piece count or phase.
    pub tables: Address,
    /// Row lists of perspectives with their lengths; per window and row its perspectives as bits and as a
    /// list, and its items.
    pub rows: Address,
    pub counts: Address,
    pub bits: Address,
    pub row_counts: Address,
    pub starts: Address,
    pub members: Address,
    pub item_rows: Address,
    pub scattered: Address,
    /// Targets and output buckets of positions, and positions by bucket.
    pub targets: Address,
    pub buckets: Address,
    pub bucket_bits: Address,
    pub bucket_counts: Address,
    pub bucket_starts: Address,
    pub order: Address,
    /// Accumulators, and the sums of inner layers with their gradient.
    pub hidden: Address,
    pub sums: Vec<Address>,
    pub slopes_of: Vec<Address>,
    /// Outputs, derivatives by them, losses per block, and the batch's total.
    pub outputs: Address,
    pub slopes: Address,
    pub values: Address,
    pub total: Address,
    /// Partial sums of the output gradient.
    pub output_partials: Address,
}

impl DeviceMemory {
    pub fn new(driver: &mut dyn Driver, plan: &MemoryPlan) -> Result<DeviceMemory> {
        let (layout, part, views) = (&plan.layout, plan.sub_batch, plan.views());
        let layered = plan.layered();
        let buckets = layout.architecture.output_buckets;
        let (bucket_words, windows) = (part.div_ceil(32), plan.cut().0);
        let mut some = |is: bool, elements: usize, size: usize| {
            if is { driver.allocate(elements.max(1) * size) } else { Ok(Address::NONE) }
        };
        let inner = &layout.dense[..layout.dense.len() - 1];
        let layers = |some: &mut dyn FnMut(bool, usize, usize) -> Result<Address>| {
            inner.iter().map(|[_, outputs]| some(true, part * outputs, 4)).collect::<Result<Vec<Address>>>()
        };
        let memory = DeviceMemory {
            weights: some(true, layout.len, 4)?,
            gradient: some(true, layout.len, 4)?,
            limits: some(true, layout.len, 4)?,
            vectors: (0..plan.vectors).map(|_| some(true, layout.len, 4)).collect::<Result<_>>()?,
            average: some(plan.averaged, layout.len, 4)?,
            squares: some(true, layout.len.div_ceil(SQUARES_CHUNK), 8)?,
            factor: some(true, 1, 4)?,
            table: some(layout.factor_rows > 0, layout.bias, 4)?,
            shorts: some(plan.shorts, plan.short_table(), 2)?,
            units: some(plan.shorts, layout.tiles, 4)?,
            most: some(plan.shorts, layout.tiles * LARGEST_SLOTS, 4)?,
            ends: some(plan.shorts, LARGEST_SLOTS, 4)?,
            actives: some(plan.shorts, LARGEST_SLOTS, 4)?,
            tables: some(true, 64 + 65, 1)?,
            rows: some(true, views * plan.stride, 2)?,
            counts: some(true, views, 4)?,
            bits: some(true, plan.bits(), 4)?,
            row_counts: some(true, windows * layout.rows, 4)?,
            starts: some(true, windows * (layout.rows + 2), START)?,
            members: some(true, plan.members(), 4)?,
            item_rows: some(true, plan.items(), 4)?,
            scattered: some(true, plan.scattered() * plan.width(), 4)?,
            targets: some(true, part, 4)?,
            buckets: some(true, part, 1)?,
            bucket_bits: some(layered, buckets * bucket_words, 4)?,
            bucket_counts: some(layered, buckets, 4)?,
            bucket_starts: some(layered, buckets + 1, START)?,
            order: some(layered, part, 4)?,
            hidden: some(true, views * plan.width(), 4)?,
            sums: layers(&mut some)?,
            slopes_of: layers(&mut some)?,
            outputs: some(true, part, 4)?,
            slopes: some(true, part, 4)?,
            values: some(true, part.div_ceil(BLOCK), 8)?,
            total: some(true, 1, 8)?,
            output_partials: some(true, plan.output_partials() * plan.output_params(), 4)?,
        };
        driver.open(plan.batch.max(part) * RECORD)?;
        Ok(memory)
    }
}
