// Positions as the device reads them, their targets, one side's view of the king, and the place of a perspective's rows.
#pragma once
#include "common.cuh"

/// `Record` of records.rs.
struct Record {
    u64 occupied; // squares, a1 first
    u64 codes[2]; // 8 × black + role, four bits each, in square order
    short score;  // centipawns for the side to move
    short result; // from White's side, 1 << 14 is a win
    u8 flags;     // 1 if Black is to move, 2 if there is a score
    u8 halfmoves; // of the fifty-move rule
    u16 ply;      // of the game

    __device__ bool black() const { return flags & 1; }
    __device__ bool scored() const { return flags & 2; }
};

const float WIN = 16384.0f;

/// `Target` of loss.rs.
struct Target {
    float wdl, k, offset;
};

/// Result for the side to move, 0 to 1.
__device__ inline float result_of(const Record& record) {
    const float white = (float)record.result * (0.5f / WIN) + 0.5f;
    return record.black() ? 1.0f - white : white;
}

__device__ inline float target_of(const Record& record, const Target& target) {
    const float result = result_of(record);
    if (!record.scored()) {
        return result;
    }
    const float expected = expected_of(target.k * (float)record.score / 400.0f, target.offset);
    return target.wdl * result + (1.0f - target.wdl) * expected;
}

/// Chance of a draw in the target of a WDL head.
__device__ inline float draw_of(const Record& record, const Target& target) {
    const float drawn = 1.0f - fabsf(2.0f * result_of(record) - 1.0f);
    if (!record.scored()) {
        return drawn;
    }
    const float x = target.k * (float)record.score / 400.0f;
    const float decided = sigmoid(x - target.offset) + sigmoid(-x - target.offset);
    return target.wdl * drawn + (1.0f - target.wdl) * fmaxf(1.0f - decided, 0.0f);
}

/// Most pieces of a record.
const u32 PIECES = 32;

/// Code of the nth piece.
__device__ inline u32 code_of(const Record& record, u32 n) {
    return (n < 16 ? record.codes[0] : record.codes[1]) >> 4 * (n % 16) & 15;
}

/// Code on a square, or 7, which no piece has.
__device__ inline u32 code_on(const Record& record, u32 square) {
    if (!(record.occupied >> square & 1)) {
        return 7;
    }
    const u32 before = __popcll(record.occupied & ((1ull << square) - 1));
    return before < PIECES ? code_of(record, before) : 7;
}

/// Pawn 0 to king 5; code 6, a rook with castling rights, is a rook.
__device__ inline u32 role_of(u32 code) { return code % 8 == 6 ? 3 : code % 8; }

/// Codes 7 and 15 are no pieces: such a board has no rows.
__device__ inline bool is_sound(const Record& record) {
    const u64 low = record.codes[0], high = record.codes[1], fours = 0x1111111111111111ull;
    return !((low & low >> 1 & low >> 2 | high & high >> 1 & high >> 2) & fours);
}

/// King bucket of a side, plus 128 where its board is mirrored. `low` and `high` are the codes on squares
/// `lane` and `lane + 32`.
__device__ inline u8 king_bucket(const u8* kings, u32 low, u32 high, bool black) {
    const u32 king = black ? 13 : 5;
    const u64 own = (u64)__ballot_sync(ALL, high == king) << 32 | __ballot_sync(ALL, low == king);
    return kings[(own ? 63 - __clzll(own) : 0) ^ (black ? 56 : 0)];
}

/// Mask that turns White's squares into a side's own, mirrored or not.
__device__ inline u32 flip_of(u8 bucket, bool black) { return (bucket >> 7 ? 7 : 0) ^ (black ? 56 : 0); }

/// Whether a perspective is Black's: the side to move comes first.
__device__ inline bool is_black(const Net& net, const Record& record, u32 view) {
    return (record.black() && !net.white_view) != (view % net.views == 1);
}

/// Factor from the network's output to the side to move's.
__device__ inline float sign_of(const Net& net, const Record& record) {
    return net.white_view && record.black() ? -1.0f : 1.0f;
}

/// Destination of a perspective's rows.
struct Place {
    const Net& net;
    u16* rows;
    u32* bits; // of the first row, in the view's window and word
    u32 words;
    u32 view;

    __device__ void put(u32 at, u32 row) const {
        rows[(size_t)view * net.stride + at] = (u16)row;
        if (bits) {
            atomicOr(&bits[(size_t)row * words], 1u << view % 32);
        }
    }
};

/// `bits`, `[window][row][word]`, may be null.
__device__ inline Place place_of(const Net& net, u16* rows, u32* bits, u32 words, u32 view) {
    const u32 word = view / 32;
    u32* own_bits = bits ? bits + (size_t)(word / words) * net.rows * words + word % words : nullptr;
    return {net, rows, own_bits, words, view};
}
