// The output layer of a network without further layers, forwards and backwards.
#include "common.cuh"

/// Positions per block of the backward pass, and the most output buckets.
const u32 CHUNK = 256;
const u32 MOST_BUCKETS = 32;
/// Threads per block.
const u32 OUTPUT_THREADS = 256;
/// Positions a thread loads at a time.
const u32 AT_ONCE = 4;

/// Outputs without piece-square values, one warp per position.
KERNEL output_forward(Net net, const float* parameters, const float* hidden, const u8* buckets, u32 positions,
                   float* outputs) {
    const u32 position = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (position >= positions) {
        return;
    }
    const float* weights = parameters + net.output_start + buckets[position] * net.output_size;
    const u32 inputs = net.views * net.hidden_tiles * net.tile, own = lane & (net.tile - 1);
    float sum = 0.0f;
    for (u32 at = lane; at < inputs; at += WARP) {
        const Sums sums = sums_of(net, hidden + neuron_at(net, positions, position, at), own);
        sum += active(net, sums, own) * weights[at];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        outputs[position] = weights[net.output_size - 1] + sum;
    }
}

/// Turns accumulators into their gradient and sums the gradient of the output weights, one row of partial
/// sums per chunk of positions and bucket. `penalty`: gradient of the penalty on activations, for `weights` see
/// `penalty_of`. Grid: chunks; perspectives times tiles, plus one for the output biases.
KERNEL output_backward(Net net, float penalty, const float* weights, const float* parameters, float* hidden,
                       const u8* buckets, const float* slopes, u32 positions, float* parts) {
    __shared__ float sums[MOST_BUCKETS * OUTPUT_THREADS];
    const u32 lane = threadIdx.x % net.tile, slots = blockDim.x / net.tile, slot = threadIdx.x / net.tile;
    const u32 first = blockIdx.x * CHUNK, last = min(first + CHUNK, positions);
    const bool is_bias = blockIdx.y == net.views * net.hidden_tiles;
    const u32 view = is_bias ? 0 : blockIdx.y / net.hidden_tiles, tile = blockIdx.y % net.hidden_tiles;
    const u32 at = is_bias ? net.output_size - 1 : blockIdx.y * net.tile + lane;
    // Sums of this thread alone.
    for (u32 bucket = 0; bucket < net.buckets; bucket++) {
        sums[bucket * blockDim.x + threadIdx.x] = 0.0f;
    }
    // Loads of several positions overlap; the last position is repeated at the end.
    for (u32 from = first + slot; from < last; from += AT_ONCE * slots) {
        u32 bucket[AT_ONCE];
        float slope[AT_ONCE], weight[AT_ONCE], penalised[AT_ONCE];
        float* neuron[AT_ONCE];
        Sums both[AT_ONCE];
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++) {
            const u32 position = min(from + i * slots, last - 1);
            bucket[i] = buckets[position], slope[i] = slopes[position];
            penalised[i] = penalty_of(weights, penalty, position);
            neuron[i] = hidden + hidden_at(net, tile, net.views * positions, net.views * position + view) + lane;
            both[i] = sums_of(net, neuron[i], lane);
        }
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++) {
            weight[i] = parameters[net.output_start + bucket[i] * net.output_size + at];
        }
#pragma unroll
        for (u32 i = 0; i < AT_ONCE && from + i * slots < last; i++) {
            sums[bucket[i] * blockDim.x + threadIdx.x] += is_bias ? slope[i] : slope[i] * active(net, both[i], lane);
            if (!is_bias) {
                turn(net, both[i], neuron[i], lane, slope[i] * weight[i] + penalised[i]);
            }
        }
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
        parts[((size_t)blockIdx.x * net.buckets + bucket) * net.output_size + at] = sum;
    }
}
