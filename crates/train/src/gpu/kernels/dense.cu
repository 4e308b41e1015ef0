// The layers after the hidden one, where there are several, on positions sorted by output bucket: each bucket
// has its own weights.
//
// Tiled matrix products: a block handles 64 positions of one bucket (or 64 inputs, for the weights' gradient)
// by 16 outputs, and loads its factors 16 at a time into shared memory.
#include "common.cuh"

const u32 LONG = 64, SHORT = 16, DEPTH = 16;

/// `Layer` of kernel_args.rs.
struct Layer {
    u32 inputs, outputs;
    u32 start;      // where its weights begin within an output bucket; its biases follow them
    u32 first;      // 1 if its inputs are activations of the hidden layer
    u32 below;      // sums of the further layer below it
    u32 activation; // of that layer, if it is not dual
    u32 passed;     // sums that it passes on: each once, or if it is dual twice
    float penalty;  // gradient of the penalty on activations of the hidden layer
    float unit;     // inputs that are rounded are multiples of 1/unit
};

/// Inputs of a layer: activations, activations of a dual layer, or rounded activations of the hidden layer.
enum Inputs { ACTIVE, DUAL, ROUNDED };

/// Rounds as output_layers.rs does.
const float HALF = 0.5001f;

/// min(x², 1); NaN stays NaN.
__device__ inline float square(float x) { return x * x > 1.0f ? 1.0f : x * x; }

/// Positions by bucket, and the start of each bucket.
struct Order {
    const u32* positions;
    const Starts* starts;
    u32 count;
};

__device__ inline u32 start_of(const Order& order, u32 bucket) { return order.starts[bucket].members; }

/// Offset of a layer's input; inputs of the first layer are `[perspective][tile][lane]`. The activation `dual` passes on
/// min(x², 1) of all sums, then x cut to 0..1 of all.
template <Inputs INPUTS>
__device__ inline size_t input_at(const Net& net, const Layer& layer, u32 positions, u32 position, u32 input) {
    if (!layer.first) {
        return (size_t)position * layer.below + (INPUTS == DUAL && input >= layer.passed ? input - layer.passed : input);
    }
    return neuron_at(net, positions, position, input);
}

template <Inputs INPUTS>
__device__ inline float input_of(const Net& net, const Layer& layer, const float* below, u32 positions, u32 position,
                                 u32 input) {
    const size_t at = input_at<INPUTS>(net, layer, positions, position, input);
    if (INPUTS == DUAL) {
        return input < layer.passed ? square(below[at]) : clipped(below[at]);
    }
    if (!layer.first) {
        return value(layer.activation, below[at]);
    }
    const u32 lane = input & (net.tile - 1);
    const float x = active(net, sums_of(net, below + at, lane), lane);
    return INPUTS == ROUNDED ? floorf(x * layer.unit + HALF) / layer.unit : x;
}

/// Bucket and positions of a block: each bucket has a block per tile of positions.
struct Tile {
    u32 bucket, start, count;
};

__device__ inline Tile tile_of(const Net& net, const Order& order, u32 block) {
    for (u32 bucket = 0; bucket < net.buckets; bucket++) {
        const u32 start = start_of(order, bucket), count = start_of(order, bucket + 1) - start;
        const u32 tiles = (count + LONG - 1) / LONG;
        if (block < tiles) {
            return {bucket, start + LONG * block, min(LONG, count - LONG * block)};
        }
        block -= tiles;
    }
    return {0, 0, 0};
}

template <Inputs INPUTS>
__device__ inline void forward(const Net& net, const Layer& layer, const float* parameters, const float* below,
                               const Order& order, float* sums) {
    __shared__ float xs[LONG][DEPTH + 1], ws[SHORT][DEPTH + 1];
    const Tile tile = tile_of(net, order, blockIdx.x);
    if (tile.count == 0) {
        return;
    }
    const u32 x = threadIdx.x % SHORT, y = threadIdx.x / SHORT, output = blockIdx.y * SHORT + x;
    const float* weights = parameters + net.output_start + tile.bucket * net.output_size + layer.start;
    float own[LONG / SHORT] = {};
    for (u32 input = 0; input < layer.inputs; input += DEPTH) {
        // The fast index is the input, so that 16 of a row are one line of memory.
        const u32 depth = threadIdx.x % DEPTH, line = threadIdx.x / DEPTH, at = input + depth;
        for (u32 i = line; i < LONG; i += SHORT) {
            const bool is = i < tile.count && at < layer.inputs;
            xs[i][depth] = is ? input_of<INPUTS>(net, layer, below, order.count, order.positions[tile.start + i], at) : 0.0f;
        }
        const u32 row = blockIdx.y * SHORT + line;
        ws[line][depth] = row < layer.outputs && at < layer.inputs ? weights[row * layer.inputs + at] : 0.0f;
        __syncthreads();
        for (u32 k = 0; k < DEPTH; k++) {
            for (u32 i = 0; i < LONG / SHORT; i++) {
                own[i] = fmaf(xs[y + SHORT * i][k], ws[x][k], own[i]);
            }
        }
        __syncthreads();
    }
    for (u32 i = 0; i < LONG / SHORT && output < layer.outputs; i++) {
        if (y + SHORT * i < tile.count) {
            const u32 position = order.positions[tile.start + y + SHORT * i];
            sums[(size_t)position * layer.outputs + output] = weights[layer.inputs * layer.outputs + output] + own[i];
        }
    }
}

