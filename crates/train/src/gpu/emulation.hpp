// Runs the kernels on the CPU, for tests without a GPU: the same sources, compiled by a C++ compiler.
//
// Blocks run one after another. The threads of a block run on fibers: each runs until it waits at a barrier
// or in a warp exchange; then another fiber starts the next thread or resumes a waiting one. Threads that
// never wait share a single fiber. The order of blocks and threads can be reversed: results must not depend
// on it.
//
// Allocations end at a guard page and hold NaN bytes.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <tuple>
#include <ucontext.h>
#include <utility>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __constant__ static const

/// Vector loads with the alignment a GPU needs.
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

namespace emulation {

struct Dim {
    unsigned x, y, z;
};

const unsigned MOST_THREADS = 1024, WARP_LANES = 32;
const size_t STACK = 1 << 16;

/// Barrier of fibers.
struct Barrier {
    unsigned arrived, alive, generation;
};

struct Fiber {
    Dim thread;
    bool started, idle;
    void* at[5];
    ucontext_t context;
};

struct Machine {
    Dim grid, block, block_at;
    Fiber fibers[MOST_THREADS];
    char* stacks;
    /// Threads of the block, next to start, not yet ended; fibers in use, and the running one.
    unsigned count, next, left, used, running;
    Barrier all, warps[MOST_THREADS / WARP_LANES];
    uint64_t lanes[2][MOST_THREADS];
    void* scheduler[5];
    void (*call)(void*);
    void* arguments;
    bool backwards;
};

inline Machine machine;

// __builtin_setjmp saves three registers and makes no call: a test switches fibers some million times.
__attribute__((noinline)) inline void jump(void** to) { __builtin_longjmp(to, 1); }

__attribute__((noinline)) inline void yield() {
    if (__builtin_setjmp(machine.fibers[machine.running].at) == 0) {
        jump(machine.scheduler);
    }
}

/// The running thread.
inline unsigned own() { return machine.fibers[machine.running].thread.x; }

inline void wait(Barrier& barrier) {
    const unsigned generation = barrier.generation;
    if (++barrier.arrived >= barrier.alive) {
        barrier.arrived = 0;
        barrier.generation++;
        return;
    }
    while (barrier.generation == generation) {
        yield();
    }
}

/// Removes an ended thread from a barrier.
inline void leave(Barrier& barrier) {
    barrier.alive--;
    if (barrier.alive > 0 && barrier.arrived >= barrier.alive) {
        barrier.arrived = 0;
        barrier.generation++;
    }
}

/// Runs one thread after another until none is left to start.
inline void loop() {
    Fiber& fiber = machine.fibers[machine.running];
    for (;;) {
        while (machine.next < machine.count) {
            const unsigned nth = machine.next++;
            fiber.thread = {machine.backwards ? machine.count - 1 - nth : nth, 0, 0};
            machine.call(machine.arguments);
            leave(machine.all);
            leave(machine.warps[fiber.thread.x / WARP_LANES]);
            machine.left--;
        }
        fiber.idle = true;
        yield();
        fiber.idle = false;
    }
}

__attribute__((noinline)) inline void start(Fiber& fiber, unsigned n) {
    fiber.started = true;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = machine.stacks + n * STACK;
    fiber.context.uc_stack.ss_size = STACK;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, (void (*)())loop, 0);
    setcontext(&fiber.context);
}

__attribute__((noinline)) inline void resume(unsigned n) {
    machine.running = n;
    if (__builtin_setjmp(machine.scheduler) != 0) {
        return;
    }
    if (machine.fibers[n].started) {
        jump(machine.fibers[n].at);
    }
    start(machine.fibers[n], n);
}

inline void run_block() {
    machine.all = {0, machine.count, 0};
    for (unsigned n = 0; n < machine.count; n += WARP_LANES) {
        const unsigned lanes = machine.count - n < WARP_LANES ? machine.count - n : WARP_LANES;
        machine.warps[n / WARP_LANES] = {0, lanes, 0};
    }
    machine.next = machine.used = 0, machine.left = machine.count;
    while (machine.next < machine.count) {
        resume(machine.used++);
    }
    while (machine.left > 0) {
        for (unsigned n = 0; n < machine.used; n++) {
            if (!machine.fibers[n].idle) {
                resume(n);
            }
        }
    }
}

