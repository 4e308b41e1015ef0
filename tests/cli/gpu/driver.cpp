// A stand-in for NVIDIA's driver library: the functions that patzer calls, over the emulation of the trainer's kernels.
//
// As on a real device, nothing happens before it has to: each stream keeps what was asked of it until somebody waits for
// it. So a copy that is not waited for is a copy that was not made, and memory that is filled again too early is wrong.
#include "emulation.hpp"

#include "all.cu"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

enum Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, NOT_FOUND = 500 };

struct Stream {
    std::deque<std::function<void()>> asked;
    unsigned long long done = 0, count = 0;

    void ask(std::function<void()> what) {
        asked.push_back(std::move(what));
        count++;
    }
    void reach(unsigned long long goal) {
        while (done < goal) {
            std::function<void()> next = std::move(asked.front());
            asked.pop_front();
            done++;
            next();
        }
    }
};

struct Event {
    Stream* stream = nullptr;
    unsigned long long at = 0;

    void wait() const {
        if (stream) {
            stream->reach(at);
        }
    }
};

/// A kernel bound to its parameters, which are copied at the launch.
template <class... Args> std::function<void()> bound(void (*kernel)(Args...), void** at) {
    size_t next = 0;
    std::tuple<Args...> args{*(Args*)at[next++]...};
    return [kernel, args] { std::apply(kernel, args); };
}
using Bind = std::function<void()> (*)(void**);
template <auto K> std::function<void()> bind(void** at) { return bound(K, at); }

const std::map<std::string, Bind> KERNELS = {
#define ENTRY(name) {#name, bind<name>},
    ENTRIES
};

void* current = nullptr;
std::map<unsigned long long, size_t> sizes;

/// Number of launches by graphs and alone, printed at the end on request.
size_t by_graph = 0, alone = 0;
__attribute__((destructor)) void tell() {
    if (getenv("EMULATION_TELLS")) {
        fprintf(stderr, "%zu nodes of graphs, %zu kernels alone\n", by_graph, alone);
    }
}

void call(void* what) { (*(std::function<void()>*)what)(); }

} // namespace

extern "C" {

int cuInit(unsigned) { return SUCCESS; }
int cuDeviceGetCount(int* count) { return *count = 1, SUCCESS; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, ordinal == 0 ? SUCCESS : INVALID_DEVICE; }
int cuDeviceGetName(char* name, int size, int) { return snprintf(name, size, "Emulation"), SUCCESS; }
int cuDeviceGetAttribute(int* value, int which, int) {
    // The compute capability, 8.0; of everything else there is none.
    return *value = which == 75 ? 8 : 0, SUCCESS;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &current, SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxGetCurrent(void** context) { return *context = current, SUCCESS; }
int cuCtxSetCurrent(void* context) { return current = context, SUCCESS; }
int cuGetErrorName(int, const char** text) { return *text = "EMULATED", SUCCESS; }
int cuGetErrorString(int, const char** text) { return *text = "emulated fault", SUCCESS; }

int cuCtxSynchronize() { return SUCCESS; }

int cuStreamCreate(Stream** stream, unsigned) { return *stream = new Stream, SUCCESS; }
int cuStreamDestroy_v2(Stream*) { return SUCCESS; }
int cuStreamSynchronize(Stream* stream) { return stream->reach(stream->count), SUCCESS; }
int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
    const Event then = *event;
    return stream->ask([then] { then.wait(); }), SUCCESS;
}
int cuEventCreate(Event** event, unsigned) { return *event = new Event, SUCCESS; }
int cuEventDestroy_v2(Event* event) { return delete event, SUCCESS; }
int cuEventRecord(Event* event, Stream* stream) {
    *event = {stream, stream->count};
    return SUCCESS;
}
int cuEventSynchronize(Event* event) { return event->wait(), SUCCESS; }

int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = (size_t)8 << 30, SUCCESS; }
int cuMemAlloc_v2(unsigned long long* at, size_t bytes) {
    *at = (unsigned long long)emulation_allocate(bytes);
    sizes[*at] = bytes;
    return *at ? SUCCESS : OUT_OF_MEMORY;
}
int cuMemFree_v2(unsigned long long at) {
    if (!sizes.count(at)) {
        return INVALID_VALUE;
    }
    emulation_release((void*)at, sizes[at]);
    return sizes.erase(at), SUCCESS;
}
int cuMemHostAlloc(void** at, size_t bytes, unsigned) {
    unsigned long long where;
    const int result = cuMemAlloc_v2(&where, bytes);
    return *at = (void*)where, result;
}
int cuMemFreeHost(void* at) { return cuMemFree_v2((unsigned long long)at); }
int cuMemsetD8Async(unsigned long long at, unsigned char value, size_t bytes, Stream* stream) {
    return stream->ask([=] { memset((void*)at, value, bytes); }), SUCCESS;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, Stream* stream) {
    return stream->ask([=] { memcpy((void*)to, from, bytes); }), SUCCESS;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, Stream* stream) {
    return stream->ask([=] { memcpy(to, (void*)from, bytes); }), SUCCESS;
}

