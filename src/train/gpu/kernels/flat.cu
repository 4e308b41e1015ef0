// A network whose output follows the hidden layer at once: the output, and its gradient.
#include "common.cuh"

/// Positions of a block of the backward pass, and the most output buckets.
const u32 CHUNK = 256;
const u32 MOST_BUCKETS = 32;
/// Threads of its blocks.
const u32 FLAT_THREADS = 256;

/// Outputs without piece-square values. A warp a position.
KERNEL flat_output(Net net, const float* parameters, const float* hidden, const u8* buckets, u32 positions,
                   float* outputs) {
    const u32 position = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (position >= positions) {
        return;
    }
    const float* weights = parameters + net.heads + buckets[position] * net.head;
    const u32 width = net.hidden_tiles * net.tile;
    float sum = 0.0f;
    for (u32 at = lane; at < net.views * width; at += WARP) {
        const u32 view = at / width, tile = at % width / net.tile;
        const float* sums = hidden + hidden_at(net, tile, net.views * positions, net.views * position + view);
        sum += active(net, sums, at % net.tile) * weights[at];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        outputs[position] = weights[net.head - 1] + sum;
    }
}

/// Turns the sums into their gradient, and adds up that of the output weights: for each chunk of positions and each
/// bucket a row of partial sums. Grid: chunks; views times tiles, and one more for the biases of the output.
KERNEL flat_backward(Net net, const float* parameters, float* hidden, const u8* buckets, const float* slopes,
                     u32 positions, float* parts) {
    __shared__ float sums[MOST_BUCKETS * FLAT_THREADS];
    const u32 lane = threadIdx.x % net.tile, slots = blockDim.x / net.tile, slot = threadIdx.x / net.tile;
    const u32 first = blockIdx.x * CHUNK, last = min(first + CHUNK, positions);
    const bool is_bias = blockIdx.y == net.views * net.hidden_tiles;
    const u32 view = is_bias ? 0 : blockIdx.y / net.hidden_tiles, tile = blockIdx.y % net.hidden_tiles;
    const u32 at = is_bias ? net.head - 1 : blockIdx.y * net.tile + lane;
    // A thread's own sums: nobody else writes there until all are done.
    for (u32 bucket = 0; bucket < net.buckets; bucket++) {
        sums[bucket * blockDim.x + threadIdx.x] = 0.0f;
    }
    for (u32 position = first + slot; position < last; position += slots) {
        const u32 bucket = buckets[position];
        const float slope = slopes[position];
        float* own = sums + bucket * blockDim.x + threadIdx.x;
        if (is_bias) {
            *own += slope;
            continue;
        }
        float* neurons = hidden + hidden_at(net, tile, net.views * positions, net.views * position + view);
        *own += slope * active(net, neurons, lane);
        turn(net, neurons, lane, slope * parameters[net.heads + bucket * net.head + at]);
    }
    __syncthreads();
    if (slot > 0 || (is_bias && lane > 0)) {
        return;
    }
    for (u32 bucket = 0; bucket < net.buckets; bucket++) {
        float sum = 0.0f;
        for (u32 other = 0; other < slots; other++) {
            sum += sums[bucket * blockDim.x + other * net.tile + lane];
        }
        parts[((size_t)blockIdx.x * net.buckets + bucket) * net.head + at] = sum;
    }
}
