#!/bin/sh
# One view or two: 768 → N → 1 against (768 → N) × 2 → 1: docs/studies/views.md.
#
# All are trained alike on the same positions: two views, one view with N neurons and with 2N, which has as many output
# weights, and one view that is always White's.
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
    network "white-$seed" labelled.parquet --hidden "$HIDDEN" --seed "$seed" --set views=1 --set white_view=true
    for kind in one wide white; do
        match "$kind-$seed" "$kind-$seed.nnue" "two-$seed.nnue"
    done
done

compare two "two views, $HIDDEN neurons" one "one view, $HIDDEN neurons" wide "one view, $((2 * HIDDEN)) neurons" \
    white "White's view, $HIDDEN neurons"
finish
