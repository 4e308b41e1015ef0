#!/bin/sh
# Teachers: the same positions with the games' results, the search's own scores, and the scores of a stronger engine:
# docs/studies/teachers.md.
#
#   DATA    games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1 2 3; quick: 1]
#   GAMES   games of each match [400; 4]                  LIMIT   of each move [--nodes 1000; 50]
#   TEACHER as in `label --engine` ["cmd=stockfish option.Hash=16"; patzer-uci beside the program]
#   SEARCH  its limit [--nodes 1000; 100]
#   HIDDEN  neurons [32; 16]                              EPOCHS  of training  [20; 1]

. "$(dirname "$0")/common.sh"
study teachers
default GAMES 400 4
default TEACHER "cmd=stockfish option.Hash=16" "cmd=$(dirname "$PATZER")/patzer-uci option.Hash=1"
default SEARCH "--nodes 1000" "--nodes 100"
default HIDDEN 32 16
. "$root/studies/networks.sh"

# both NAME DATASET WDL: weights and a network from a label, each against that from results.
both() {
    label=$1-$seed
    step "tune-hce-$label" tune hce "$2" --wdl "$3" --seed "$seed" --no-errors -o "hce-$label.hce.toml"
    tuned "net-$label" "$2" $TRAINING --epochs "$EPOCHS" --hidden "$HIDDEN" --seed "$seed" --wdl "$3"
    test "$1" = result && return
    match "hce-$label" "hce-$label.hce.toml" "hce-result-$seed.hce.toml"
    match "net-$label" "net-$label.nnue" "net-result-$seed.nnue"
}

positions
step teach label labelled.parquet --engine "$TEACHER" $SEARCH --resume -o taught.parquet
for seed in $SEEDS; do
    both result labelled.parquet 1
    both own labelled.parquet 0
    both teacher taught.parquet 0
done
# Both against results would leave the difference of the two with the errors of both.
for seed in $SEEDS; do
    match "hce-over-$seed" "hce-teacher-$seed.hce.toml" "hce-own-$seed.hce.toml"
    match "net-over-$seed" "net-teacher-$seed.nnue" "net-own-$seed.nnue"
done

# total NAME: Elo of each seed, and of all.
total() {
    each=""
    for seed in $SEEDS; do each="$each${each:+, }$(elo "match-$1-$seed")"; done
    pooled "$1"
    echo "$each; $(elo "$pooled") of all"
}

head_row label "hand-crafted, Elo" "network, Elo"
row "result of the game" "the base" "the base"
row "own score" "$(total hce-own)" "$(total net-own)"
row "the teacher's score" "$(total hce-teacher)" "$(total net-teacher)"
row "the teacher's score against the own" "$(total hce-over)" "$(total net-over)"
finish
