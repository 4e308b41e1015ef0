// The sums of the hidden layer: for every view its rows and the biases.
//
// In: the table and lists of rows. Out: `hidden[tile][view][lane]`. A thread a neuron, so that a warp's loads of a row are
// one line of memory. All blocks of a tile come before those of the next: a tile's rows (98 KB of floats for 768 features)
// stay in the caches near the multiprocessors while the whole device works on it.
#include "common.cuh"

/// Views of a block.
const u32 VIEWS = 64;

/// Four rows of a list with one load.
__device__ inline u64 four_rows(const u16* list, u32 at) { return *(const u64*)(list + at); }

/// From floats, in the order of the CPU: even and odd rows by themselves, so that no addition waits for the one before it.
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

/// From 16 bits: a thread has two neurons side by side, a warp two tiles.
KERNEL forward_shorts(Net net, const short* table, const float* unit, const u16* rows, const u32* counts, u32 views,
                      float* hidden) {
    const u32 lane = threadIdx.x % net.tile, slots = blockDim.x / net.tile, pair = blockIdx.y;
    const u32 first = blockIdx.x * VIEWS, last = min(first + VIEWS, views);
    const int* own = (const int*)table + (size_t)pair * (net.rows + 1) * net.tile + lane;
    const int bias = own[net.rows * net.tile];
    const u32 tile = 2 * pair + 2 * lane / net.tile, neuron = 2 * lane % net.tile;
    if (tile >= net.tiles) {
        return;
    }
    const float one = unit[tile];
    for (u32 view = first + threadIdx.x / net.tile; view < last; view += slots) {
        const u16* list = rows + (size_t)view * net.stride;
        const u32 count = counts[view];
        int low = (short)bias, high = bias >> 16;
        u32 at = 0;
        for (; at + 4 <= count; at += 4) {
            const u64 four = four_rows(list, at);
            const int a = own[(u32)(four & 0xffff) * net.tile], b = own[(u32)(four >> 16 & 0xffff) * net.tile];
            const int c = own[(u32)(four >> 32 & 0xffff) * net.tile], d = own[(u32)(four >> 48) * net.tile];
            low += (short)a + (short)b + (short)c + (short)d;
            high += (a >> 16) + (b >> 16) + (c >> 16) + (d >> 16);
        }
        for (; at < count; at++) {
            const int x = own[list[at] * net.tile];
            low += (short)x, high += x >> 16;
        }
        float* sums = hidden + hidden_at(net, tile, views, view) + neuron;
        sums[0] = (float)low * one;
        sums[1] = (float)high * one;
    }
}
