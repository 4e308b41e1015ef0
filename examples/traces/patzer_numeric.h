/* Writes traces without counting anything: it moves each weight up and down and takes the difference of the evaluation. C99 and
 * C++; needs patzer_trace.h beside it. No copyright is claimed for this file: copy it into your engine.
 *
 *     PatzerWeight weights[] = {                     (not const while this runs)
 *         PATZER_INTS(Material, "6"),                int, short or signed char Material[6]
 *         PATZER_PACKED(Mobility, "[4, 28]"),        S(mg, eg) in one int: mg + (eg << 16)
 *         PATZER_PAIRS(Passed, "8"),                 int Passed[8][2], or a struct of the midgame and the endgame value
 *     };
 *     void set(const char *fen) { ... }              makes the position the one to evaluate
 *     double value(void) { ... }                     its static evaluation in centipawns from White's side, without any cache
 *     patzer_numeric(stdin, stdout, "terms.toml", weights, 3, set, value);
 *
 * Shapes are written as in the file of terms: a length, [rows, columns], [planes, rows, columns], "board". What the engine derives
 * from its weights when it starts, value() derives again. Every line has the phase 0.5 of 1, in which both halves count twice.
 */
#ifndef PATZER_NUMERIC_H
#define PATZER_NUMERIC_H

#include <math.h>
#include <stdint.h>

#include "patzer_trace.h"

typedef struct {
    const char *name;
    int form;
    void *data;
    size_t size;
    const char *shape;
} PatzerWeight;

enum { PATZER_FORM_INTS, PATZER_FORM_FLOATS, PATZER_FORM_PACKED, PATZER_FORM_PACKED_HIGH, PATZER_FORM_PAIRS };

#define PATZER_INTS(name, shape) {#name, PATZER_FORM_INTS, (void *)&(name), sizeof(name), shape}
#define PATZER_FLOATS(name, shape) {#name, PATZER_FORM_FLOATS, (void *)&(name), sizeof(name), shape}
#define PATZER_PACKED(name, shape) {#name, PATZER_FORM_PACKED, (void *)&(name), sizeof(name), shape}
/* The midgame value is the high half. */
#define PATZER_PACKED_HIGH(name, shape) {#name, PATZER_FORM_PACKED_HIGH, (void *)&(name), sizeof(name), shape}
#define PATZER_PAIRS(name, shape) {#name, PATZER_FORM_PAIRS, (void *)&(name), sizeof(name), shape}

#define PATZER_STEP 256 /* the largest change of a weight */

/* One number: a weight, or one half of it. */
typedef struct {
    char *at;
    int bytes, form, high; /* bytes of the number that holds it; high: it is the high half of a packed one */
    double start, low, top;
    double factor; /* of its coefficient in a line */
    unsigned long counted, bent;
} PatzerNumber;

static inline void patzer_numeric_fault(const char *name, const char *reason) {
    fprintf(stderr, "patzer_numeric.h: %s %s\n", name, reason);
    exit(1);
}

static inline long patzer_entries(const PatzerWeight *weight) {
    const char *at = weight->shape;
    long entries = 1;
    if (!strncmp(at, "board", 5)) return 64;
    for (; *at; at++)
        if (*at >= '0' && *at <= '9') {
            char *end;
            entries *= strtol(at, &end, 10);
            at = end - 1;
        }
    return entries;
}

static inline int64_t patzer_whole(const PatzerNumber *number) {
    switch (number->bytes) {
    case 1: return *(int8_t *)number->at;
    case 2: return *(int16_t *)number->at;
    case 4: return *(int32_t *)number->at;
    default: return *(int64_t *)number->at;
    }
}

