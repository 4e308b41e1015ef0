// The feature table as the forward pass reads it: with what input buckets share, in floats or in 16 bits.
//
// In: the parameters. Out: the table. The copy in 16 bits halves what has to be loaded; its units are those of the CPU's
// copy (table.rs), so that both sum the same whole numbers.
#include "common.cuh"

/// 1.5 · 2^23: a float of this size has whole numbers as its lowest bits, rounded to the nearest, ties to even.
const float WHOLE = 12582912.0f;
/// The finest unit is one over this.
const float FINEST = 16384.0f;
const u32 MOST_SETS = 9;

/// A weight with what is shared; `at` counts `[tile][row][lane]`.
__device__ inline float whole_at(const Net& net, const float* parameters, u32 at) {
    const float own = parameters[at];
    if (net.factor_rows == 0) {
        return own;
    }
    const u32 lane = at % net.tile, row = at / net.tile % net.rows, tile = at / net.tile / net.rows;
    return own + parameters[net.factor + (tile * net.factor_rows + row % net.factor_rows) * net.tile + lane];
}

/// Floats with what is shared added. A thread a weight.
KERNEL whole_table(Net net, const float* parameters, float* table) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < net.bias) {
        table[at] = whole_at(net, parameters, at);
    }
}

/// A float that is not negative, as an integer of the same order; not a number is above all numbers.
__device__ inline u32 order_of(float x) { return __float_as_uint(fabsf(x)); }

/// The largest weight of each tile and block of features, and behind them the largest bias. The maximum of integers is
/// the same in whatever order it is taken. Grid: chunks of rows, tiles. `ends`: where each block's features end.
KERNEL largest(Net net, const float* parameters, const u32* ends, u32 chunk, u32* most) {
    __shared__ u32 found[MOST_SETS + 1];
    const u32 tile = blockIdx.y, first = blockIdx.x * chunk, last = min(first + chunk, net.rows);
    if (threadIdx.x <= MOST_SETS) {
        found[threadIdx.x] = 0;
    }
    __syncthreads();
    const u32 slots = blockDim.x / net.tile, slot = threadIdx.x / net.tile, lane = threadIdx.x % net.tile;
    for (u32 row = first + slot; row < last; row += slots) {
        u32 set = 0;
        while (row % net.features >= ends[set]) {
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

/// The unit of each tile: the finest power of two by which no sum leaves 16 bits, rounding included. `actives`: the most
/// features of each block that hold at once. Not a number makes a unit that is none, for the loss to show it.
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
    // A unit that is no number is told by the forward pass; here it must only not crash.
    return (short)__float_as_uint(x * (1.0f / unit) + WHOLE);
}

/// A weight, or behind the last row a bias, of the copy. Tiles that only complete the last pair are zeros.
__device__ inline int short_at(const Net& net, const float* parameters, const float* unit, u32 tile, u32 row, u32 lane) {
    if (tile >= net.tiles) {
        return 0;
    }
    const u32 at = row < net.rows ? (tile * net.rows + row) * net.tile : net.bias + tile * net.tile;
    const float x = row < net.rows ? whole_at(net, parameters, at + lane) : parameters[at + lane];
    return shortened(x, unit[tile]);
}

/// The copy, `[pair of tiles][row][tile of the pair][lane]`, so that a row's loads are 64 or 128 bytes in one go, and the
/// biases behind it. A word is the upper neuron times 2^16 and the lower one, added: so are sums of words. A thread a word.
KERNEL shorten(Net net, const float* parameters, const float* unit, u32* table, u32 count) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) {
        return;
    }
    const u32 row = at / net.tile % (net.rows + 1), pair = at / net.tile / (net.rows + 1);
    const u32 within = 2 * at % (2 * net.tile), tile = 2 * pair + within / net.tile, lane = within % net.tile;
    const int low = short_at(net, parameters, unit, tile, row, lane);
    table[at] = (u32)low + ((u32)short_at(net, parameters, unit, tile, row, lane + 1) << 16);
}
