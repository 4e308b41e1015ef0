#!/bin/sh
# Feature sets (a thesis on networks' inputs, 2024): docs/studies/features.md.
#
# Twelve sums of feature blocks, trained alike; then sizes of the hidden layer.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1; quick: 1]
#   GAMES  games of each match [500; 2]                  LIMIT   of each move [--movetime 20 with a margin; --nodes 50]
#   HIDDEN neurons [32; 8]                               EPOCHS  of training  [20; 1]
#   SETS   the sets; SIZES neurons of the grid beside HIDDEN [8 16 64; 8 16]

. "$(dirname "$0")/common.sh"
study features
default SEEDS 1 1
default GAMES 500 2
# More features cost time, so that time has to limit the moves; a busy machine must not decide games.
default LIMIT "--movetime 20 --time-margin 1000" "--nodes 50 --max-moves 10 --hash 1"
. "$root/studies/networks.sh"
default HIDDEN 32 8
default SIZES "8 16 64" "8 16"
default SETS "all h+v d1+d2 h+v+d1+d2 all+h+v all+d1+d2 all+h+v+d1+d2 all+ph all+pv all+ph+pv all+mb all+mc" "all all+h+v"

positions
step blocks net features labelled.parquet --limit 200000
for seed in $SEEDS; do
    for set in $SETS; do
        network "$set-$seed" labelled.parquet --features "$set" --hidden "$HIDDEN" --seed "$seed"
        test "$set" = all || match "$set-$seed" "$set-$seed.nnue" "all-$seed.nnue"
    done
    for size in $SIZES; do
        network "n$size-$seed" labelled.parquet --hidden "$size" --seed "$seed"
        match "n$size-$seed" "n$size-$seed.nnue" "all-$seed.nnue"
    done
done

set --
for set in $SETS; do set -- "$@" "$set" "\`$set\`"; done
for size in $SIZES; do set -- "$@" "n$size" "\`all\`, $size neurons"; done
compare "$@"
finish
