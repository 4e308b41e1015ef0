// The gradient of the feature table, of the biases and of what input buckets share.
//
// In: the gradient of the hidden layer's sums, and for each window and row the list of views that have it. Out: sums, added
// to the gradient. A list is cut into items of SEGMENT views; a row of several items, in one window or in several, adds up
// their partial sums in order. The row behind the last is the biases, which every view has.
#include "common.cuh"

/// Where a row's gradient lies.
__device__ inline size_t row_at(const Net& net, u32 tile, u32 row) {
    return row < net.rows ? ((size_t)tile * net.rows + row) * net.tile : net.bias + (size_t)tile * net.tile;
}

__device__ inline void add(float4& sum, const float4& x) {
    sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
}

/// Sums of items. A thread four neurons, so that few instructions go with what is loaded; the second grid dimension is the
/// tile, so that the device works on one tile's gradients at a time and finds them in its cache. Of the first, so many
/// blocks share a window as there are more blocks than windows.
KERNEL scatter_items(Net net, Windows windows, const float* hidden, u32 views, const Starts* starts, const u32* members,
                     const u32* item_rows, float* gradient, float* parts) {
    const u32 fours = net.tile / 4, lane = threadIdx.x % fours, tile = blockIdx.y, groups = blockDim.x / fours;
    const u32 in_window = 32 * windows.words, count_windows = (views + in_window - 1) / in_window;
    const u32 blocks = gridDim.x / count_windows, window = blockIdx.x / blocks;
    starts += (size_t)window * (net.rows + 2);
    const float4* own = (const float4*)(hidden + hidden_at(net, tile, views, 0)) + lane;
    const u32 last_item = starts[net.rows + 1].items;
    u32 item = starts[0].items + blockIdx.x % blocks * groups + threadIdx.x / fours;
    for (; item < last_item; item += blocks * groups) {
        const u32 row = item_rows[item], nth = item - starts[row].items;
        const u32 first = nth * SEGMENT, last = min(first + SEGMENT, starts[row + 1].members - starts[row].members);
        const u32* list = members + starts[row].members;
        // Four loads under way at a time; the sums stay in order.
        float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
        u32 at = first;
        for (; at + 4 <= last; at += 4) {
            const float4 a = own[list[at] * fours], b = own[list[at + 1] * fours];
            const float4 c = own[list[at + 2] * fours], d = own[list[at + 3] * fours];
            add(sum, a), add(sum, b), add(sum, c), add(sum, d);
        }
        for (; at < last; at++) {
            add(sum, own[list[at] * fours]);
        }
        if (starts[row].parts == starts[row + 1].parts) {
            add(((float4*)(gradient + row_at(net, tile, row)))[lane], sum);
        } else {
            ((float4*)(parts + ((size_t)(starts[row].parts + nth) * net.tiles + tile) * net.tile))[lane] = sum;
        }
    }
}

/// Adds up the partial sums of the rows that have any. Threads side by side have a row's neurons side by side, and each
/// looks up where those of one window begin and end. Of four windows the first parts are under way at a time, as most have
/// no more.
KERNEL scatter_rows(Net net, u32 windows, const Starts* starts, const float* parts, float* gradient) {
    const u32 lane = threadIdx.x % net.tile, first_lane = threadIdx.x % WARP - lane, tile = blockIdx.y;
    const u32 row = min(blockIdx.x * (blockDim.x / net.tile) + threadIdx.x / net.tile, net.rows);
    const float* own = parts + tile * net.tile + lane;
    const size_t stride = (size_t)net.tiles * net.tile;
    float sum = 0.0f;
    bool any = false;
    for (u32 first = 0; first < windows; first += net.tile) {
        const u32 window = first + lane;
        const Starts* at = starts + (size_t)window * (net.rows + 2) + row;
        const u32 begins = window < windows ? at[0].parts : 0, ends = window < windows ? at[1].parts : 0;
        for (u32 four = 0; four < net.tile && first + four < windows; four += 4) {
            u32 begin[4], end[4];
            float x[4];
            for (u32 i = 0; i < 4; i++) {
                begin[i] = __shfl_sync(ALL, begins, first_lane + four + i);
                end[i] = __shfl_sync(ALL, ends, first_lane + four + i);
            }
            for (u32 i = 0; i < 4; i++) {
                x[i] = begin[i] < end[i] ? own[begin[i] * stride] : 0.0f;
            }
            for (u32 i = 0; i < 4; i++) {
                any |= begin[i] < end[i];
                sum += x[i];
                for (u32 part = begin[i] + 1; part < end[i]; part++) {
                    sum += own[part * stride];
                }
            }
        }
    }
    // Threads behind the last row did the same as those of the last, for the lanes that wait for one another.
    if (any && blockIdx.x * (blockDim.x / net.tile) + threadIdx.x / net.tile <= net.rows) {
        gradient[row_at(net, tile, row) + lane] += sum;
    }
}

/// The gradient of a shared weight is the sum of those of its rows. A thread a weight.
KERNEL share(Net net, float* gradient) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x, size = net.factor_rows * net.tile;
    if (at >= net.tiles * size) {
        return;
    }
    const float* table = gradient + (size_t)(at / size) * net.rows * net.tile + at % size;
    float sum = 0.0f;
    for (u32 row = 0; row < net.rows; row += net.factor_rows) {
        sum += table[(size_t)row * net.tile];
    }
    gradient[net.factor + at] = sum;
}

/// Warps that share the rows of a weight.
const u32 SHARERS = 8;

/// Adds rows of partial sums to the gradient of the output buckets. A lane a weight; each warp of a block adds up every
/// eighth row, as so few weights leave most of a device without work.
KERNEL sum_parts(const float* parts, u32 rows, u32 width, float* gradient) {
    __shared__ float sums[SHARERS][WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, at = blockIdx.x * WARP + lane;
    float sum = 0.0f;
    for (u32 row = warp; row < rows && at < width; row += SHARERS) {
        sum += parts[(size_t)row * width + at];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || at >= width) {
        return;
    }
    for (u32 other = 1; other < SHARERS; other++) {
        sum += sums[other][lane];
    }
    gradient[at] += sum;
}
