#!/bin/sh
# Pawn pairs and threats as inputs: docs/studies/threats.md.
#
# The ladder of feature blocks, trained alike; each plays the base at fixed nodes and at a fixed time a move, because
# more features cost speed.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1; quick: 1]
#   GAMES  games of each match [500; 2]                  LIMIT   fixed nodes  [--nodes 4000; --nodes 50]
#   HIDDEN neurons [128; 8]                              TIME    fixed time   [--movetime 20 with a margin; --nodes 50]
#   SETS   the ladder, the base first                    EPOCHS  of training  [20; 1]

. "$(dirname "$0")/common.sh"
study threats
default SEEDS 1 1
default GAMES 500 2
default LIMIT "--nodes 4000" "--nodes 50 --max-moves 10 --hash 1"
default TIME "--movetime 20 --time-margin 1000" "--nodes 50 --max-moves 10 --hash 1"
. "$root/studies/networks.sh"
default HIDDEN 128 8
default SETS "all all+pp all+threats all+pp+threats" "all all+pp all+threats all+pp+threats"
base=${SETS%% *}

positions
step blocks net features labelled.parquet --limit 200000
for seed in $SEEDS; do
    for set in $SETS; do
        network "$set-$seed" labelled.parquet --features "$set" --hidden "$HIDDEN" --seed "$seed"
        test "$set" = "$base" && continue
        match "$set-$seed" "$set-$seed.nnue" "$base-$seed.nnue"
        step "match-time-$set-$seed" match "$set-$seed.nnue" "$base-$seed.nnue" $TIME --games "$GAMES" --seed 1 \
            --resume --pgn "match-time-$set-$seed.pgn"
    done
done

head_row features "validation loss" "nodes/s" "Elo at fixed nodes" "Elo at fixed time"
for set in $SETS; do
    losses=""
    for seed in $SEEDS; do
        losses="$losses${losses:+, }$(printf %.5f "$(value validation_loss "tune-$set-$seed")")"
    done
    nodes="the base" time=""
    if [ "$set" != "$base" ]; then
        pooled "$set" && nodes=$(elo "$pooled")
        pooled "time-$set" && time=$(elo "$pooled")
    fi
    row "\`$set\`" "$losses" "$(value nps "bench-$set-${SEEDS%% *}")" "$nodes" "$time"
done
finish
