/* Carries out a script of games on standard input, so many times, and compares the values of `eval`. */
#include "nnue.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static nnue_stack stack;

/* One pass over the script as numbers: r and 64 pieces, u, a count and its changes, o, e, a side and a value. */
static int pass(const int *script, int length, int *checked)
{
    for (int at = 0; at < length;) {
        int word = script[at++];
        if (word == 'r') {
            unsigned char board[64];
            for (int i = 0; i < 64; i++)
                board[i] = (unsigned char)script[at++];
            nnue_refresh(&stack, board);
        } else if (word == 'u') {
            nnue_change changes[4];
            int count = script[at++];
            for (int i = 0; i < count; i++) {
                changes[i].square = (unsigned char)script[at++];
                changes[i].piece = (unsigned char)script[at++];
            }
            nnue_push(&stack, changes, count);
        } else if (word == 'o') {
            nnue_pop(&stack);
        } else {
            int side = script[at++], value = script[at++], found = nnue_evaluate(&stack, side);
            if (found != value) {
                printf("check %d: %d, not %d\n", *checked, found, value);
                return 1;
            }
            ++*checked;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int *script = NULL, length = 0, room = 0, checked = 0, passes = argc > 1 ? atoi(argv[1]) : 1;
    char text[16];
    while (scanf("%15s", text) == 1) {
        if (length == room)
            script = (int *)realloc(script, sizeof *script * (size_t)(room = 2 * room + 1024));
        int number = (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
        script[length++] = number ? atoi(text) : text[0];
    }
    clock_t start = clock();
    for (int i = 0; i < passes; i++)
        if (pass(script, length, &checked))
            return 1;
    printf("checked %d\n%.1f ns\n", checked, 1e9 * (double)(clock() - start) / CLOCKS_PER_SEC / checked);
    free(script);
    return 0;
}
