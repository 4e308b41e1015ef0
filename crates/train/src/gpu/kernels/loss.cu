// Losses and their derivatives by the outputs, as in loss.rs, with the same numbers in 64 bits and one fixed
// order of sums.
#include "common.cuh"
#include "record.cuh"

enum LossKind { POWER, CROSS_ENTROPY, PQR };

/// `Loss` of kernel_args.rs.
struct Loss {
    u32 kind;
    float power, kappa, k;
    float offset, asymmetry;
    float scale; // 1 / groups of the whole batch, or 1 / sum of their weights
};

/// −t ln t.
__device__ inline double entropy_term(double t) { return t > 0.0 ? -t * log(t) : 0.0; }

__device__ inline double entropy(double t) { return entropy_term(t) + entropy_term(1.0 - t); }

/// Derivative by the output of its expected score.
__device__ inline float slope_of_expected(const Loss& loss, float output, float expected) {
    if (loss.offset == 0.0f) {
        return loss.k * expected * (1.0f - expected);
    }
    const float x = loss.k * output, win = sigmoid(x - loss.offset), lost = sigmoid(-x - loss.offset);
    return loss.k * (win * (1.0f - win) + lost * (1.0f - lost)) / 2.0f;
}

__device__ inline double loss_of(const Loss& loss, float output, float target, float* slope) {
    const float predicted = expected_of(loss.k * output, loss.offset), error = predicted - target;
    if (loss.kind == CROSS_ENTROPY) {
        const double x = (double)loss.k * (double)output, t = (double)target;
        *slope = loss.k * error * loss.scale;
        return (x < 0.0 ? 0.0 : x) - t * x + log1p(exp(-fabs(x))) - entropy(t);
    }
    const float by_output = slope_of_expected(loss, output, predicted) * loss.scale;
    const float weight = loss.asymmetry != 0.0f && error > 0.0f ? 1.0f + loss.asymmetry : 1.0f;
    if (loss.power == 2.0f) {
        *slope = weight * (2.0f * error * by_output);
        return (double)weight * ((double)error * (double)error);
    }
    const float size = fabsf(error);
    if (size == 0.0f) {
        *slope = 0.0f;
        return 0.0;
    }
    const float below = powf(size, loss.power - 1.0f);
    *slope = weight * copysignf(loss.power * below * by_output, error);
    return (double)weight * ((double)below * (double)size);
}

/// −ln σ(x) and its derivative; x is within ±2.
__device__ inline double cost(double x) { return log1p(exp(-x)); }
__device__ inline double fall(double x) { return -1.0 / (1.0 + exp(x)); }

__device__ inline double loss_of_three(const Loss& loss, const float* outputs, float* slopes) {
    double values[3], by_output[3];
    for (u32 i = 0; i < 3; i++) {
        values[i] = (double)(2.0f * sigmoid(loss.k * outputs[i]) - 1.0f);
        by_output[i] = (double)loss.k / 2.0 * (1.0 - values[i] * values[i]);
    }
    const double kappa = (double)loss.kappa, better = values[2] - values[1], both = values[0] + values[1];
    const double by_better = fall(better), by_both = kappa * (fall(both) - fall(-both));
    slopes[0] = (float)(by_both * by_output[0]) * loss.scale;
    slopes[1] = (float)((by_both - by_better) * by_output[1]) * loss.scale;
    slopes[2] = (float)(by_better * by_output[2]) * loss.scale;
    return cost(better) + kappa * (cost(both) + cost(-both));
}

/// Loss of a WDL head and its derivatives by win, draw and loss, for a position of this weight.
__device__ inline double loss_of_wdl(const Loss& loss, const float* outputs, const double* target, double weight,
                                     float* slopes) {
    double values[3], sum = 0.0, given = 0.0, least = 0.0;
    for (u32 i = 0; i < 3; i++) {
        values[i] = (double)loss.k * (double)outputs[i];
    }
    const double most = fmax(fmax(values[0], values[1]), values[2]);
    const double total = target[0] + target[1] + target[2];
    for (u32 i = 0; i < 3; i++) {
        values[i] -= most;
        sum += exp(values[i]), given += target[i] * values[i], least += entropy_term(target[i]);
    }
    for (u32 i = 0; i < 3; i++) {
        const double slope = (double)loss.k * (total * exp(values[i]) / sum - target[i]);
        slopes[i] = (float)(weight * slope) * loss.scale;
    }
    return weight * (total * log(sum) - given - least);
}

