// The optimisers of patzer_fit::optim, one thread per weight, with the same operations in the same order.
#include "common.cuh"

/// Parameters of a step; `Step` of kernel_args.rs.
struct Step {
    u32 count;    // weights
    float beta1, beta2;
    float epsilon;
    float keep;   // what is left of a weight after its decay
    float rate;   // learning rate, over the bias correction of the mean where there is one
    float unbias; // one over the bias correction of the mean square
    u32 adaptive; // 0: the mean alone makes the step
};

/// Clamps a weight to its limit, if there are limits.
__device__ inline float limited(float weight, const float* limits, u32 at) {
    if (!limits) {
        return weight;
    }
    const float limit = limits[at];
    return weight < -limit ? -limit : weight > limit ? limit : weight;
}

/// Adds L2 to the gradient, and sums its squares per block.
KERNEL squares(const float* weights, float l2, u32 count, u32 chunk, float* gradient, double* sums) {
    __shared__ double own[ADDENDS];
    const u32 thread = threadIdx.x, first = blockIdx.x * chunk, last = min(first + chunk, count);
    double sum = 0.0;
    for (u32 at = first + thread; at < last; at += ADDENDS) {
        float g = gradient[at];
        if (l2 > 0.0f) {
            g += l2 * weights[at];
            gradient[at] = g;
        }
        sum += (double)g * (double)g;
    }
    add_up(own, sum);
    if (thread == 0) {
        sums[blockIdx.x] = own[0];
    }
}

/// Factor that clips the gradient to norm `longest`. One thread: the sums are few.
KERNEL clip_factor(const double* sums, u32 count, float longest, float* factor) {
    double sum = 0.0;
    for (u32 at = 0; at < count; at++) {
        sum += sums[at];
    }
    const double length = sqrt(sum);
    *factor = length > (double)longest ? (float)((double)longest / length) : 1.0f;
}

/// Adam with decoupled weight decay, and RAdam. `factor` and `limits` may be null.
KERNEL adam(Step step, const float* gradient, const float* factor, const float* limits, float* weights, float* mean,
            float* square) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= step.count) {
        return;
    }
    const float g = factor ? gradient[at] * *factor : gradient[at];
    const float m = step.beta1 * mean[at] + (1.0f - step.beta1) * g;
    const float v = step.beta2 * square[at] + (1.0f - step.beta2) * (g * g);
    const float size = step.adaptive ? sqrtf(v * step.unbias) + step.epsilon : 1.0f;
    mean[at] = m, square[at] = v;
    weights[at] = limited(step.keep * weights[at] - step.rate * m / size, limits, at);
}

/// SGD with momentum `beta1`.
KERNEL descend(Step step, const float* gradient, const float* factor, const float* limits, float* weights,
               float* velocity) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= step.count) {
        return;
    }
    const float g = factor ? gradient[at] * *factor : gradient[at];
    const float v = step.beta1 * velocity[at] + g;
    velocity[at] = v;
    weights[at] = limited(weights[at] - step.rate * v, limits, at);
}

/// Lookahead: pulls the weights back to a slow copy that follows them.
KERNEL look_back(float share, const float* limits, float* weights, float* slow, u32 count) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) {
        const float s = slow[at] + share * (weights[at] - slow[at]);
        slow[at] = s;
        weights[at] = limited(s, limits, at);
    }
}

/// Exponential average of the weights.
KERNEL average(float keep, const float* weights, float* mean, u32 count) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) {
        mean[at] = keep * mean[at] + (1.0f - keep) * weights[at];
    }
}