/// Sums of a layer: bias + weights × inputs. Grid: tiles of positions, tiles of outputs.
KERNEL dense_forward(Net net, Layer layer, const float* parameters, const float* below, Order order, float* sums) {
    forward<ACTIVE>(net, layer, parameters, below, order, sums);
}
KERNEL dual_forward(Net net, Layer layer, const float* parameters, const float* below, Order order, float* sums) {
    forward<DUAL>(net, layer, parameters, below, order, sums);
}
KERNEL rounded_forward(Net net, Layer layer, const float* parameters, const float* below, Order order, float* sums) {
    forward<ROUNDED>(net, layer, parameters, below, order, sums);
}

/// Adds the gradient of an input in a thread's positions.
__device__ inline void add_gradient(const Layer& layer, const float* weights, const float* slopes, const Order& order,
                                    const Tile& tile, u32 input, float* own) {
    __shared__ float ds[LONG][DEPTH + 1], ws[DEPTH][SHORT + 1];
    const u32 x = threadIdx.x % SHORT, y = threadIdx.x / SHORT;
    for (u32 output = 0; output < layer.outputs; output += DEPTH) {
        const u32 depth = threadIdx.x % DEPTH, line = threadIdx.x / DEPTH, at = output + depth;
        for (u32 i = line; i < LONG; i += SHORT) {
            const bool is = i < tile.count && at < layer.outputs;
            ds[i][depth] = is ? slopes[(size_t)order.positions[tile.start + i] * layer.outputs + at] : 0.0f;
        }
        const u32 row = output + y;
        ws[y][x] = row < layer.outputs && input < layer.inputs ? weights[row * layer.inputs + input] : 0.0f;
        __syncthreads();
        for (u32 k = 0; k < DEPTH; k++) {
            for (u32 i = 0; i < LONG / SHORT; i++) {
                own[i] = fmaf(ds[y + SHORT * i][k], ws[k][x], own[i]);
            }
        }
        __syncthreads();
    }
}

/// Gradient of the inputs' sums, in place for the hidden layer, where `penalty_of` sees `position_weights`. Grid: tiles of
/// positions, tiles of inputs.
KERNEL dense_inputs(Net net, Layer layer, const float* parameters, const float* slopes, Order order,
                    const float* position_weights, float* below, float* below_slopes) {
    const Tile tile = tile_of(net, order, blockIdx.x);
    if (tile.count == 0) {
        return;
    }
    const u32 y = threadIdx.x / SHORT, input = blockIdx.y * SHORT + threadIdx.x % SHORT;
    const float* weights = parameters + net.output_start + tile.bucket * net.output_size + layer.start;
    float own[LONG / SHORT] = {};
    add_gradient(layer, weights, slopes, order, tile, input, own);
    for (u32 i = 0; i < LONG / SHORT && input < layer.inputs; i++) {
        if (y + SHORT * i >= tile.count) {
            continue;
        }
        const u32 position = order.positions[tile.start + y + SHORT * i];
        const size_t at = input_at<ACTIVE>(net, layer, order.count, position, input);
        if (layer.first) {
            const u32 lane = input & (net.tile - 1);
            const float penalty = penalty_of(position_weights, layer.penalty, position);
            turn(net, sums_of(net, below + at, lane), below + at, lane, own[i] + penalty);
        } else {
            below_slopes[at] = own[i] * slope_at(layer.activation, below[at]);
        }
    }
}

