// Network sizes, activations and sums shared by all kernels.
//
// Products and sums are rounded one by one, as on the CPU (the compiler fuses none; fused products are
// written as such). Floats are never added by atomics: every sum has one order, so two runs give the same
// bytes.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void

/// Threads of a warp, and the mask of all of them.
const u32 WARP = 32;
const u32 ALL = 0xffffffffu;

/// `Net` of kernel_args.rs.
struct Net {
    u32 views;        // 1 or 2 for each position
    u32 white_view;   // 1: the view is White's, and so is the score that is the output
    u32 tile;         // neurons of a tile, 16 or 32
    u32 hidden_tiles; // tiles of neurons
    u32 tiles;        // with piece-square tiles
    u32 rows;         // of the feature table
    u32 features;     // of an input bucket, with rows of its own
    u32 bucketed_rows; // of all input buckets; the rows after them are shared
    u32 factor_rows;  // rows of the factoriser, or 0
    u32 activation;   // of the hidden layer: RELU ...
    u32 buckets;      // output buckets
    u32 by_phase;     // 1: chosen by phase, 0: by pieces
    u32 sets;         // feature blocks, a bit each, in the order of SETS
    u32 stride;       // capacity of a perspective's row list
    u32 bias;         // offset of the biases among the parameters
    u32 factor;       // offset of the factoriser
    u32 output_start;        // offset of the first output bucket
    u32 output_size;         // parameters of an output bucket
};

/// Offsets of a row's members, of its items of SEGMENT members, and of the partial sums of rows that need
/// them, after all earlier rows of its window. An entry after the last row marks the end. `count` is the
/// row's number of members.
struct Starts {
    u32 members, items, parts, count;
};

/// `Windows` of kernel_args.rs. Perspectives are split into windows with their own lists: the gradients of
/// one window and tile fit the multiprocessor that adds them up. Tables with so many rows that most lists
/// would be empty use a single window.
struct Windows {
    u32 words;   // of a row's bits in a window, 32 views each
    u32 members; // places for the members of a window, its items and its partial sums
    u32 items;
    u32 parts;
};

/// Members of an item.
const u32 SEGMENT = 64;

enum Activation { RELU, CRELU, SCRELU, PAIRWISE };

/// Value and derivative of an activation that the kernels do not know: NaN, so that the loss shows it.
const float UNKNOWN = 0.0f / 0.0f;

/// Clips below; NaN stays NaN, so that the loss shows it.
__device__ inline float positive(float x) { return x < 0.0f ? 0.0f : x; }

/// Clips to 0..1.
__device__ inline float clipped(float x) {
    x = positive(x);
    return x > 1.0f ? 1.0f : x;
}

/// Derivative of `clipped`.
__device__ inline float inside(float x) { return x > 0.0f && x < 1.0f ? 1.0f : 0.0f; }

/// Activation of one sum, except pairwise.
__device__ inline float value(u32 activation, float x) {
    switch (activation) {
    case RELU: return positive(x);
    case CRELU: return clipped(x);
    case SCRELU: return clipped(x) * clipped(x);
    default: return UNKNOWN;
    }
}

/// Derivative of `value`.
__device__ inline float slope_at(u32 activation, float x) {
    switch (activation) {
    case RELU: return x > 0.0f ? 1.0f : 0.0f;
    case CRELU: return inside(x);
    case SCRELU: return 2.0f * (x < 1.0f ? clipped(x) : 0.0f);
    default: return UNKNOWN;
    }
}

/// Offset of a perspective's accumulator tile, `[tile][perspective][lane]`. A sub-batch has fewer than 2^30
/// sums (memory_plan.rs).
__device__ inline u32 hidden_at(const Net& net, u32 tile, u32 views, u32 view) {
    return (tile * views + view) * net.tile;
}

/// Offset of the accumulator that an output weight `[perspective][tile][lane]` multiplies. At most two
/// perspectives and tiles of 16 or 32 neurons need no division.
__device__ inline u32 neuron_at(const Net& net, u32 positions, u32 position, u32 at) {
    const u32 nth = net.tile == 32 ? at / 32 : at / 16, view = nth >= net.hidden_tiles;
    const u32 tile = view ? nth - net.hidden_tiles : nth;
    return hidden_at(net, tile, net.views * positions, net.views * position + view) + (at & (net.tile - 1));
}

/// Inputs of a lane's activation: its accumulator, and the other factor of a pair. Lanes in the upper half of
/// a tile have no pair.
struct Sums {
    float own, other;
};

__device__ inline Sums sums_of(const Net& net, const float* own, u32 lane) {
    const bool two = net.activation == PAIRWISE && lane < net.tile / 2;
    return {*own, two ? own[net.tile / 2] : 0.0f};
}

/// Activation of a lane.
__device__ inline float active(const Net& net, Sums sums, u32 lane) {
    if (net.activation != PAIRWISE) {
        return value(net.activation, sums.own);
    }
    return lane < net.tile / 2 ? clipped(sums.own) * clipped(sums.other) : 0.0f;
}

/// Turns a lane's accumulator into its gradient, given that of its activation. The thread of a pair's first
/// factor writes both factors, that of the second none.
__device__ inline void turn(const Net& net, Sums sums, float* own, u32 lane, float upstream) {
    if (net.activation != PAIRWISE) {
        *own = upstream * slope_at(net.activation, sums.own);
    } else if (lane < net.tile / 2) {
        own[0] = upstream * clipped(sums.other) * inside(sums.own);
        own[net.tile / 2] = upstream * clipped(sums.own) * inside(sums.other);
    }
}

/// Gradient of the penalty on activations in a position; `weights` has one for each position, or is null.
__device__ inline float penalty_of(const float* weights, float penalty, u32 position) {
    return weights ? weights[position] * penalty : penalty;
}

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// Expected score, with draws within `offset` of 0.
__device__ inline float expected_of(float x, float offset) {
    return offset == 0.0f ? sigmoid(x) : (1.0f + sigmoid(x - offset) - sigmoid(-x - offset)) / 2.0f;
}

/// Sum over a warp in a fixed order, for every lane.
__device__ inline float warp_sum(float x) {
    for (u32 step = WARP / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(ALL, x, step);
    }
    return x;
}

/// Sum over `lanes` adjacent lanes, a power of two, for each of them.
__device__ inline u32 sum_over(u32 lanes, u32 x) {
    for (u32 step = lanes / 2; step > 0; step /= 2) {
        x += __shfl_xor_sync(ALL, x, step);
    }
    return x;
}

/// Inclusive prefix sum over `lanes` adjacent lanes.
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

/// Threads of a block that sums doubles.
const u32 ADDENDS = 256;

/// Sums one number per thread in a fixed order into `sums[0]`, in shared memory.
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
