#!/bin/sh
# One view or two: 768 → N → 1 against (768 → N) × 2 → 1: docs/studies/views.md.
#
# Both are trained alike on the same positions; beside the same number of neurons stands the same number of output
# weights, one view with 2N neurons.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1 2 3; quick: 1]
#   GAMES  games of each match [1000; 4]                 LIMIT   of each move [--nodes 1000; 50]
#   HIDDEN neurons [32; 16]                              EPOCHS  of training  [20; 1]

. "$(dirname "$0")/common.sh"
study views
. "$root/studies/networks.sh"
default HIDDEN 32 16

positions
for seed in $SEEDS; do
    network "two-$seed" labelled.parquet --hidden "$HIDDEN" --seed "$seed"
    network "one-$seed" labelled.parquet --hidden "$HIDDEN" --seed "$seed" --set views=1
    network "wide-$seed" labelled.parquet --hidden $((2 * HIDDEN)) --seed "$seed" --set views=1
    for kind in one wide; do
        match "$kind-$seed" "$kind-$seed.nnue" "two-$seed.nnue"
    done
done

compare two "two views, $HIDDEN neurons" one "one view, $HIDDEN neurons" wide "one view, $((2 * HIDDEN)) neurons"
finish
