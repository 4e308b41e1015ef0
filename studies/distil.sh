#!/bin/sh
# Distil: networks that learn the results of games, or the static evaluations of other networks, from more and more
# positions: docs/studies/distil.md.
#
#   DATA      games in PGN             [fixtures/engine.pgn.zst]   SEEDS   seeds        [1; quick: 1]
#   GAMES     games of each match      [1000; 4]                   LIMIT   of each move [--nodes 1000; 50]
#   TEACHERS  networks, also Stockfish's ["default"]               EPOCHS  of training  [16; 1]
#   COUNTS    positions                [10000 100000; 1000]        HIDDEN  neurons      [128; 16]

. "$(dirname "$0")/common.sh"
study distil
default SEEDS 1 1
default TEACHERS default default
default COUNTS "10000 100000" 1000
default EPOCHS 16 1
default HIDDEN 128 16
default TRAINING "--recipe default" "$small"
. "$root/studies/networks.sh"

# student NAME DATASET WDL: networks of all seeds, each against the embedded one.
student() {
    for seed in $SEEDS; do
        tuned "$1-$seed" "$2" $TRAINING --no-resolve --epochs "$EPOCHS" --hidden "$HIDDEN" --seed "$seed" --wdl "$3"
        match "$1-$seed" "$1-$seed.nnue" default
    done
}

# label_of TEACHER: its name in files and in the table.
label_of() { basename "$1" .nnue; }

for count in $COUNTS; do
    step "extract-$count" extract "$DATA" --filter variant --filter in_check --filter duplicates --sample "$count" \
        -o "positions-$count.parquet"
    student "results-$count" "positions-$count.parquet" 1
    for teacher in $TEACHERS; do
        taught=$(label_of "$teacher")-$count
        step "label-$taught" label "positions-$count.parquet" --eval "$teacher" --static --resume -o "$taught.parquet"
        student "$taught" "$taught.parquet" 0
    done
done

head_row positions "learns from" "validation loss" "Elo to the embedded network"
for count in $COUNTS; do
    for from in results $(for teacher in $TEACHERS; do label_of "$teacher"; done); do
        pooled "$from-$count"
        row "$(value positions_written "extract-$count")" "$from" "$(losses "$from-$count")" "$(elo "$pooled")"
    done
done
finish
