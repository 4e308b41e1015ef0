// The gradient of the feature table, of the biases and of what input buckets share.
//
// In: the gradient of the hidden layer's sums, and for each row the list of views that have it. Out: sums, added to the
// gradient. A list is cut into items of SEGMENT views; a row of several items adds up their partial sums in order. The row
// behind the last is the biases, which every view has.
#include "common.cuh"

/// Where a row's gradient lies.
__device__ inline size_t row_at(const Net& net, u32 tile, u32 row) {
    return row < net.rows ? ((size_t)tile * net.rows + row) * net.tile : net.bias + (size_t)tile * net.tile;
}

__device__ inline void add(float4& sum, const float4& x) {
    sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
}

/// Sums of items. A thread four neurons, so that few instructions go with what is loaded; the second grid dimension is the
/// tile, so that the device works on one tile's gradients at a time and finds them in its cache.
KERNEL scatter_items(Net net, const float* hidden, u32 views, const Starts* starts, const u32* members,
                     const u32* item_rows, float* gradient, float* parts) {
    const u32 fours = net.tile / 4, lane = threadIdx.x % fours, tile = blockIdx.y;
    const u32 item = blockIdx.x * (blockDim.x / fours) + threadIdx.x / fours;
    if (item >= starts[net.rows + 1].items) {
        return;
    }
    const u32 row = item_rows[item], nth = item - starts[row].items;
    const bool all = row == net.rows;
    const u32 count = all ? views : starts[row + 1].members - starts[row].members;
    const u32 first = nth * SEGMENT, last = min(first + SEGMENT, count);
    const float4* own = (const float4*)(hidden + hidden_at(net, tile, views, 0)) + lane;
    const u32* list = members + starts[row].members;
    // Four loads under way at a time; the sums stay in order.
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    u32 at = first;
    for (; at + 4 <= last; at += 4) {
        const float4 a = own[(all ? at : list[at]) * fours], b = own[(all ? at + 1 : list[at + 1]) * fours];
        const float4 c = own[(all ? at + 2 : list[at + 2]) * fours], d = own[(all ? at + 3 : list[at + 3]) * fours];
        add(sum, a), add(sum, b), add(sum, c), add(sum, d);
    }
    for (; at < last; at++) {
        add(sum, own[(all ? at : list[at]) * fours]);
    }
    if (count <= SEGMENT) {
        add(((float4*)(gradient + row_at(net, tile, row)))[lane], sum);
    } else {
        ((float4*)(parts + ((size_t)(starts[row].parts + nth) * net.tiles + tile) * net.tile))[lane] = sum;
    }
}

/// Adds up the partial sums of the rows that have several.
KERNEL scatter_rows(Net net, const Starts* starts, const float* parts, float* gradient) {
    const u32 lane = threadIdx.x % net.tile, tile = blockIdx.y;
    const u32 row = blockIdx.x * (blockDim.x / net.tile) + threadIdx.x / net.tile;
    if (row > net.rows || starts[row].parts == starts[row + 1].parts) {
        return;
    }
    float sum = 0.0f;
    for (u32 part = starts[row].parts; part < starts[row + 1].parts; part++) {
        sum += parts[((size_t)part * net.tiles + tile) * net.tile + lane];
    }
    gradient[row_at(net, tile, row) + lane] += sum;
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

/// Adds rows of partial sums to the gradient of the output buckets. A thread a weight.
KERNEL sum_parts(const float* parts, u32 rows, u32 width, float* gradient) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= width) {
        return;
    }
    float sum = 0.0f;
    for (u32 row = 0; row < rows; row++) {
        sum += parts[(size_t)row * width + at];
    }
    gradient[at] += sum;
}
