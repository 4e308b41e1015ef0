// The feature blocks of patzer_eval::nnue::features on one warp: from a board as one side sees it to a bit
// set in shared memory.
#pragma once
#include "common.cuh"

/// Own pawns to king, then the other side's.
struct Board {
    u64 pieces[12];
};

/// Blocks in table order. Those from SETS on have rows that all king buckets share (unbucketed.cu).
enum Set {
    SQUARES, FILES, RANKS, DIAGONALS, ANTIDIAGONALS, RANK_PAIRS, FILE_PAIRS, MOVES, MOVE_COUNTS, SETS,
    PAWN_PAIRS = SETS, THREATS, CLOCK
};
/// Blocks with rows for every king bucket.
const u32 BUCKETED = (1 << SETS) - 1;
__constant__ u32 SET_COUNTS[SETS] = {768, 96, 96, 180, 180, 1152, 1152, 768, 206};
/// Per role: most squares counted, and offset of its counts.
__constant__ u32 COUNTED[6] = {8, 15, 16, 25, 25, 8}, COUNTS_START[6] = {0, 9, 25, 42, 68, 94};
/// Words of a bit set of the blocks before SETS.
const u32 MOST_WORDS = 144;

/// Flips ranks.
__device__ inline u64 swapped(u64 x) {
    x = (x >> 8 & 0x00ff00ff00ff00ffull) | (x & 0x00ff00ff00ff00ffull) << 8;
    x = (x >> 16 & 0x0000ffff0000ffffull) | (x & 0x0000ffff0000ffffull) << 16;
    return x >> 32 | x << 32;
}

__device__ inline void set_bit(u32* set, u32 feature) { atomicOr(&set[feature / 32], 1u << feature % 32); }

/// Kind of piece on a square; 12 for none.
__device__ inline u32 kind_on(const Board& board, u32 square) {
    u32 found = 12;
    for (u32 kind = 0; kind < 12; kind++) {
        found = board.pieces[kind] >> square & 1 ? kind : found;
    }
    return found;
}

__device__ inline u64 occupied_by(const Board& board, u32 first, u32 last) {
    u64 squares = 0;
    for (u32 kind = first; kind < last; kind++) {
        squares |= board.pieces[kind];
    }
    return squares;
}

/// Squares along a line up to the first piece, at most `most` steps.
__device__ inline u64 reached(u32 from, u64 occupied, int file_step, int rank_step, u32 most) {
    u64 squares = 0;
    int file = from % 8, rank = from / 8;
#pragma unroll 1
    for (u32 step = 0; step < most; step++) {
        file += file_step, rank += rank_step;
        if (file < 0 || file > 7 || rank < 0 || rank > 7) {
            break;
        }
        const u64 square = 1ull << (8 * rank + file);
        squares |= square;
        if (occupied & square) {
            break;
        }
    }
    return squares;
}

/// Attacks of a role, knight 1 to king 5.
__device__ inline u64 attacked(u32 role, u32 from, u64 occupied) {
    u64 squares = 0;
    if (role == 1) {
#pragma unroll 1
        for (int turn = 0; turn < 4; turn++) {
            const int file = turn & 1 ? 1 : -1, rank = turn & 2 ? 1 : -1;
            squares |= reached(from, occupied, 2 * file, rank, 1) | reached(from, occupied, file, 2 * rank, 1);
        }
        return squares;
    }
    const u32 most = role == 5 ? 1 : 7;
#pragma unroll 1
    for (int file = -1; file <= 1; file++) {
#pragma unroll 1
        for (int rank = -1; rank <= 1; rank++) {
            const bool straight = file == 0 || rank == 0;
            const bool goes = role >= 4 || (role == 3) == straight;
            if ((file || rank) && goes) {
                squares |= reached(from, occupied, file, rank, most);
            }
        }
    }
    return squares;
}

/// Target squares of a kind of piece: no castling, no en passant; checks and pins are ignored.
__device__ inline u64 targets(const Board& board, u32 kind) {
    const u64 own = occupied_by(board, 0, 6), theirs = occupied_by(board, 6, 12), occupied = own | theirs;
    const u64 mine = kind < 6 ? own : theirs, enemies = occupied & ~mine;
    const u64 pieces = board.pieces[kind];
    if (kind % 6 != 0) {
        u64 squares = 0;
        for (u64 left = pieces; left; left &= left - 1) {
            squares |= attacked(kind % 6, __ffsll(left) - 1, occupied);
        }
        return squares & ~mine;
    }
    const u64 not_a = 0xfefefefefefefefeull, not_h = 0x7f7f7f7f7f7f7f7full;
    if (kind == 0) {
        const u64 once = pieces << 8 & ~occupied, twice = (once & 0x00ff0000ull) << 8 & ~occupied;
        return once | twice | (((pieces & not_h) << 9 | (pieces & not_a) << 7) & enemies);
    }
    const u64 once = pieces >> 8 & ~occupied, twice = (once & 0x0000ff0000000000ull) >> 8 & ~occupied;
    return once | twice | (((pieces & not_h) >> 7 | (pieces & not_a) >> 9) & enemies);
}

/// Adjacent pieces on one rank or file, with only empty squares between them.
__device__ inline void write_pairs(const Board& board, u32* set, u32 base, u32 line, u32 along, u32 across) {
    u32 before = 12;
#pragma unroll 1
    for (u32 step = 0; step < 8; step++) {
        const u32 kind = kind_on(board, across * line + along * step);
        if (kind < 12) {
            if (before < 12) {
                set_bit(set, base + 144 * line + 12 * before + kind);
            }
            before = kind;
        }
    }
}

/// Line of a square.
__device__ inline u32 line_of(u32 which, u32 square) {
    const u32 file = square % 8, rank = square / 8;
    switch (which) {
    case FILES: return file;
    case RANKS: return rank;
    case DIAGONALS: return file + 7 - rank;
    default: return file + rank;
    }
}

/// Sets the features of the blocks; the lanes share the work.
__device__ inline void write_sets(u32 sets, const Board& board, u32* set, u32 lane) {
    u32 base = 0;
    for (u32 which = 0; which < SETS; which++) {
        if (!(sets >> which & 1)) {
            continue;
        }
        if (which == SQUARES) {
            if (lane < 24) {
                set[lane] = (u32)(board.pieces[lane / 2] >> 32 * (lane % 2));
            }
        } else if (which <= ANTIDIAGONALS) {
            for (u32 square = lane; square < 64; square += WARP) {
                const u32 kind = kind_on(board, square), lines = which <= RANKS ? 8 : 15;
                if (kind < 12) {
                    set_bit(set, base + lines * kind + line_of(which, square));
                }
            }
        } else if (which <= FILE_PAIRS) {
            if (lane < 8) {
                const bool ranks = which == RANK_PAIRS;
                write_pairs(board, set, base, lane, ranks ? 1 : 8, ranks ? 8 : 1);
            }
        } else if (lane < 12) {
            const u64 squares = targets(board, lane);
            if (which == MOVES) {
                for (u64 left = squares; left; left &= left - 1) {
                    set_bit(set, base + 64 * lane + __ffsll(left) - 1);
                }
            } else {
                const u32 role = lane % 6, count = min((u32)__popcll(squares), COUNTED[role]);
                set_bit(set, base + 103 * (lane / 6) + COUNTS_START[role] + count);
            }
        }
        base += SET_COUNTS[which];
        // The words of the squares are written whole, the others' bit by bit.
        __syncwarp();
    }
}
