// Gradient of feature table, biases and factoriser: sums of accumulator gradients over the lists of each
// window and row.
//
// Lists are split into items of SEGMENT perspectives; a row of several items, in one window or in several,
// adds their partial sums in order. The row after the last is the biases, which every perspective has.
#include "common.cuh"

/// Offset of a row's gradient.
__device__ inline size_t row_at(const Net& net, u32 tile, u32 row) {
    return row < net.rows ? ((size_t)tile * net.rows + row) * net.tile : net.bias + (size_t)tile * net.tile;
}

__device__ inline void add(float4& sum, const float4& x) {
    sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
}

/// Loads four members of a list.
__device__ inline uint4 four_members(const u32* list, u32 at) { return *(const uint4*)(list + at); }

/// Sums an item's gradients in order. Four loads are in flight, and that of the next four members.
__device__ inline float4 sum_of(const float4* gradients, u32 fours, const u32* list, u32 first, u32 last) {
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    u32 at = first;
    uint4 next = four_members(list, at);
    for (; at + 4 <= last; at += 4) {
        const uint4 now = next;
        if (at + 4 < last) {
            next = four_members(list, at + 4);
        }
        const float4 a = gradients[now.x * fours], b = gradients[now.y * fours];
        const float4 c = gradients[now.z * fours], d = gradients[now.w * fours];
        add(sum, a), add(sum, b), add(sum, c), add(sum, d);
    }
    if (at < last) {
        add(sum, gradients[next.x * fours]);
    }
    if (at + 1 < last) {
        add(sum, gradients[next.y * fours]);
    }
    if (at + 2 < last) {
        add(sum, gradients[next.z * fours]);
    }
    return sum;
}

/// Takes `count` of the remaining items for a warp; every lane gets the first.
__device__ inline u32 take(u32* taken, u32 count) {
    u32 first = 0;
    if (threadIdx.x % WARP == 0) {
        first = atomicAdd(taken, count);
    }
    return __shfl_sync(ALL, first, 0);
}

/// Lists of a window.
struct Window {
    const Starts* starts;
    const u32 *members, *item_rows;
    u32 first_item, blocks; // of this block, and by how much the next is further
};

/// Sums a window's items over the gradients of its perspectives. A thread handles four neurons, so that few
/// instructions go with each load. A warp takes further items when it is done, because some are much longer
/// than others.
__device__ inline void sum_items(const Net& net, const Window& window, const float4* gradients, u32* taken, float* gradient,
                                 float* parts) {
    const u32 fours = net.tile / 4, lane = threadIdx.x % fours, tile = blockIdx.y, groups = WARP / fours;
    const u32 last_item = window.starts[net.rows + 1].items;
    u32 first = window.first_item + take(taken, groups) * window.blocks;
    while (first < last_item) {
        const u32 item = first + threadIdx.x % WARP / fours * window.blocks;
        if (item < last_item) {
            const u32 row = window.item_rows[item];
            const Starts start = window.starts[row];
            const u32 segment = item - start.items, from = segment * SEGMENT, to = min(from + SEGMENT, start.count);
            const float4 sum = sum_of(gradients + lane, fours, window.members + start.members, from, to);
            if (start.parts == window.starts[row + 1].parts) {
                add(((float4*)(gradient + row_at(net, tile, row)))[lane], sum);
            } else {
                ((float4*)(parts + ((size_t)(start.parts + segment) * net.tiles + tile) * net.tile))[lane] = sum;
            }
        }
        __syncwarp();
        first = window.first_item + take(taken, groups) * window.blocks;
    }
}

/// Items of a single window. The second grid dimension is the tile, so that the device works on one tile's
/// gradients at a time and finds them in its cache.
KERNEL scatter_items(Net net, const float* hidden, u32 views, const Starts* starts, const u32* members,
                     const u32* item_rows, float* gradient, float* parts) {
    __shared__ u32 taken;
    if (threadIdx.x == 0) {
        taken = 0;
    }
    __syncthreads();
    const Window window = {starts, members, item_rows, blockIdx.x, gridDim.x};
    const float4* own = (const float4*)(hidden + hidden_at(net, blockIdx.y, views, 0));
    sum_items(net, window, own, &taken, gradient, parts);
}

/// Perspectives of the largest staged window, and float4s per perspective and tile.
const u32 STAGED = 320, MOST_FOURS = 8;

/// Items of windows, whose gradients are staged in shared memory once: each is added to as many rows as the
/// perspective has pieces. In the first grid dimension gridDim.x / windows blocks share a window; the second
/// is the tile. Three blocks to a multiprocessor.
KERNEL __launch_bounds__(512, 3)
    scatter_windows(Net net, Windows windows, const float* hidden, u32 views, const Starts* starts, const u32* members,
                    const u32* item_rows, float* gradient, float* parts) {
    __shared__ float4 staged[STAGED * MOST_FOURS];
    __shared__ u32 taken;
    const u32 in_window = 32 * windows.words, blocks = gridDim.x / ((views + in_window - 1) / in_window);
    const u32 nth = blockIdx.x / blocks, before = nth * in_window, own_views = min(in_window, views - before);
    const float4* own = (const float4*)(hidden + hidden_at(net, blockIdx.y, views, before));
    for (u32 at = threadIdx.x; at < own_views * (net.tile / 4); at += blockDim.x) {
        staged[at] = own[at];
    }
    if (threadIdx.x == 0) {
        taken = 0;
    }
    __syncthreads();
    starts += (size_t)nth * (net.rows + 2);
    const Window window = {starts, members, item_rows, starts[0].items + blockIdx.x % blocks, blocks};
    sum_items(net, window, staged, &taken, gradient, parts);
}

