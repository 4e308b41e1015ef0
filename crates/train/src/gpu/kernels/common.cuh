// What all kernels share: the shape of the network as numbers, and the activations.
//
// Products and sums are rounded one by one, as on the CPU (the compiler is told to fuse none); where a fused product is
// meant, it is written. Floats are never added by atomics: every sum has one order, so that two runs give the same bytes.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void

/// Threads of a warp, and all of them as a mask.
const u32 WARP = 32;
const u32 ALL = 0xffffffffu;

/// The twin of `Net` in net.rs.
struct Net {
    u32 views;        // 1 or 2 for each position
    u32 tile;         // neurons of a tile, 16 or 32
    u32 hidden_tiles; // tiles of neurons
    u32 tiles;        // with those of piece-square values
    u32 rows;         // of the feature table
    u32 features;     // of an input bucket
    u32 factor_rows;  // features that input buckets share, or 0
    u32 activation;   // of the hidden layer: RELU ...
    u32 inner;        // of further layers
    u32 buckets;      // output buckets
    u32 by_phase;     // 1: chosen by phase, 0: by pieces
    u32 sets;         // feature blocks, a bit each, in the order of SETS
    u32 stride;       // places in a view's list of rows
    u32 bias;         // where the hidden layer's biases begin among the parameters
    u32 factor;       // where shared weights begin
    u32 heads;        // where the first output bucket begins
    u32 head;         // parameters of an output bucket
};

/// Where a row's list of members begins, its items of SEGMENT members, and the partial sums of those that have them: what
/// all rows before it in its window take. Behind the last row stands the end. Last, how many members the row has.
struct Starts {
    u32 members, items, parts, count;
};

/// The twin of `Windows` in net.rs. Views are cut into windows, and each has lists of its own: the gradients of one window
/// and tile are so few that the multiprocessor that adds them up can hold them. Where a table has so many rows that most
/// lists would be empty, all views are one window.
struct Windows {
    u32 words;   // of a row's bits in a window, 32 views each
    u32 members; // places for the members of a window, its items and its partial sums
    u32 items;
    u32 parts;
};

/// Members of an item.
const u32 SEGMENT = 64;

enum Activation { RELU, CRELU, SCRELU, PAIRWISE };

/// Clipped below; not a number stays so, for the loss to show it.
__device__ inline float positive(float x) { return x < 0.0f ? 0.0f : x; }

/// Clipped to 0..1.
__device__ inline float clipped(float x) {
    x = positive(x);
    return x > 1.0f ? 1.0f : x;
}

/// 1 where clipping changes nothing.
__device__ inline float inside(float x) { return x > 0.0f && x < 1.0f ? 1.0f : 0.0f; }

/// An activation of one sum; of pairs there is none.
__device__ inline float value(u32 activation, float x) {
    switch (activation) {
    case RELU: return positive(x);
    case CRELU: return clipped(x);
    default: return clipped(x) * clipped(x);
    }
}

/// Its derivative.
__device__ inline float slope_at(u32 activation, float x) {
    switch (activation) {
    case RELU: return x > 0.0f ? 1.0f : 0.0f;
    case CRELU: return inside(x);
    default: return 2.0f * (x < 1.0f ? clipped(x) : 0.0f);
    }
}

/// Where the sums of a view's tile lie: `[tile][view][lane]`. All sums of a part are fewer than 2^30 (plan.rs).
__device__ inline u32 hidden_at(const Net& net, u32 tile, u32 views, u32 view) {
    return (tile * views + view) * net.tile;
}

/// Where the sum lies that an output weight multiplies, given the weight's place `[view][tile][lane]`. There are two views
/// at most, and a tile has 16 or 32 neurons: nothing has to be divided.
__device__ inline u32 neuron_at(const Net& net, u32 positions, u32 position, u32 at) {
    const u32 nth = net.tile == 32 ? at / 32 : at / 16, view = nth >= net.hidden_tiles;
    const u32 tile = view ? nth - net.hidden_tiles : nth;
    return hidden_at(net, tile, net.views * positions, net.views * position + view) + (at & (net.tile - 1));
}

/// What a lane's activation is made of: its sum, and the other factor of a pair. The lanes of the upper half of a tile
/// have no pair.
struct Sums {
    float own, other;
};

/// Those of a lane, given where its own lies.
__device__ inline Sums sums_of(const Net& net, const float* own, u32 lane) {
    const bool two = net.activation == PAIRWISE && lane < net.tile / 2;
    return {*own, two ? own[net.tile / 2] : 0.0f};
}

/// The activation of a lane.
__device__ inline float active(const Net& net, Sums sums, u32 lane) {
    if (net.activation != PAIRWISE) {
        return value(net.activation, sums.own);
    }
    return lane < net.tile / 2 ? clipped(sums.own) * clipped(sums.other) : 0.0f;
}

/// Turns a lane's sum into its gradient, given that of its activation. The thread of a pair's first factor does both, that
/// of the second nothing.
__device__ inline void turn(const Net& net, Sums sums, float* own, u32 lane, float upstream) {
    if (net.activation != PAIRWISE) {
        *own = upstream * slope_at(net.activation, sums.own);
    } else if (lane < net.tile / 2) {
        own[0] = upstream * clipped(sums.other) * inside(sums.own);
        own[net.tile / 2] = upstream * clipped(sums.own) * inside(sums.other);
    }
}

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// The sum over a warp in a fixed order; every lane has it.
__device__ inline float warp_sum(float x) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(ALL, x, step);
    }
    return x;
}

/// The sum over so many lanes side by side, a power of two; each of them has it.
__device__ inline u32 sum_over(u32 lanes, u32 x) {
    for (u32 step = lanes / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(ALL, x, step);
    }
    return x;
}

/// The sum over this lane and those before it among so many.
__device__ inline u32 scan_over(u32 lanes, u32 x) {
    const u32 lane = threadIdx.x % lanes;
    for (u32 step = 1; step < lanes; step *= 2) {
        const u32 before = __shfl_up_sync(ALL, x, step);
        if (lane >= step) {
            x += before;
        }
    }
    return x;
}

/// Threads of a block whose numbers are added up.
const u32 ADDENDS = 256;

/// Adds up a number of each thread of a block, in a fixed order; the sum is the first of `sums`, which is shared.
__device__ inline void add_up(double* sums, double own) {
    const u32 thread = threadIdx.x;
    sums[thread] = own;
    __syncthreads();
    for (u32 step = ADDENDS / 2; step > 0; step /= 2) {
        if (thread < step) {
            sums[thread] += sums[thread + step];
        }
        __syncthreads();
    }
}
