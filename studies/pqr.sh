#!/bin/sh
# The loss PQR, which learns from moves alone (a thesis on networks' inputs, 2024): docs/studies/pqr.md.
#
# A network trained on labels is the base. PQR trains the same network from random weights, and goes on from the base
# with each learning rate, with all positions and without those of few legal moves.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds       [1 2 3; quick: 1]
#   GAMES  games of each match [1000; 4]                 LIMIT   of each move [--nodes 1000; 50]
#   HIDDEN neurons [32; 8]                               EPOCHS  of training [20; 1]
#   RATES  learning rates of what goes on from the base  [1e-3 1e-4 1e-5 1e-6; 1e-5]
#   KAPPA  of the loss [1]

. "$(dirname "$0")/common.sh"
study pqr
. "$root/studies/networks.sh"
default HIDDEN 32 8
default RATES "1e-3 1e-4 1e-5 1e-6" 1e-5
default KAPPA 1 1

positions
for seed in $SEEDS; do
    network "labels-$seed" labelled.parquet --hidden "$HIDDEN" --seed "$seed"
    # moves NAME OPTIONS...: trains on the moves played, and plays the base.
    moves() {
        of=$1
        shift
        network "$of-$seed" positions.parquet --hidden "$HIDDEN" --seed "$seed" --no-resolve --set loss=pqr \
            --set "kappa=$KAPPA" "$@"
        match "$of-$seed" "$of-$seed.nnue" "labels-$seed.nnue"
    }
    moves scratch
    for rate in $RATES; do
        set -- --set "start=labels-$seed.nnue" --set schedule=constant --set "learning_rate=$rate" \
            --set "final_learning_rate=$rate"
        moves "more-$rate" "$@"
        moves "few-$rate" "$@" --set legal_quantile=0.5
    done
done
first=${SEEDS%% *}
step figures report "labels-$first.nnue" "scratch-$first.nnue" --data positions.parquet --png figures -o figures.html

set -- labels "labels" scratch "PQR from random weights"
for rate in $RATES; do set -- "$@" "more-$rate" "PQR after labels, $rate" "few-$rate" "the same, quantile 0.5"; done
compare "$@"
finish
