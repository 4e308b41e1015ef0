// Feature rows, output bucket and target of packed positions of 32 bytes; row lists would be several times as
// large to send.
//
// Writes the rows of every perspective in the order of the CPU and, for the backward pass, a bit per row and
// perspective, from which lists.cu makes lists. Bits have no order, so neither have the lists. One warp per
// perspective; each lane looks at two squares. unbucketed.cu has the blocks that all king buckets share.
#include "common.cuh"
#include "features.cuh"
#include "record.cuh"

/// Phase of a piece code.
__constant__ u32 PHASES[8] = {0, 1, 1, 2, 4, 0, 2, 0};

__device__ inline u32 bucket_of(const Net& net, const u8* outputs, const Record& record) {
    if (!net.by_phase) {
        return outputs[__popcll(record.occupied)];
    }
    const u32 pieces = min((u32)__popcll(record.occupied), PIECES);
    u32 phase = 0;
    for (u32 n = 0; n < pieces; n++) {
        phase += PHASES[code_of(record, n) % 8];
    }
    return outputs[min(phase, 24u)];
}

/// Piece squares: a lane has the pieces of its two squares.
__device__ inline u32 put_squares(const Place& place, const u8* kings, const Record& record, bool black, bool sound) {
    const Net& net = place.net;
    const u32 lane = threadIdx.x % WARP;
    const u32 low = code_on(record, lane), high = code_on(record, lane + WARP);
    const u8 bucket = king_bucket(kings, low, high, black);
    const u32 base = net.features * (bucket & 127), flip = flip_of(bucket, black);
    const u32 pieces = min((u32)__popcll(record.occupied), PIECES);
    for (u32 half = 0; half < 2 && sound; half++) {
        const u32 square = lane + WARP * half, code = half ? high : low;
        if (code != 7) {
            const u32 theirs = (code / 8 == 1) != black ? 384 : 0;
            const u32 at = __popcll(record.occupied & ((1ull << square) - 1));
            place.put(at, base + theirs + 64 * role_of(code) + (square ^ flip));
        }
    }
    return sound ? pieces : 0;
}

/// Any feature blocks, through a bit set, as features may be found twice. Board and set belong to the warp,
/// in shared memory.
__device__ inline u32 put_sets(const Place& place, const u8* kings, const Record& record, bool black, Board& board,
                               u32* set) {
    const Net& net = place.net;
    const u32 lane = threadIdx.x % WARP;
    const u32 low = code_on(record, lane), high = code_on(record, lane + WARP);
#pragma unroll 1
    for (u32 kind = 0; kind < 12; kind++) {
        const u32 role = kind % 6, color = (kind / 6 == 1) != black;
        const u32 above = __ballot_sync(ALL, high != 7 && role_of(high) == role && high / 8 == color);
        const u32 below = __ballot_sync(ALL, low != 7 && role_of(low) == role && low / 8 == color);
        const u64 squares = (u64)above << 32 | below;
        if (lane == kind) {
            board.pieces[kind] = black ? swapped(squares) : squares;
        }
    }
    __syncwarp();
    const u8 bucket = kings[board.pieces[5] ? __ffsll(board.pieces[5]) - 1 : 0];
    __syncwarp();
    if (bucket >> 7 && lane < 12) {
        board.pieces[lane] = swapped(__brevll(board.pieces[lane]));
    }
    const u32 words = (net.features + 31) / 32;
    for (u32 word = lane; word < words; word += WARP) {
        set[word] = 0;
    }
    __syncwarp();
    write_sets(net.sets, board, set, lane);
    __syncwarp();
    u32 total = 0;
    for (u32 first = 0; first < words; first += WARP) {
        u32 left = first + lane < words ? set[first + lane] : 0;
        const u32 own = __popc(left), upto = scan_over(WARP, own);
        for (u32 at = total + upto - own; left; left &= left - 1) {
            place.put(at++, net.features * (bucket & 127) + 32 * (first + lane) + __ffs(left) - 1);
        }
        total += __shfl_sync(ALL, upto, WARP - 1);
    }
    return total;
}

/// `tables`: king bucket of each square, plus 128 where the board is mirrored; then the output bucket by
/// piece count (0 to 64) or phase (0 to 24). `bits`, `[window][row][word]`, and `bucket_bits` may be null.
KERNEL extract(Net net, const u8* tables, const Record* records, u32 positions, Target target, u16* rows,
               u32* counts, u32* bits, u32 words, float* targets, u8* buckets, u32* bucket_bits, u32 bucket_words) {
    __shared__ u32 sets[4][MOST_WORDS];
    __shared__ Board boards[4];
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const u32 view = blockIdx.x * 4 + warp, position = view / net.views;
    // Whole warps return.
    if (position >= positions) {
        return;
    }
    const Record record = records[position];
    const bool black = is_black(net, record, view);
    const bool sound = is_sound(record);
    const Place place = place_of(net, rows, bits, words, view);
    u32 count = 0;
    if ((net.sets & BUCKETED) == 1) {
        count = put_squares(place, tables, record, black, sound);
    } else if (sound && __popcll(record.occupied) <= PIECES) {
        count = put_sets(place, tables, record, black, boards[warp], sets[warp]);
    }
    if (lane == 0) {
        counts[view] = count;
    }
    if (lane == 0 && view % net.views == 0) {
        const u32 bucket = bucket_of(net, tables + 64, record);
        targets[position] = target_of(record, target);
        buckets[position] = (u8)bucket;
        if (bucket_bits) {
            atomicOr(&bucket_bits[(size_t)bucket * bucket_words + position / 32], 1u << position % 32);
        }
    }
}