inline void run(Dim grid, unsigned threads, void (*call)(void*), void* arguments) {
    machine.grid = grid, machine.block = {threads, 1, 1}, machine.count = threads;
    machine.call = call, machine.arguments = arguments;
    if (!machine.stacks) {
        machine.stacks = (char*)malloc(MOST_THREADS * STACK);
    }
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    for (uint64_t i = 0; i < blocks; i++) {
        const uint64_t n = machine.backwards ? blocks - 1 - i : i;
        machine.block_at = {(unsigned)(n % grid.x), (unsigned)(n / grid.x % grid.y), (unsigned)(n / grid.x / grid.y)};
        run_block();
    }
}

/// Values of all lanes of this warp.
template <class T> const uint64_t* exchange(T value) {
    static_assert(sizeof(T) <= 8, "a lane's value");
    const unsigned thread = own();
    Barrier& warp = machine.warps[thread / WARP_LANES];
    uint64_t* lanes = machine.lanes[warp.generation % 2];
    memcpy(&lanes[thread], &value, sizeof value);
    wait(warp);
    return lanes + thread / WARP_LANES * WARP_LANES;
}

template <class T> T taken(const uint64_t* lanes, unsigned lane) {
    T value;
    memcpy(&value, &lanes[lane % WARP_LANES], sizeof value);
    return value;
}

inline unsigned lane() { return own() % WARP_LANES; }

/// Calls a kernel with arguments by pointer.
template <class... Args, size_t... Is> void invoke(void (*kernel)(Args...), void** at, std::index_sequence<Is...>) {
    kernel(*(std::remove_reference_t<Args>*)at[Is]...);
}
template <class... Args> void invoke(void (*kernel)(Args...), void** at) {
    invoke(kernel, at, std::index_sequence_for<Args...>());
}

} // namespace emulation

#define threadIdx (emulation::machine.fibers[emulation::machine.running].thread)
#define blockIdx (emulation::machine.block_at)
#define blockDim (emulation::machine.block)
#define gridDim (emulation::machine.grid)

inline void __syncthreads() { emulation::wait(emulation::machine.all); }
inline void __syncwarp() { emulation::exchange(0); }

template <class T> T __shfl_sync(unsigned, T value, unsigned from) {
    return emulation::taken<T>(emulation::exchange(value), from);
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
    return emulation::taken<T>(emulation::exchange(value), emulation::lane() ^ mask);
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned by) {
    const unsigned lane = emulation::lane();
    return emulation::taken<T>(emulation::exchange(value), lane >= by ? lane - by : lane);
}
inline unsigned __ballot_sync(unsigned, bool is) {
    const uint64_t* lanes = emulation::exchange<uint64_t>(is);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < emulation::WARP_LANES; lane++) {
        bits |= (unsigned)lanes[lane] << lane;
    }
    return bits;
}

inline unsigned atomicOr(unsigned* at, unsigned bits) {
    const unsigned before = *at;
    *at |= bits;
    return before;
}
inline unsigned atomicAdd(unsigned* at, unsigned value) {
    const unsigned before = *at;
    *at += value;
    return before;
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
    const unsigned before = *at;
    *at = value > before ? value : before;
    return before;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(unsigned x) { return __builtin_ffs(x); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll(x); }
inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; bit++) {
        reversed |= (x >> bit & 1) << (63 - bit);
    }
    return reversed;
}
inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}
inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

/// Allocates memory with a guard page at its end; null if there is none.
extern "C" void* emulation_allocate(size_t bytes) {
    const size_t page = 4096, whole = (bytes + page - 1) / page * page;
    char* at = (char*)mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return nullptr;
    }
    mprotect(at + whole, page, PROT_NONE);
    memset(at, 0xff, whole);
    // As close to the end as the alignment of the widest loads allows.
    return at + (whole - (bytes + 15) / 16 * 16);
}

extern "C" void emulation_release(void* at, size_t bytes) {
    const size_t page = 4096, whole = (bytes + page - 1) / page * page;
    munmap((char*)at - (whole - (bytes + 15) / 16 * 16), whole + page);
}
