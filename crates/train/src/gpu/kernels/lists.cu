// From bit sets to lists: the members of each window and row in ascending order.
//
// A window's lists are stored one after another with the start of each row. Long lists are split into items
// of SEGMENT members, so that a row that every second position has delays none.
#include "common.cuh"

/// Warps per block that lists rows, and most that scan them.
const u32 LIST_WARPS = 8, SCAN_WARPS = 32;

__device__ inline u32 items_of(u32 members) { return (members + SEGMENT - 1) / SEGMENT; }

/// Members of each row of all windows. `lanes` lanes share a row, so that its words are read together.
KERNEL count_rows(const u32* bits, u32 rows, u32 words, u32 lanes, u32* counts) {
    const u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    u32 count = 0;
    for (u32 word = lane; word < words && row < rows; word += lanes) {
        count += __popc(bits[(size_t)row * words + word]);
    }
    count = sum_over(lanes, count);
    if (lane == 0 && row < rows) {
        counts[row] = count;
    }
}

/// Rows of a window and the space each takes.
struct Rows {
    const u32* counts;
    u32 rows, own_views; // members of the extra row
    bool lists;          // of views: they begin at multiples of four, so that four members are one load
    bool partial;        // every row has partial sums, not only one of several items

    __device__ u32 count(u32 row) const { return row < rows ? counts[row] : own_views; }

    __device__ void add(Starts& sum, u32 row) const {
        const u32 members = count(row), items = items_of(members);
        sum.members += lists ? (members + 3) / 4 * 4 : members;
        sum.items += items;
        sum.parts += items > 1 || partial ? items : 0;
    }
};

__device__ inline void add(Starts& sum, const Starts& other) {
    sum.members += other.members, sum.items += other.items, sum.parts += other.parts;
}

/// Start of each row of a window, one block per window; each warp has a run of rows. If `everybody` is not 0, an extra row has all members
/// of its window, of `everybody` in total.
KERNEL scan_rows(Windows windows, const u32* counts, u32 rows, u32 everybody, Starts* starts) {
    __shared__ Starts sums[SCAN_WARPS];
    const u32 window = blockIdx.x, all_rows = everybody ? rows + 1 : rows, views = 32 * windows.words;
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    const u32 share = (all_rows + warps * WARP - 1) / (warps * WARP) * WARP;
    const u32 first = min(warp * share, all_rows), last = min(first + share, all_rows);
    const u32 own_views = everybody ? min(views, everybody - window * views) : 0;
    const Rows own = {counts + (size_t)window * rows, rows, own_views, everybody > 0, gridDim.x > 1};
    starts += (size_t)window * (rows + 2);
    Starts sum = {0, 0, 0, 0};
    for (u32 row = first + lane; row < last; row += WARP) {
        own.add(sum, row);
    }
    sum = {sum_over(WARP, sum.members), sum_over(WARP, sum.items), sum_over(WARP, sum.parts), 0};
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    Starts at = {window * windows.members, window * windows.items, window * windows.parts, 0};
    for (u32 before = 0; before < warp; before++) {
        add(at, sums[before]);
    }
    for (u32 next = first; next < last; next += WARP) {
        const u32 row = next + lane;
        Starts mine = {0, 0, 0, 0};
        if (row < last) {
            own.add(mine, row);
        }
        const Starts upto = {scan_over(WARP, mine.members), scan_over(WARP, mine.items), scan_over(WARP, mine.parts), 0};
        if (row < last) {
            starts[row] = {at.members + upto.members - mine.members, at.items + upto.items - mine.items,
                           at.parts + upto.parts - mine.parts, own.count(row)};
        }
        add(at, {__shfl_sync(ALL, upto.members, WARP - 1), __shfl_sync(ALL, upto.items, WARP - 1),
                 __shfl_sync(ALL, upto.parts, WARP - 1), 0});
    }
    if (warp == warps - 1 && lane == 0) {
        starts[all_rows] = at;
    }
}

/// Writes the members, and the row of each item. `lanes` lanes share a row, and with 32 lanes `each` warps of
/// the block: a warp counts the members in its run of words, which gives the start of the next, and its lanes
/// find their places by a scan. `item_rows` may be null; the extra row has everybody. The second grid
/// dimension is the window, in which members count from 0.
KERNEL list_rows(const u32* bits, u32 rows, u32 all_rows, u32 words, u32 lanes, u32 each, const Starts* starts,
                 u32* members, u32* item_rows) {
    __shared__ u32 counts[LIST_WARPS];
    const u32 window = blockIdx.y;
    bits += (size_t)window * rows * words, starts += (size_t)window * (rows + 2);
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % lanes, nth = warp % each;
    const u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / (lanes * each);
    const bool is = row < rows && starts[row].count > 0;
    // Most rows of a large table occur in no position of a batch. Lanes of one warp take the same path,
    // whichever row they have.
    const u32 run = (words + each - 1) / each, start = min(nth * run, words);
    const u32 end = is || lanes < WARP ? min(start + run, words) : start;
    const u32* own = bits + (size_t)row * words;
    u32 total = is ? starts[row].members : 0;
    if (each > 1) {
        u32 count = 0;
        for (u32 word = start + lane; word < end; word += WARP) {
            count += __popc(own[word]);
        }
        counts[warp] = sum_over(WARP, count);
        __syncthreads();
        for (u32 before = warp - nth; before < warp; before++) {
            total += counts[before];
        }
    }
    if (item_rows && row < all_rows) {
        for (u32 item = starts[row].items + nth * lanes + lane; item < starts[row + 1].items; item += each * lanes) {
            item_rows[item] = row;
        }
    }
    if (row == rows && row < all_rows) {
        for (u32 i = nth * lanes + lane; i < starts[row].count; i += each * lanes) {
            members[starts[row].members + i] = i;
        }
    }
    for (u32 first = start; first < end; first += lanes) {
        u32 left = is && first + lane < end ? own[first + lane] : 0;
        const u32 mine = __popc(left), upto = scan_over(lanes, mine);
        for (u32 at = total + upto - mine; left; left &= left - 1) {
            members[at++] = 32 * (first + lane) + __ffs(left) - 1;
        }
        total += __shfl_sync(ALL, upto, threadIdx.x % WARP | (lanes - 1));
    }
}
