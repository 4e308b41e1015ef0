/* Reads positions in the dialects of EPD, FEN and text that patzer writes, collects counts and writes traces. C99 and C++; no copyright is
 * claimed for this file: copy it into your engine.
 *
 *     static PatzerPosition position;                  (static, or = {0}: it counts the lines)
 *     static PatzerTrace trace;
 *     while (patzer_read(stdin, &position)) {          FEN of six fields, and the result from White's side
 *         patzer_clear(&trace);
 *         trace.eval = evaluate(position.fen);         which calls patzer_count(&trace, INDEX, side, n) beside each weight
 *         patzer_write(stdout, &position, &trace, phase);
 *     }
 *
 * A struct with a byte for each entry of the terms file gives the indices: offsetof(Terms, Mobility[piece][squares]).
 * `patzer traces indices --terms terms.toml` prints it.
 */
#ifndef PATZER_TRACE_H
#define PATZER_TRACE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATZER_WEIGHTS
#define PATZER_WEIGHTS 4096 /* most entries of the terms file */
#endif
#define PATZER_NO_EVAL (-1e30f)

/* g++ alone takes no index that is computed, as in offsetof(Terms, Mobility[piece][squares]). */
#if defined(__cplusplus) && defined(__GNUC__) && !defined(__clang__)
#undef offsetof
#define offsetof(type, member) ((size_t) & ((type *)0)->member)
#endif

typedef struct {
    char fen[128], result[16], score[16]; /* score: centipawns from White's side, or "" */
    long game; /* -1 if the line has none */
    unsigned long line;
} PatzerPosition;

typedef struct {
    float white[PATZER_WEIGHTS], black[PATZER_WEIGHTS];
    char sides[PATZER_WEIGHTS]; /* write white/black; patzer_sides sets it */
    float scale, weight, constant;
    long game; /* number of the game; -1 for that of the position's line */
    float eval; /* the engine's evaluation from White's side; PATZER_NO_EVAL if it is not to be checked */
} PatzerTrace;

/* Entries from `first` up to `end` are of parts with two sides: they are written as white/black. Once is enough. */
static inline void patzer_sides(PatzerTrace *trace, int first, int end) {
    memset(trace->sides + first, 1, (size_t)(end - first));
}

static inline void patzer_clear(PatzerTrace *trace) {
    memset(trace->white, 0, sizeof trace->white);
    memset(trace->black, 0, sizeof trace->black);
    trace->scale = trace->weight = 1;
    trace->constant = 0;
    trace->game = -1;
    trace->eval = PATZER_NO_EVAL;
}

/* Weight `index` counts `n` times for White (side 1) or Black (side 0 or -1). */
static inline void patzer_count(PatzerTrace *trace, int index, int side, float n) {
    if (index < 0 || index >= (int)PATZER_WEIGHTS) {
        fprintf(stderr, "patzer_trace.h: index %d of %d; set PATZER_WEIGHTS\n", index, (int)PATZER_WEIGHTS);
        exit(1);
    }
    (side > 0 ? trace->white : trace->black)[index] += n;
}

static inline void patzer_bad(unsigned long line, const char *reason) {
    fprintf(stderr, "line %lu: %s\n", line, reason);
    exit(1);
}

/* The next position; 0 at the end. A line without a position and a result ends the program with its number. */
static inline int patzer_read(FILE *in, PatzerPosition *position) {
    char text[1024], *fields[6], *rest, *from;
    unsigned long line = position->line;
    int n;
    do {
        if (!fgets(text, sizeof text, in)) return 0;
        line++;
    } while (text[strspn(text, " \t\r\n")] == 0 || text[0] == '#');
    memset(position, 0, sizeof *position);
    position->line = line;
    position->game = -1;
    for (n = 0, rest = text; n < 6; n++) {
        rest += strspn(rest, " \t");
        if (n > 3 && strspn(rest, "0123456789") != strcspn(rest, " \t\r\n")) break;
        fields[n] = rest;
        rest += strcspn(rest, " \t\r\n");
        if (rest == fields[n]) break;
        if (*rest) *rest++ = 0;
    }
    if (n < 4 || strlen(fields[0]) > 80) patzer_bad(line, "no position");
    snprintf(position->fen, sizeof position->fen, "%s %.1s %.4s %.2s %.5s %.5s", fields[0], fields[1], fields[2],
             fields[3], n > 4 ? fields[4] : "0", n > 5 ? fields[5] : "1");
    /* [0.5], "1/2-1/2" with c9 before it or not, | 35 | 0.5 */
    from = strpbrk(rest, "[\"|");
    if (from && *from == '|') {
        sscanf(from + 1, " %15[-+0-9.]", position->score);
        from = strchr(from + 1, '|');
    }
    if (!from || sscanf(from + 1, " %15[-/.0-9]", position->result) != 1)
        patzer_bad(line, "no result, such as [0.5], \"1-0\" or | 35 | 0.5");
    /* | 35 | 0.5 | 17: the number of the game */
    from = from[0] == '|' ? strchr(from + 1, '|') : 0;
    if (from) sscanf(from + 1, "%ld", &position->game);
    return 1;
}

static inline void patzer_write(FILE *out, const PatzerPosition *position, const PatzerTrace *trace, double phase) {
    long game = trace->game >= 0 ? trace->game : position->game;
    int i;
    fprintf(out, "%s %g", position->result, phase);
    if (trace->scale != 1) fprintf(out, " scale=%g", trace->scale);
    if (trace->weight != 1) fprintf(out, " weight=%g", trace->weight);
    if (trace->constant != 0) fprintf(out, " constant=%g", trace->constant);
    if (game >= 0) fprintf(out, " game=%ld", game);
    if (position->score[0]) fprintf(out, " score=%s", position->score);
    if (trace->eval > PATZER_NO_EVAL / 2) fprintf(out, " eval=%g", trace->eval);
    for (i = 0; i < (int)PATZER_WEIGHTS; i++) {
        float white = trace->white[i], black = trace->black[i];
        if (trace->sides[i] && (white != 0 || black != 0)) fprintf(out, " %d:%g/%g", i, white, black);
        else if (white != black) fprintf(out, " %d:%g", i, white - black);
    }
    fputc('\n', out);
}

#endif