/// Piece-square part of an output.
__device__ inline float piece_square(const Net& net, const float* hidden, u32 bucket, u32 positions, u32 position) {
    if (net.tiles == net.hidden_tiles) {
        return 0.0f;
    }
    const u32 tile = net.hidden_tiles + bucket / net.tile, lane = bucket % net.tile, views = net.views * positions;
    const float own = hidden[hidden_at(net, tile, views, net.views * position) + lane];
    return net.views == 1 ? own : (own - hidden[hidden_at(net, tile, views, 2 * position + 1) + lane]) / 2.0f;
}

/// A point of `PositionWeight`.
struct Point {
    float at, weight;
};

/// Weights of positions by ply or number of pieces: linear between the points, constant beyond. One thread per
/// position.
KERNEL weigh(const Record* records, u32 positions, const Point* points, u32 count, u32 by_pieces, float* weights) {
    const u32 position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position >= positions) {
        return;
    }
    const Record& record = records[position];
    const float x = by_pieces ? (float)__popcll(record.occupied) : (float)record.ply;
    u32 after = 0;
    while (after < count && points[after].at <= x) {
        after++;
    }
    const Point to = points[min(after, count - 1)], from = points[after > 0 ? after - 1 : 0];
    const bool between = after > 0 && after < count;
    weights[position] = between ? from.weight + (to.weight - from.weight) * (x - from.at) / (to.at - from.at) : to.weight;
}

/// One thread per group: a position, or P, Q and R. Each block writes the sum of its losses. `weights` of positions
/// may be null.
KERNEL losses(Net net, Loss loss, const Record* records, const float* hidden, const u8* buckets, const float* targets,
              const float* weights, u32 positions, const float* outputs, double* values, float* slopes) {
    __shared__ double sums[ADDENDS];
    const u32 group = blockIdx.x * blockDim.x + threadIdx.x, size = loss.kind == PQR ? 3 : 1;
    double own = 0.0;
    if (group < positions / size) {
        float output[3];
        for (u32 i = 0; i < size; i++) {
            const u32 position = group * size + i;
            output[i] = outputs[position] + piece_square(net, hidden, buckets[position], positions, position);
            output[i] *= sign_of(net, records[position]);
        }
        own = loss.kind == PQR ? loss_of_three(loss, output, slopes + group * size)
                               : loss_of(loss, output[0], targets[group], slopes + group);
        if (weights) {
            own *= (double)weights[group];
            slopes[group] *= weights[group];
        }
        for (u32 at = group * size; net.white_view && at < (group + 1) * size; at++) {
            slopes[at] *= sign_of(net, records[at]);
        }
    }
    add_up(sums, own);
    if (threadIdx.x == 0) {
        values[blockIdx.x] = sums[0];
    }
}

/// `losses` of a WDL head: three outputs and derivatives for each position. One thread per position.
KERNEL wdl_losses(Loss loss, Target target, const Record* records, const float* targets, const float* weights,
                  u32 positions, const float* outputs, double* values, float* slopes) {
    __shared__ double sums[ADDENDS];
    const u32 position = blockIdx.x * blockDim.x + threadIdx.x;
    double own = 0.0;
    if (position < positions) {
        const double expected = targets[position], draw = draw_of(records[position], target);
        const double chances[3] = {fmax(expected - draw / 2.0, 0.0), draw, fmax(1.0 - expected - draw / 2.0, 0.0)};
        const double weight = weights ? (double)weights[position] : 1.0;
        own = loss_of_wdl(loss, outputs + 3 * position, chances, weight, slopes + 3 * position);
    }
    add_up(sums, own);
    if (threadIdx.x == 0) {
        values[blockIdx.x] = sums[0];
    }
}

/// Adds `count` values to a total. One block.
KERNEL total(const double* values, u32 count, double* sum) {
    __shared__ double sums[ADDENDS];
    const u32 thread = threadIdx.x;
    double own = 0.0;
    for (u32 at = thread; at < count; at += ADDENDS) {
        own += values[at];
    }
    add_up(sums, own);
    if (thread == 0) {
        *sum += sums[0];
    }
}

/// Gradient of the piece-square sums, one thread per lane of a perspective's tile; the second grid dimension
/// is the tile.
KERNEL values_backward(Net net, const u8* buckets, const float* slopes, u32 views, float* hidden) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x, view = at / net.tile, lane = at % net.tile;
    if (view >= views) {
        return;
    }
    const u32 position = view / net.views, bucket = buckets[position];
    float gradient = 0.0f;
    if (blockIdx.y * net.tile + lane == bucket) {
        const float share = slopes[position] / (float)net.views;
        gradient = view % net.views == 0 ? share : -share;
    }
    hidden[hidden_at(net, net.hidden_tiles + blockIdx.y, views, view) + lane] = gradient;
}
