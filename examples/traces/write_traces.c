/* Writes the traces of a small evaluation: material, piece-square tables, bishop pair, tempo. C99, and C++ as it is:
 *
 *     cc -O2 write_traces.c -o write_traces && ./write_traces < positions.epd > traces.txt
 *     patzer tune traces traces.txt --terms terms.toml -o weights.h
 *
 * In an engine, a count stands beside every place where the evaluation adds a weight: `score += W[i] * n` becomes
 * `score += W[i] * n; TRACE(i, n)`, with a macro that is empty when the engine plays.
 */
#define PATZER_WEIGHTS 391
#include "patzer_trace.h"

enum { MATERIAL = 0, PSQT = 5, BISHOP_PAIR = 389, TEMPO = 390 };

static PatzerTrace trace;

/* Counts a position; returns its phase. */
static int evaluate(const char *fen) {
    static const char pieces[] = "PNBRQKpnbrqk";
    static const int phases[6] = {0, 1, 1, 2, 4, 0};
    int phase = 0, rank = 7, file = 0, bishops[2] = {0, 0};
    for (; *fen && *fen != ' '; fen++) {
        const char *found;
        if (*fen == '/') {
            rank--, file = 0;
        } else if (*fen >= '1' && *fen <= '8') {
            file += *fen - '0';
        } else if ((found = strchr(pieces, *fen)) != NULL) {
            int code = (int)(found - pieces), piece = code % 6, white = code < 6;
            /* a1 is 0. Black's squares are seen from Black's side. */
            int square = (white ? rank : 7 - rank) * 8 + file;
            if (piece < 5) patzer_count(&trace, MATERIAL + piece, white, 1);
            patzer_count(&trace, PSQT + 64 * piece + square, white, 1);
            phase += phases[piece];
            bishops[white] += piece == 2;
            file++;
        }
    }
    patzer_count(&trace, BISHOP_PAIR, 1, bishops[1] >= 2);
    patzer_count(&trace, BISHOP_PAIR, 0, bishops[0] >= 2);
    patzer_count(&trace, TEMPO, fen[0] && fen[1] == 'w', 1);
    return phase;
}

int main(void) {
    static PatzerPosition position;
    while (patzer_read(stdin, &position)) {
        int phase;
        patzer_clear(&trace);
        phase = evaluate(position.fen);
        patzer_write(stdout, &position, &trace, phase);
    }
    return 0;
}