/// `dense_inputs` above a dual layer: each sum has passed on two inputs. Grid: tiles of positions, tiles of sums.
KERNEL dual_inputs(Net net, Layer layer, const float* parameters, const float* slopes, Order order, const float* below,
                   float* below_slopes) {
    const Tile tile = tile_of(net, order, blockIdx.x);
    if (tile.count == 0) {
        return;
    }
    const u32 y = threadIdx.x / SHORT, input = blockIdx.y * SHORT + threadIdx.x % SHORT;
    const float* weights = parameters + net.output_start + tile.bucket * net.output_size + layer.start;
    float squares[LONG / SHORT] = {}, clips[LONG / SHORT] = {};
    add_gradient(layer, weights, slopes, order, tile, input, squares);
    add_gradient(layer, weights, slopes, order, tile, input + layer.passed, clips);
    for (u32 i = 0; i < LONG / SHORT && input < layer.passed; i++) {
        if (y + SHORT * i < tile.count) {
            const size_t at = input_at<DUAL>(net, layer, order.count, order.positions[tile.start + y + SHORT * i], input);
            const float sum = below[at], of_square = fabsf(sum) < 1.0f ? 2.0f * sum : 0.0f;
            below_slopes[at] = squares[i] * of_square + clips[i] * inside(sum);
        }
    }
}

template <Inputs INPUTS>
__device__ inline void weights_gradient(const Net& net, const Layer& layer, const float* below, const float* slopes,
                                        const Order& order, u32 splits, float* parts) {
    __shared__ float xs[DEPTH][LONG + 1], ds[DEPTH][SHORT + 1];
    const u32 bucket = blockIdx.z / splits, split = blockIdx.z % splits;
    const u32 start = start_of(order, bucket), count = start_of(order, bucket + 1) - start;
    const u32 first = start + (u32)((u64)count * split / splits), last = start + (u32)((u64)count * (split + 1) / splits);
    const u32 x = threadIdx.x % SHORT, y = threadIdx.x / SHORT, output = blockIdx.y * SHORT + y;
    float own[LONG / SHORT] = {};
    for (u32 from = first; from < last; from += DEPTH) {
        const u32 at = from + y, position = at < last ? order.positions[at] : 0;
        for (u32 i = x; i < LONG; i += SHORT) {
            const u32 input = blockIdx.x * LONG + i;
            float one = 0.0f;
            if (at < last && input <= layer.inputs) {
                one = input < layer.inputs ? input_of<INPUTS>(net, layer, below, order.count, position, input) : 1.0f;
            }
            xs[y][i] = one;
        }
        const u32 row = blockIdx.y * SHORT + x;
        ds[y][x] = at < last && row < layer.outputs ? slopes[(size_t)position * layer.outputs + row] : 0.0f;
        __syncthreads();
        for (u32 k = 0; k < DEPTH; k++) {
            for (u32 i = 0; i < LONG / SHORT; i++) {
                own[i] = fmaf(xs[k][x + SHORT * i], ds[k][y], own[i]);
            }
        }
        __syncthreads();
    }
    float* part = parts + ((size_t)split * net.buckets + bucket) * net.output_size + layer.start;
    for (u32 i = 0; i < LONG / SHORT && output < layer.outputs; i++) {
        const u32 input = blockIdx.x * LONG + x + SHORT * i;
        if (input < layer.inputs) {
            part[output * layer.inputs + input] = own[i];
        } else if (input == layer.inputs) {
            part[layer.inputs * layer.outputs + output] = own[i];
        }
    }
}

/// Gradient of a layer's weights and biases: a bucket's positions are split into `splits` equal runs, each
/// with its row of partial sums. Grid: tiles of inputs (the bias is one more input, always 1), tiles of
/// outputs, buckets times splits.
KERNEL dense_weights(Net net, Layer layer, const float* below, const float* slopes, Order order, u32 splits,
                     float* parts) {
    weights_gradient<ACTIVE>(net, layer, below, slopes, order, splits, parts);
}
KERNEL dual_weights(Net net, Layer layer, const float* below, const float* slopes, Order order, u32 splits,
                    float* parts) {
    weights_gradient<DUAL>(net, layer, below, slopes, order, splits, parts);
}
KERNEL rounded_weights(Net net, Layer layer, const float* below, const float* slopes, Order order, u32 splits,
                       float* parts) {
    weights_gradient<ROUNDED>(net, layer, below, slopes, order, splits, parts);
}

/// Adds the skip neuron, the last of the first further layer, to the output. One thread per position.
KERNEL skip_forward(const float* sums, u32 width, u32 positions, float* outputs) {
    const u32 position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position < positions) {
        outputs[position] += sums[(size_t)position * width + width - 1];
    }
}

/// Derivative by the skip neuron.
KERNEL skip_backward(const float* slopes, u32 width, u32 positions, float* below_slopes) {
    const u32 position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position < positions) {
        below_slopes[(size_t)position * width + width - 1] = slopes[position];
    }
}
