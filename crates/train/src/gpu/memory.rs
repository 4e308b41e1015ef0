//! Device buffers of a run; those a network does not need are null.

use super::address::Address;
use super::driver::Driver;
use super::kernel_args::PAIR_NUMBERS;
use super::memory_plan::{BLOCK, MemoryPlan, SQUARES_CHUNK};
use super::records::RECORD;
use patzer_io::error::Result;

/// Feature blocks plus the biases, in `largest` of table.cu.
pub(super) const LARGEST_SLOTS: usize = 13;

/// Bytes of `Starts` in common.cuh.
pub(super) const START: usize = 16;

/// Declares [`DeviceMemory`] and its allocation: elements and bytes of each, null where the condition fails.
macro_rules! device_memory {
    (|$plan:ident, $layout:ident| $($name:ident: $count:expr, $size:expr $(, if $is:expr)?;)*) => {
        #[derive(Debug, Clone)]
        pub(super) struct DeviceMemory {
            $(pub $name: Address,)*
            /// Optimiser moments per weight.
            pub vectors: Vec<Address>,
            /// Sums of inner layers with their gradient.
            pub sums: Vec<Address>,
            pub gradients_of: Vec<Address>,
        }

        impl DeviceMemory {
            pub(super) fn new(driver: &mut dyn Driver, $plan: &MemoryPlan) -> Result<DeviceMemory> {
                let $layout = &$plan.layout;
                $(let $name = match true $(&& $is)? {
                    true => driver.allocate(($count).max(1) * $size)?,
                    false => Address::NONE,
                };)*
                let mut all = |counts: Vec<usize>| -> Result<Vec<Address>> {
                    counts.into_iter().map(|count| driver.allocate(4 * count)).collect()
                };
                let vectors = all(vec![$layout.len; $plan.vectors])?;
                let inner = || $layout.inner().iter().map(|[_, outputs]| $plan.sub_batch * outputs).collect();
                let (sums, gradients_of) = (all(inner())?, all(inner())?);
                driver.open($plan.batch.max($plan.sub_batch) * RECORD)?;
                Ok(DeviceMemory { $($name,)* vectors, sums, gradients_of })
            }
        }
    };
}

device_memory! { |plan, layout|
    // Per weight.
    weights: layout.len, 4;
    gradient: layout.len, 4;
    limits: layout.len, 4;
    average: layout.len, 4, if plan.averaged;
    start: layout.len, 4, if plan.pulled;
    // Sums of squared gradients, and the clipping factor.
    squares: layout.len.div_ceil(SQUARES_CHUNK), 8;
    factor: 1, 4;
    // Feature table with factoriser weights, in f32 and in 16 bits with a unit per tile, and the inputs of the units.
    table: layout.bias, 4, if layout.factor_rows > 0;
    shorts: plan.short_table(), 2, if plan.shorts;
    units: layout.tiles, 4, if plan.shorts;
    most: layout.tiles * LARGEST_SLOTS, 4, if plan.shorts;
    ends: LARGEST_SLOTS, 4, if plan.shorts;
    actives: LARGEST_SLOTS, 4, if plan.shorts;
    // Weights of the quantised network, and the units of an output bucket.
    rounded: layout.len, 4, if plan.rounds;
    output_units: layout.output_size, 4, if plan.rounds;
    // King buckets by square and output buckets by piece count or phase.
    tables: 64 + 65, 1;
    // Numbers of pawn pairs and threats.
    pair_numbers: PAIR_NUMBERS, 1, if plan.has_unbucketed();
    // Row lists of perspectives with their lengths; per window and row its perspectives, and its items.
    rows: plan.perspectives() * plan.stride, 2;
    counts: plan.perspectives(), 4;
    bits: plan.in_windows()[0], 4;
    row_counts: plan.cut().0 * layout.rows, 4;
    starts: plan.cut().0 * (layout.rows + 2), START;
    members: plan.in_windows()[1], 4;
    item_rows: plan.in_windows()[2], 4;
    scattered: plan.in_windows()[3] * plan.width(), 4;
    // Points of the positions' weights, and the weights.
    points: plan.weight.as_ref().map_or(0, |weight| weight.at.len()), 8, if plan.weight.is_some();
    position_weights: plan.sub_batch, 4, if plan.weight.is_some();
    // Targets and output buckets of positions, and positions by bucket.
    targets: plan.sub_batch, 4;
    buckets: plan.sub_batch, 1;
    bucket_bits: layout.architecture.output_buckets * plan.sub_batch.div_ceil(32), 4, if plan.layered();
    bucket_counts: layout.architecture.output_buckets, 4, if plan.layered();
    bucket_starts: layout.architecture.output_buckets + 1, START, if plan.layered();
    order: plan.sub_batch, 4, if plan.layered();
    hidden: plan.perspectives() * plan.width(), 4;
    // Outputs, derivatives by them, losses per block, and the batch's total.
    outputs: plan.sub_batch * layout.architecture.outputs(), 4;
    gradients: plan.sub_batch * layout.architecture.outputs(), 4;
    values: plan.sub_batch.div_ceil(BLOCK), 8;
    total: 1, 8;
    output_partials: plan.output_partials() * plan.output_params(), 4;
}