int cuModuleLoadData(void** module, const void* image) {
    *module = &current;
    return strstr((const char*)image, ".version") ? SUCCESS : INVALID_VALUE;
}
int cuModuleUnload(void*) { return SUCCESS; }
int cuModuleGetFunction(const Bind** function, void*, const char* name) {
    const auto found = KERNELS.find(name);
    if (found == KERNELS.end()) {
        return NOT_FOUND;
    }
    return *function = &found->second, SUCCESS;
}
// A graph is a list of what is done one after another; a node is its place in there.
struct Graph {
    std::vector<std::function<void()>> nodes;
};
struct Launch {
    const Bind* function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};
struct Clear {
    unsigned long long at;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};
std::function<void()> launched(const Launch& launch) {
    // A fault on demand: a kernel that does nothing.
    const char* without = getenv("EMULATION_WITHOUT");
    if (without && launch.function == &KERNELS.at(without)) {
        return [] {};
    }
    const std::function<void()> body = (*launch.function)(launch.params);
    return [=] { emulation::run({launch.grid[0], launch.grid[1], launch.grid[2]}, launch.block[0], call, (void*)&body); };
}
int add(void** node, Graph* graph, void* const* before, size_t count, std::function<void()> what) {
    const size_t at = graph->nodes.size();
    if (count != (at > 0) || (at > 0 && *before != (void*)at)) {
        return INVALID_VALUE;
    }
    graph->nodes.push_back(std::move(what));
    return *node = (void*)(at + 1), SUCCESS;
}
int cuGraphCreate(Graph** graph, unsigned) {
    // Devices without graphs do the same by single launches.
    return *graph = new Graph, getenv("EMULATION_NO_GRAPHS") ? NOT_FOUND : SUCCESS;
}
int cuGraphDestroy(Graph* graph) { return delete graph, SUCCESS; }
int cuGraphExecDestroy(Graph* graph) { return delete graph, SUCCESS; }
int cuGraphAddKernelNode_v2(void** node, Graph* graph, void* const* before, size_t count, const Launch* launch) {
    return add(node, graph, before, count, launched(*launch));
}
int cuGraphAddMemsetNode(void** node, Graph* graph, void* const* before, size_t count, const Clear* clear, void*) {
    const Clear own = *clear;
    const auto what = [own] { memset((void*)own.at, own.value, own.element * own.width * own.height); };
    return add(node, graph, before, count, what);
}
int cuGraphInstantiateWithFlags(Graph** ready, Graph* graph, unsigned long long) {
    return *ready = new Graph(*graph), SUCCESS;
}
int cuGraphExecKernelNodeSetParams_v2(Graph* ready, void* node, const Launch* launch) {
    return ready->nodes.at((size_t)node - 1) = launched(*launch), SUCCESS;
}
int cuGraphLaunch(Graph* ready, Stream* stream) {
    by_graph += ready->nodes.size();
    const Graph now = *ready;
    return stream->ask([now] {
        for (const auto& node : now.nodes) {
            node();
        }
    }), SUCCESS;
}
int cuLaunchKernel(const Bind* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                   unsigned, Stream* stream, void** params, void**) {
    alone++;
    return stream->ask(launched({function, {x, y, z}, {threads, 1, 1}, 0, params})), SUCCESS;
}
}