static inline double patzer_get(const PatzerNumber *number) {
    int64_t whole;
    int bits = number->bytes * 4;
    if (number->form == PATZER_FORM_FLOATS)
        return number->bytes == 4 ? *(float *)number->at : *(double *)number->at;
    whole = patzer_whole(number);
    if (number->form < PATZER_FORM_PACKED || number->form == PATZER_FORM_PAIRS) return (double)whole;
    if (number->high) return (double)((whole + ((int64_t)1 << (bits - 1))) >> bits);
    return bits == 16 ? (double)(int16_t)whole : (double)(int32_t)whole;
}

static inline void patzer_move(const PatzerNumber *number, double by) {
    uint64_t whole;
    if (number->form == PATZER_FORM_FLOATS) {
        if (number->bytes == 4) *(float *)number->at += (float)by;
        else *(double *)number->at += by;
        return;
    }
    whole = (uint64_t)patzer_whole(number) + ((uint64_t)(int64_t)by << (number->high ? number->bytes * 4 : 0));
    switch (number->bytes) {
    case 1: *(int8_t *)number->at = (int8_t)whole; break;
    case 2: *(int16_t *)number->at = (int16_t)whole; break;
    case 4: *(int32_t *)number->at = (int32_t)whole; break;
    default: *(int64_t *)number->at = (int64_t)whole;
    }
}

/* The numbers of a weight, all of its midgame before its endgame; returns how many. */
static inline int patzer_numbers(const PatzerWeight *weight, PatzerNumber *numbers) {
    long entries = patzer_entries(weight), i;
    int packed = weight->form == PATZER_FORM_PACKED || weight->form == PATZER_FORM_PACKED_HIGH;
    int halves = packed || weight->form == PATZER_FORM_PAIRS ? 2 : 1, half;
    int beside = weight->form == PATZER_FORM_PAIRS ? 2 : 1;
    int bytes = entries > 0 ? (int)(weight->size / ((size_t)entries * beside)) : 0;
    if (entries <= 0 || (size_t)entries * beside * bytes != weight->size || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        || (packed && bytes < 4) || (weight->form == PATZER_FORM_FLOATS && bytes < 4))
        patzer_numeric_fault(weight->name, "has another size than its shape");
    for (half = 0; half < halves; half++)
        for (i = 0; i < entries; i++) {
            PatzerNumber *number = numbers + half * entries + i;
            int bits = packed ? bytes * 4 : bytes * 8;
            memset(number, 0, sizeof *number);
            number->at = (char *)weight->data + (i * beside + (beside == 2 ? half : 0)) * bytes;
            number->bytes = bytes;
            number->form = weight->form;
            number->high = packed && (half == 1) == (weight->form == PATZER_FORM_PACKED);
            number->start = patzer_get(number);
            number->top = weight->form == PATZER_FORM_FLOATS || bits > 32 ? 1e9 : (double)(((int64_t)1 << (bits - 1)) - 1);
            number->low = -number->top;
            number->factor = halves;
        }
    return (int)(halves * entries);
}

static inline void patzer_term(FILE *out, const PatzerWeight *weight, const PatzerNumber *numbers, const char *half) {
    long entries = patzer_entries(weight), i;
    int board = weight->shape[0] == 'b';
    fprintf(out, "\n[[term]]\nname = \"");
    for (i = 0; weight->name[i]; i++)
        fputc(strchr(":[]>- ()*&", weight->name[i]) ? '_' : weight->name[i], out);
    fprintf(out, "\"\n");
    if (strpbrk(weight->name, ":[]>- ()*&")) fprintf(out, "output = { symbol = \"%s\" }\n", weight->name);
    if (half) fprintf(out, "group = \"%s\"\n", half);
    fprintf(out, "kind = \"%s\"\nshape = %s%s%s\ninitial = [", half ? half : "single", board ? "\"" : "", weight->shape,
            board ? "\"" : "");
    for (i = 0; i < entries; i++) fprintf(out, "%s%.9g", i ? ", " : "", numbers[i].start);
    fprintf(out, "]\n");
}

