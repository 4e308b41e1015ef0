// Rows of the feature blocks that all king buckets share, after the rows of extract.cu: pawn pairs, threats and
// the halfmove clock.
//
// One warp per perspective, one lane per piece. A lane lists the other pieces of its pairs, and a scan finds its
// place among the rows: no feature is found twice, so that tens of thousands of them need no bit set. Rows are in
// the order of the CPU's lists: pieces in the order of White's squares, whoever looks.
#include "common.cuh"
#include "features.cuh"
#include "record.cuh"

/// Features of the blocks after SETS, and pawn pairs of one side.
__constant__ u32 UNBUCKETED_COUNTS[3] = {1488, 50626, 8};
const u32 ONE_SIDE = 372;
/// Halfmoves of a feature of the clock.
const u32 CLOCK_STEP = 12;

const u32 PAWN = 0, QUEEN = 4, KING = 5;
/// Roles that a role's threats count for, a bit each.
__constant__ u32 VICTIMS[5] = {11, 31, 15, 15, 31};
/// Shape of threats of their pawns.
const u32 THEIR_PAWN = 5;

/// The pairs of squares that a feature can have: for each first square the second ones, and the number of pairs
/// before. `SquarePairs` of patzer_eval.
struct SquarePairs {
    u64 masks[64];
    u32 before[64];

    __device__ u32 number(u32 first, u32 second) const {
        return before[first] + __popcll(masks[first] & ((1ull << second) - 1));
    }
};

/// Numbers of pairs of pieces, from the tables of patzer_eval (`pair_numbers` of kernel_args.rs).
struct PairNumbers {
    SquarePairs one_side, both_sides, shapes[16];
    /// First number, shape << 16, and 1 << 24 if the squares swap: `[attacker][victim][attacker's is higher]`.
    u32 kinds[12][12][2];
};

struct Piece {
    u32 code, square;

    __device__ u32 role() const { return role_of(code); }
    __device__ bool is_black() const { return code / 8 == 1; }
};

/// A side that looks at the board.
struct Side {
    bool black;
    u32 flip;

    __device__ u32 kind(const Piece& piece) const { return piece.role() + (piece.is_black() != black ? 6 : 0); }
    __device__ u32 square(const Piece& piece) const { return piece.square ^ flip; }
};

/// Square of the nth piece.
__device__ inline u32 nth_square(u64 occupied, u32 n) {
    u32 square = 0;
    for (u32 step = 32; step > 0; step /= 2) {
        const u32 below = __popcll(occupied >> square & ((1ull << step) - 1));
        if (n >= below) {
            n -= below, square += step;
        }
    }
    return square;
}

__device__ inline Piece piece_on(const Record& record, u32 square) { return {code_on(record, square), square}; }

/// Later pawns on the file of a pawn and on adjacent files.
__device__ inline u64 partners(const PairNumbers& numbers, const Record& record, const Piece& piece) {
    if (piece.role() != PAWN) {
        return 0;
    }
    u64 found = 0;
    const u64 later = ~1ull << piece.square;
    for (u64 left = numbers.both_sides.masks[piece.square] & record.occupied & later; left; left &= left - 1) {
        const u32 square = __ffsll(left) - 1;
        found |= piece_on(record, square).role() == PAWN ? 1ull << square : 0;
    }
    return found;
}

__device__ inline u32 pawn_pair(const PairNumbers& numbers, const Side& side, const Piece& a, const Piece& b) {
    const u32 first = side.square(a), second = side.square(b);
    const bool theirs = side.kind(a) != PAWN, same = a.is_black() == b.is_black();
    // The lower pawn comes first, or the own one.
    const bool swap = same ? first > second : theirs;
    const u32 from = swap ? second : first, to = swap ? first : second;
    return same ? (theirs ? ONE_SIDE : 0) + numbers.one_side.number(from, to)
                : 2 * ONE_SIDE + numbers.both_sides.number(from, to);
}

