//! The device's memory of a run: what lies where.
//!
//! In: a plan. Out: addresses; those of parts that a network lacks are none.

use super::driver::{Address, Driver};
use super::launch::BLOCK;
use super::memory_plan::{Plan, SQUARES_CHUNK};
use super::records::RECORD;
use patzer_io::error::Result;

/// Blocks of features, and the largest bias behind them, in `largest` of table.cu.
pub const MOST_SETS: usize = 10;

/// Bytes of `Starts` in common.cuh.
pub const START: usize = 16;

/// All addresses.
#[derive(Debug, Clone)]
pub struct Memory {
    /// One number a weight: the weights, their gradient, their limits, what the optimiser remembers, the averaged weights.
    pub weights: Address,
    pub gradient: Address,
    pub limits: Address,
    pub vectors: Vec<Address>,
    pub average: Address,
    /// Sums of squares of the gradient, and what it is multiplied with.
    pub squares: Address,
    pub factor: Address,
    /// The feature table with what is shared, in floats and in 16 bits with a unit a tile, and what units follow from.
    pub table: Address,
    pub shorts: Address,
    pub units: Address,
    pub most: Address,
    pub ends: Address,
    pub actives: Address,
    /// Buckets by king and by pieces or phase.
    pub tables: Address,
    /// Rows of each view and how many; for each window and row its views, as bits and as lists, and its items.
    pub rows: Address,
    pub counts: Address,
    pub bits: Address,
    pub row_counts: Address,
    pub starts: Address,
    pub members: Address,
    pub item_rows: Address,
    pub scattered: Address,
    /// The positions' targets and output buckets, and the positions by bucket.
    pub targets: Address,
    pub buckets: Address,
    pub bucket_bits: Address,
    pub bucket_counts: Address,
    pub bucket_starts: Address,
    pub order: Address,
    /// Sums of the hidden layer, and of each layer behind it but the last, with their gradient.
    pub hidden: Address,
    pub sums: Vec<Address>,
    pub slopes_of: Vec<Address>,
    /// The positions' outputs, the derivatives by them, the losses of a block of them, and the sum of all of a batch.
    pub outputs: Address,
    pub slopes: Address,
    pub values: Address,
    pub total: Address,
    /// Partial sums of the output buckets' gradient.
    pub head_parts: Address,
}

impl Memory {
    /// Allocates everything.
    pub fn new(driver: &mut dyn Driver, plan: &Plan) -> Result<Memory> {
        let (shape, part, views) = (&plan.shape, plan.part, plan.views());
        let layered = plan.layered();
        let buckets = shape.architecture.output_buckets;
        let (bucket_words, windows) = (part.div_ceil(32), plan.cut().0);
        let mut some = |is: bool, elements: usize, size: usize| {
            if is { driver.allocate(elements.max(1) * size) } else { Ok(Address::NONE) }
        };
        let inner = &shape.dense[..shape.dense.len() - 1];
        let layers = |some: &mut dyn FnMut(bool, usize, usize) -> Result<Address>| {
            inner.iter().map(|[_, outputs]| some(true, part * outputs, 4)).collect::<Result<Vec<Address>>>()
        };
        let memory = Memory {
            weights: some(true, shape.len, 4)?,
            gradient: some(true, shape.len, 4)?,
            limits: some(true, shape.len, 4)?,
            vectors: (0..plan.vectors).map(|_| some(true, shape.len, 4)).collect::<Result<_>>()?,
            average: some(plan.averaged, shape.len, 4)?,
            squares: some(true, shape.len.div_ceil(SQUARES_CHUNK), 8)?,
            factor: some(true, 1, 4)?,
            table: some(shape.factor_rows > 0, shape.bias, 4)?,
            shorts: some(plan.shorts, plan.short_table(), 2)?,
            units: some(plan.shorts, shape.tiles, 4)?,
            most: some(plan.shorts, shape.tiles * MOST_SETS, 4)?,
            ends: some(plan.shorts, MOST_SETS, 4)?,
            actives: some(plan.shorts, MOST_SETS, 4)?,
            tables: some(true, 64 + 65, 1)?,
            rows: some(true, views * plan.stride, 2)?,
            counts: some(true, views, 4)?,
            bits: some(true, plan.bits(), 4)?,
            row_counts: some(true, windows * shape.rows, 4)?,
            starts: some(true, windows * (shape.rows + 2), START)?,
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
            head_parts: some(true, plan.head_parts() * plan.heads(), 4)?,
        };
        driver.open(plan.batch.max(part) * RECORD)?;
        Ok(memory)
    }
}