/// Windows whose partial sums are in flight together.
const u32 AT_A_TIME = 4;

/// A row's partial sums in a window.
struct Range {
    u32 begin, end;
};

__device__ inline Range range_of(const Net& net, const Starts* starts, u32 windows, u32 window, u32 row) {
    const Starts* at = starts + (size_t)window * (net.rows + 2) + row;
    return window < windows ? Range{at[0].parts, at[1].parts} : Range{0, 0};
}

/// Adds the partial sums of a long row in order, with eight loads in flight.
__device__ inline void add_parts(float4& sum, const float4* own, u32 stride, u32 part, u32 end) {
    const u32 LOADS = 8;
#pragma unroll 1
    for (; part + LOADS <= end; part += LOADS) {
        float4 x[LOADS];
#pragma unroll
        for (u32 i = 0; i < LOADS; i++) {
            x[i] = own[(size_t)(part + i) * stride];
        }
#pragma unroll
        for (u32 i = 0; i < LOADS; i++) {
            add(sum, x[i]);
        }
    }
#pragma unroll 1
    for (; part < end; part++) {
        add(sum, own[(size_t)part * stride]);
    }
}

/// Warps of a block that sums rows.
const u32 ROW_WARPS = 8;

/// Adds the partial sums of the rows that have any, in order. A thread handles four neurons. `sharers` warps take the
/// windows of a row in turn, and the first of them adds their sums. The threads of a row each look up the range of one
/// window, for the next windows while they add. Most rows have one sum or none in a window.
KERNEL scatter_rows(Net net, u32 windows, u32 sharers, const Starts* starts, const float* parts, float* gradient) {
    __shared__ float4 sums[ROW_WARPS][WARP];
    const u32 fours = net.tile / 4, lane = threadIdx.x % fours, first_lane = threadIdx.x % WARP - lane, tile = blockIdx.y;
    const u32 warp = threadIdx.x / WARP, share = warp % sharers;
    const u32 nth = (blockIdx.x * (ROW_WARPS / sharers) + warp / sharers) * (WARP / fours) + first_lane / fours;
    const u32 row = min(nth, net.rows), step = AT_A_TIME * sharers, ahead = lane % AT_A_TIME * sharers;
    const float4* own = (const float4*)(parts + tile * net.tile) + lane;
    const u32 stride = net.tiles * fours;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    bool any = sharers > 1;
    Range next = range_of(net, starts, windows, share + ahead, row);
#pragma unroll 1
    for (u32 first = share; first < windows; first += step) {
        const Range now = next;
        next = range_of(net, starts, windows, first + step + ahead, row);
        Range ranges[AT_A_TIME];
        float4 x[AT_A_TIME];
#pragma unroll
        for (u32 i = 0; i < AT_A_TIME; i++) {
            ranges[i] = {__shfl_sync(ALL, now.begin, first_lane + i), __shfl_sync(ALL, now.end, first_lane + i)};
        }
#pragma unroll
        for (u32 i = 0; i < AT_A_TIME; i++) {
            x[i] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (ranges[i].begin < ranges[i].end) {
                x[i] = own[(size_t)ranges[i].begin * stride];
                any = true;
            }
        }
#pragma unroll
        for (u32 i = 0; i < AT_A_TIME; i++) {
            add(sum, x[i]);
            add_parts(sum, own, stride, ranges[i].begin + 1, ranges[i].end);
        }
    }
    sums[warp][threadIdx.x % WARP] = sum;
    __syncthreads();
    // Threads after the last row repeat it for the lanes that exchange values.
    if (share > 0 || nth > net.rows || !any) {
        return;
    }
    for (u32 other = 1; other < sharers; other++) {
        add(sum, sums[warp + other][threadIdx.x % WARP]);
    }
    add(((float4*)(gradient + row_at(net, tile, row)))[lane], sum);
}

/// Sums row gradients into factoriser gradients, one thread per weight.
KERNEL share(Net net, float* gradient) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x, size = net.factor_rows * net.tile;
    if (at >= net.tiles * size) {
        return;
    }
    const float* table = gradient + (size_t)(at / size) * net.rows * net.tile + at % size;
    float sum = 0.0f;
    for (u32 row = 0; row < net.bucketed_rows; row += net.factor_rows) {
        sum += table[(size_t)row * net.tile];
    }
    gradient[net.factor + at] = sum;
}

/// Warps that share a weight's rows.
const u32 SHARERS = 8;

/// Adds rows of partial sums to the gradient of the output buckets. One lane per weight; each warp of a block
/// sums every eighth row, because so few weights leave most of a device idle.
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
