/* Writes the traces of a small evaluation: material, piece-square tables, bishop pair, tempo.
 *
 * In: lines of `FEN [result]`, the result from 0 to 1 from White's side. Out: lines of traces. C99, and C++ as it is:
 *
 *     cc -O2 write_traces.c -o write_traces && ./write_traces < positions.epd > traces.txt
 *     patzer tune --traces traces.txt --terms terms.toml -o weights.h
 *
 * In an engine, `add` stands beside every place where the evaluation adds a weight: `score += W[i] * n` becomes
 * `score += W[i] * n; TRACE(i, n)`, with a macro that is empty when the engine plays.
 */
#include <stdio.h>
#include <string.h>

enum { MATERIAL = 0, PSQT = 5, BISHOP_PAIR = 389, TEMPO = 390, COUNT = 391 };

static int counts[COUNT]; /* White's count minus Black's */

static void add(int index, int sign) { counts[index] += sign; }

/* Counts a position; returns its phase. */
static int trace(const char *fen) {
    static const char pieces[] = "PNBRQKpnbrqk";
    static const int phases[6] = {0, 1, 1, 2, 4, 0};
    int phase = 0, rank = 7, file = 0, bishops[2] = {0, 0};
    memset(counts, 0, sizeof counts);
    for (; *fen && *fen != ' '; fen++) {
        const char *found;
        if (*fen == '/') {
            rank--, file = 0;
        } else if (*fen >= '1' && *fen <= '8') {
            file += *fen - '0';
        } else if ((found = strchr(pieces, *fen)) != NULL) {
            int code = (int)(found - pieces), piece = code % 6, white = code < 6, sign = white ? 1 : -1;
            /* a1 is 0. Black's squares are seen from Black's side. */
            int square = (white ? rank : 7 - rank) * 8 + file;
            if (piece < 5) add(MATERIAL + piece, sign);
            add(PSQT + 64 * piece + square, sign);
            phase += phases[piece];
            bishops[white] += piece == 2;
            file++;
        }
    }
    add(BISHOP_PAIR, (bishops[1] >= 2) - (bishops[0] >= 2));
    add(TEMPO, fen[0] && fen[1] == 'w' ? 1 : -1);
    return phase;
}

int main(void) {
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        char *open = strrchr(line, '['), *close = open ? strchr(open, ']') : NULL;
        int phase, i;
        if (!close) continue;
        *close = 0;
        phase = trace(line);
        printf("%s %d", open + 1, phase);
        for (i = 0; i < COUNT; i++)
            if (counts[i]) printf(" %d:%d", i, counts[i]);
        putchar('\n');
    }
    return 0;
}