/// Squares of the pieces that a piece attacks or defends. Of two pieces of one role that attack each other, White's
/// counts, or the one on the lower square.
__device__ inline u64 victims(const PairNumbers& numbers, const Record& record, const Piece& piece) {
    const u32 role = piece.role();
    if (role > QUEEN) {
        return 0;
    }
    u64 targets = numbers.shapes[role == PAWN && piece.is_black() ? THEIR_PAWN : role].masks[piece.square];
    if (role > 1) {
        targets = attacked(role, piece.square, record.occupied);
    }
    u64 found = 0;
    for (u64 left = targets & record.occupied; left; left &= left - 1) {
        const u32 square = __ffsll(left) - 1;
        const Piece victim = piece_on(record, square);
        const bool same_side = victim.is_black() == piece.is_black();
        const bool first = same_side ? role == PAWN || square > piece.square : !piece.is_black();
        if (VICTIMS[role] >> victim.role() & 1 && (victim.role() != role || first)) {
            found |= 1ull << square;
        }
    }
    return found;
}

__device__ inline u32 threat(const PairNumbers& numbers, const Side& side, const Piece& attacker, const Piece& victim) {
    const u32 from = side.square(attacker), to = side.square(victim);
    const u32 kinds = numbers.kinds[side.kind(attacker)][side.kind(victim)][from > to];
    const SquarePairs& shape = numbers.shapes[kinds >> 16 & 255];
    return (kinds & 0xffff) + (kinds >> 24 ? shape.number(to, from) : shape.number(from, to));
}

/// Appends the rows of a lane's pairs after the rows of the lanes before, and returns the number of all rows. Boards
/// with more features than any game reaches lose the last ones.
template <class Feature>
__device__ inline u32 put_pairs(const Place& place, u32 total, u64 others, u32 first_row, Feature feature) {
    const u32 own = __popcll(others), upto = scan_over(WARP, own);
    u32 at = total + upto - own;
    for (u64 left = others; left && at < place.net.stride; left &= left - 1) {
        place.put(at++, first_row + feature(__ffsll(left) - 1));
    }
    return min(total + __shfl_sync(ALL, upto, WARP - 1), place.net.stride);
}

/// `counts`: numbers of rows, before and after. `extract` has the other parameters too.
KERNEL extract_unbucketed(Net net, const u8* kings, const PairNumbers* numbers, const Record* records, u32 positions,
                          u16* rows, u32* counts, u32* bits, u32 words) {
    const u32 lane = threadIdx.x % WARP, view = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    const u32 position = view / net.views;
    // Whole warps return.
    if (position >= positions || !is_sound(records[position]) || __popcll(records[position].occupied) > PIECES) {
        return;
    }
    const Record record = records[position];
    const bool black = is_black(net, record, view);
    const u8 bucket = king_bucket(kings, code_on(record, lane), code_on(record, lane + WARP), black);
    const Side side = {black, flip_of(bucket, black)};
    const Place place = place_of(net, rows, bits, words, view);
    Piece piece = {KING, 0};
    if (lane < __popcll(record.occupied)) {
        piece = {code_of(record, lane), nth_square(record.occupied, lane)};
    }
    u32 total = counts[view], row = net.bucketed_rows;
    // Every lane has read the count before it changes.
    __syncwarp();
    if (net.sets >> PAWN_PAIRS & 1) {
        const auto feature = [&](u32 to) { return pawn_pair(*numbers, side, piece, piece_on(record, to)); };
        total = put_pairs(place, total, partners(*numbers, record, piece), row, feature);
        row += UNBUCKETED_COUNTS[0];
    }
    if (net.sets >> THREATS & 1) {
        const auto feature = [&](u32 to) { return threat(*numbers, side, piece, piece_on(record, to)); };
        total = put_pairs(place, total, victims(*numbers, record, piece), row, feature);
        row += UNBUCKETED_COUNTS[1];
    }
    if (net.sets >> CLOCK & 1 && total < net.stride) {
        if (lane == 0) {
            place.put(total, row + min(record.halfmoves / CLOCK_STEP, UNBUCKETED_COUNTS[2] - 1));
        }
        total++;
    }
    if (lane == 0) {
        counts[view] = total;
    }
}
