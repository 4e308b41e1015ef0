// Accumulators: the rows and biases of every perspective, to `hidden[tile][perspective][lane]`.
//
// Adjacent threads have adjacent neurons, so that a row is one line of memory. All blocks of a tile precede
// those of the next: a tile's rows (98 KB of floats for 768 features) stay in the caches near the
// multiprocessors while the whole device works on it.
#include "common.cuh"

/// Perspectives per block.
const u32 VIEWS = 128;

/// Four rows of a list with one load.
__device__ inline u64 four_rows(const u16* list, u32 at) { return *(const u64*)(list + at); }

/// From f32 in the order of the CPU: even and odd rows apart, so that no addition waits for the previous one.
KERNEL forward_floats(Net net, const float* table, const float* biases, const u16* rows, const u32* counts, u32 views,
                      float* hidden) {
    const u32 lane = threadIdx.x % net.tile, slots = blockDim.x / net.tile, tile = blockIdx.y;
    const u32 first = blockIdx.x * VIEWS, last = min(first + VIEWS, views);
    const float* own = table + (size_t)tile * net.rows * net.tile + lane;
    const float bias = biases[tile * net.tile + lane];
    for (u32 view = first + threadIdx.x / net.tile; view < last; view += slots) {
        const u16* list = rows + (size_t)view * net.stride;
        const u32 count = counts[view];
        float even = bias, odd = 0.0f;
        u32 at = 0;
        for (; at + 4 <= count; at += 4) {
            const u64 four = four_rows(list, at);
            const float a = own[(u32)(four & 0xffff) * net.tile], b = own[(u32)(four >> 16 & 0xffff) * net.tile];
            const float c = own[(u32)(four >> 32 & 0xffff) * net.tile], d = own[(u32)(four >> 48) * net.tile];
            even += a, odd += b;
            even += c, odd += d;
        }
        for (; at < count; at++) {
            const float x = own[list[at] * net.tile];
            if (at % 2 == 0) {
                even += x;
            } else {
                odd += x;
            }
        }
        hidden[hidden_at(net, tile, views, view) + lane] = even + odd;
    }
}

/// Adds words of two neurons in one go: the sum of words is that of the upper neurons times 2^16 plus that of
/// the lower ones, and neither leaves 16 bits (table.cu).
__device__ inline void add(uint2& sums, const uint2& words) { sums.x += words.x, sums.y += words.y; }

/// Lower and upper neuron of a sum of words.
__device__ inline float lower(u32 words) { return (float)(short)words; }
__device__ inline float upper(u32 words) { return (float)((int)(words - (u32)(int)(short)words) >> 16); }

/// From 16 bits: one thread per four adjacent neurons, two tiles together.
KERNEL forward_shorts(Net net, const u32* table, const float* unit, const u16* rows, const u32* counts, u32 views,
                      float* hidden) {
    const u32 fours = net.tile / 2, lane = threadIdx.x % fours, slots = blockDim.x / fours, pair = blockIdx.y;
    const u32 first = blockIdx.x * VIEWS, last = min(first + VIEWS, views);
    const uint2* own = (const uint2*)table + (size_t)pair * (net.rows + 1) * fours + lane;
    const uint2 bias = own[net.rows * fours];
    const u32 tile = 2 * pair + (lane >= fours / 2), neuron = 4 * lane & (net.tile - 1);
    if (tile >= net.tiles) {
        return;
    }
    const float one = unit[tile];
    for (u32 view = first + threadIdx.x / fours; view < last; view += slots) {
        const u16* list = rows + (size_t)view * net.stride;
        const u32 count = counts[view];
        uint2 sums = bias;
        u32 at = 0;
        for (; at + 4 <= count; at += 4) {
            const u64 four = four_rows(list, at);
            const uint2 a = own[(u32)(four & 0xffff) * fours], b = own[(u32)(four >> 16 & 0xffff) * fours];
            const uint2 c = own[(u32)(four >> 32 & 0xffff) * fours], d = own[(u32)(four >> 48) * fours];
            add(sums, a), add(sums, b), add(sums, c), add(sums, d);
        }
        for (; at < count; at++) {
            add(sums, own[list[at] * fours]);
        }
        float4* to = (float4*)(hidden + hidden_at(net, tile, views, view) + neuron);
        *to = {lower(sums.x) * one, upper(sums.x) * one, lower(sums.y) * one, upper(sums.y) * one};
    }
}
