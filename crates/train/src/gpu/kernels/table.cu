// The feature table of the forward pass, with factoriser weights added, in f32 or 16 bits. The units of the
// 16-bit copy are those of feature_table.rs, so that CPU and GPU sum the same integers.
#include "common.cuh"

/// 1.5 · 2^23: added to a float, it leaves the nearest integer, ties to even, in the lowest bits.
const float WHOLE = 12582912.0f;
/// Reciprocal of the finest unit.
const float FINEST = 16384.0f;
const u32 MOST_SETS = 12;

/// Weight with the factoriser's added; `at` counts `[tile][row][lane]`.
__device__ inline float whole_at(const Net& net, const float* parameters, u32 at) {
    const float own = parameters[at];
    if (net.factor_rows == 0) {
        return own;
    }
    const u32 lane = at % net.tile, row = at / net.tile % net.rows, tile = at / net.tile / net.rows;
    if (row >= net.bucketed_rows) {
        return own;
    }
    return own + parameters[net.factor + (tile * net.factor_rows + row % net.factor_rows) * net.tile + lane];
}

/// Table in f32, one thread per weight.
KERNEL whole_table(Net net, const float* parameters, float* table) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < net.bias) {
        table[at] = whole_at(net, parameters, at);
    }
}

/// Weights of the quantised network, with the factoriser's added to the rows. `unit`: of the feature table;
/// `output_units`: of an output bucket. One thread per parameter.
KERNEL round_parameters(Net net, const float* parameters, float unit, const float* output_units, float* rounded,
                        u32 count) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) {
        return;
    }
    const float x = at < net.bias ? whole_at(net, parameters, at) : parameters[at];
    const float one = at < net.output_start ? unit : output_units[(at - net.output_start) % net.output_size];
    rounded[at] = roundf(x * one) / one;
}

/// Magnitude of a float as an integer of the same order; NaN is above all numbers.
__device__ inline u32 order_of(float x) { return __float_as_uint(fabsf(x)); }

/// Largest weight of each tile and feature block, followed by the largest bias. The maximum of integers does
/// not depend on the order. Grid: chunks of rows, tiles. `ends`: end of each block's features.
KERNEL largest(Net net, const float* parameters, const u32* ends, u32 chunk, u32* most) {
    __shared__ u32 found[MOST_SETS + 1];
    const u32 tile = blockIdx.y, first = blockIdx.x * chunk, last = min(first + chunk, net.rows);
    if (threadIdx.x <= MOST_SETS) {
        found[threadIdx.x] = 0;
    }
    __syncthreads();
    const u32 slots = blockDim.x / net.tile, slot = threadIdx.x / net.tile, lane = threadIdx.x % net.tile;
    for (u32 row = first + slot; row < last; row += slots) {
        const u32 after = row - net.bucketed_rows;
        const u32 feature = row < net.bucketed_rows ? row % net.features : net.features + after;
        u32 set = 0;
        while (feature >= ends[set]) {
            set++;
        }
        const u32 size = order_of(whole_at(net, parameters, (tile * net.rows + row) * net.tile + lane));
        if (size > found[set]) {
            atomicMax(&found[set], size);
        }
    }
    if (first == 0 && slot == 0) {
        atomicMax(&found[MOST_SETS], order_of(parameters[net.bias + tile * net.tile + lane]));
    }
    __syncthreads();
    if (threadIdx.x <= MOST_SETS && found[threadIdx.x] > 0) {
        atomicMax(&most[tile * (MOST_SETS + 1) + threadIdx.x], found[threadIdx.x]);
    }
}

/// Unit of each tile: the finest power of two at which no sum exceeds 16 bits, rounding included. `actives`:
/// most active features of each block. NaN weights make the unit NaN, so that the loss shows it.
KERNEL units(Net net, const u32* most, const u32* actives, u32 sets, float* unit) {
    const u32 tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= net.tiles) {
        return;
    }
    most += tile * (MOST_SETS + 1);
    float sum = __uint_as_float(most[MOST_SETS]);
    u32 terms = 1;
    for (u32 set = 0; set < sets; set++) {
        sum += (float)actives[set] * __uint_as_float(most[set]);
        terms += actives[set];
    }
    const float room = 32767.0f - (float)terms;
    float scale = FINEST;
    while (scale > 1.0f && sum * scale > room) {
        scale /= 2.0f;
    }
    unit[tile] = 1.0f / scale + sum * 0.0f;
}

__device__ inline short shortened(float x, float unit) {
    // The forward pass shows a NaN unit; here it must only not crash.
    return (short)__float_as_uint(x * (1.0f / unit) + WHOLE);
}

/// Weight of the copy, or bias after the last row. Tiles that pad the last pair are zero.
__device__ inline int short_at(const Net& net, const float* parameters, const float* unit, u32 tile, u32 row, u32 lane) {
    if (tile >= net.tiles) {
        return 0;
    }
    const u32 at = row < net.rows ? (tile * net.rows + row) * net.tile : net.bias + tile * net.tile;
    const float x = row < net.rows ? whole_at(net, parameters, at + lane) : parameters[at + lane];
    return shortened(x, unit[tile]);
}

/// The copy, `[pair of tiles][row][tile of the pair][lane]`, so that a row is one load of 64 or 128 bytes,
/// followed by the biases. A word is the upper neuron times 2^16 plus the lower one, and so are sums of
/// words. One thread per word.
KERNEL to_i16(Net net, const float* parameters, const float* unit, u32* table, u32 count) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) {
        return;
    }
    const u32 row = at / net.tile % (net.rows + 1), pair = at / net.tile / (net.rows + 1);
    const u32 within = 2 * at % (2 * net.tile), tile = 2 * pair + within / net.tile, lane = within % net.tile;
    const int low = short_at(net, parameters, unit, tile, row, lane);
    table[at] = (u32)low + ((u32)short_at(net, parameters, unit, tile, row, lane + 1) << 16);
}