/* Change of the evaluation for each point of a number. Where it does not follow a straight line, smaller steps. */
static inline double patzer_slope(PatzerNumber *number, double base, double (*value)(void)) {
    double step, slope = 0, before = 0;
    for (step = PATZER_STEP; step >= 4; step /= 4) {
        double up = step < number->top - number->start ? step : floor(number->top - number->start);
        double down = step < number->start - number->low ? step : floor(number->start - number->low);
        double above, below;
        patzer_move(number, up);
        above = value();
        patzer_move(number, -up - down);
        below = value();
        patzer_move(number, down);
        before = slope;
        slope = (above - below) / (up + down);
        /* Each value is rounded to less than a centipawn, so up to here both sides may disagree. */
        if (fabs((above - base) * down - (base - below) * up) <= 3 * (up > down ? up : down)) return slope;
        if (step < PATZER_STEP && fabs(slope - before) <= 3 / (2 * step)) return before;
    }
    number->bent++;
    return before;
}

static inline void patzer_numeric_report(const PatzerWeight *weights, int count, const PatzerNumber *numbers,
                                         unsigned long positions, double outside) {
    int i, j, n;
    fprintf(stderr, "%lu positions; beside the weights the evaluation has %.1f centipawns in the mean\n", positions,
            positions ? outside / positions : 0);
    for (i = n = 0; i < count; i++) {
        unsigned long counted = 0, bent = 0;
        int size = (int)(patzer_entries(weights + i) * numbers[n].factor);
        for (j = 0; j < size; j++) counted += numbers[n + j].counted, bent += numbers[n + j].bent;
        n += size;
        if (!counted) fprintf(stderr, "  %s never counts\n", weights[i].name);
        else if (bent * 100 > counted) fprintf(stderr, "  %s bends in %.0f %% of its positions\n", weights[i].name, 100.0 * bent / counted);
    }
}

/* Reads positions, writes their traces, and the file of terms unless `terms` is 0. */
static inline void patzer_numeric(FILE *in, FILE *out, const char *terms, const PatzerWeight *weights, int count,
                                  void (*set)(const char *), double (*value)(void)) {
    static PatzerPosition position;
    static PatzerTrace trace;
    static PatzerNumber numbers[PATZER_WEIGHTS];
    unsigned long positions = 0;
    double outside = 0;
    FILE *file = 0;
    int i, n, all;
    if (terms && (file = fopen(terms, "r"))) patzer_numeric_fault(terms, "exists: remove it, or give 0 to keep it");
    if (terms && !(file = fopen(terms, "w"))) patzer_numeric_fault(terms, "cannot be written");
    if (file) fprintf(file, "# Made by patzer_numeric.h for traces whose phase is 0.5 in every line.\nformat = 1\n");
    for (i = all = 0; i < count; i++) {
        long size = patzer_entries(weights + i) * 2;
        if (size <= 0 || size > (long)PATZER_WEIGHTS - all) patzer_numeric_fault(weights[i].name, "is too large; set PATZER_WEIGHTS");
        n = patzer_numbers(weights + i, numbers + all);
        if (file && numbers[all].factor == 2) {
            patzer_term(file, weights + i, numbers + all, "midgame");
            patzer_term(file, weights + i, numbers + all + n / 2, "endgame");
        } else if (file) patzer_term(file, weights + i, numbers + all, 0);
        all += n;
    }
    if (file && fclose(file)) patzer_numeric_fault(terms, "cannot be written");
    for (; patzer_read(in, &position); positions++) {
        double base, rest;
        patzer_clear(&trace);
        set(position.fen);
        rest = base = value();
        for (i = 0; i < all; i++) {
            double slope = patzer_slope(numbers + i, base, value);
            if (slope == 0) continue;
            numbers[i].counted++;
            trace.white[i] = (float)(slope * numbers[i].factor);
            rest -= slope * numbers[i].start;
        }
        outside += fabs(rest);
        trace.constant = (float)rest;
        trace.eval = (float)base;
        patzer_write(out, &position, &trace, 0.5);
    }
    patzer_numeric_report(weights, count, numbers, positions, outside);
}

#endif
