#!/bin/sh
# Labels: the game's result, the search's score, blends of them, TD(λ), resolved or not: docs/studies/labels.md.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1 2 3; quick: 1]
#   GAMES  games of each match [1000; 4]                 LIMIT   of each move [--nodes 1000; 50]
#   HIDDEN neurons [32; 16]                              EPOCHS  of training  [20; 1]
#   SHARES of the result in the blends [0.2 0.5 0.8; 0.5]

. "$(dirname "$0")/common.sh"
study labels
. "$root/studies/networks.sh"
default HIDDEN 32 16
default SHARES "0.2 0.5 0.8" 0.5

# both NAME HCE NET: the hand-crafted evaluation and a network from the same labels, each against that from results.
both() {
    label=$1-$seed
    data=${3:-labelled.parquet}
    step "tune-hce-$label" tune hce "$data" $2 --seed "$seed" --no-errors -o "hce-$label.hce.toml"
    tuned "net-$label" "$data" $TRAINING --epochs "$EPOCHS" --hidden "$HIDDEN" --seed "$seed" $2
    test "$1" = result && return
    match "hce-$label" "hce-$label.hce.toml" "hce-result-$seed.hce.toml"
    match "net-$label" "net-$label.nnue" "net-result-$seed.nnue"
}

positions
names="result raw score"
for seed in $SEEDS; do
    both result "--wdl 1"
    both raw "--wdl 1 --no-resolve" positions.parquet
    both score "--wdl 0"
    for share in $SHARES; do both "blend$share" "--wdl $share"; done
    for lambda in 0.5 0.9; do
        # Only networks learn from returns.
        label=td$lambda-$seed
        tuned "net-$label" labelled.parquet $TRAINING --epochs "$EPOCHS" --hidden "$HIDDEN" --seed "$seed" --wdl 1 \
            --set "td_lambda=$lambda"
        match "net-$label" "net-$label.nnue" "net-result-$seed.nnue"
    done
done

# total KIND: Elo of all seeds of one kind.
total() {
    pooled "$1"
    elo "$pooled"
}

head_row label "hand-crafted, Elo" "network, Elo"
row "result of the game, resolved" "the base" "the base"
row "result of the game, not resolved" "$(total hce-raw)" "$(total net-raw)"
row "score of the search" "$(total hce-score)" "$(total net-score)"
for share in $SHARES; do
    row "$share result, the rest score" "$(total "hce-blend$share")" "$(total "net-blend$share")"
done
for lambda in 0.5 0.9; do row "TD($lambda)" "" "$(total "net-td$lambda")"; done
finish
