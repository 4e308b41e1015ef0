#!/bin/sh
# Mirroring and buckets (Leorik): plain, mirrored, output buckets, king buckets, all: docs/studies/buckets.md.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1 2 3; quick: 1]
#   GAMES  games of each match [1000; 4]                 LIMIT   of each move [--nodes 1000; 50]
#   HIDDEN neurons [32; 16]                              EPOCHS  of training  [20; 1]

. "$(dirname "$0")/common.sh"
study buckets
. "$root/studies/networks.sh"
default HIDDEN 32 16

mirror="--set mirror=true"
output="--set output_buckets=8"
kings="--set king_buckets=five --set factoriser=true"

positions
for seed in $SEEDS; do
    common="--hidden $HIDDEN --seed $seed"
    network "plain-$seed" labelled.parquet $common
    network "mirrored-$seed" labelled.parquet $common $mirror
    network "output-$seed" labelled.parquet $common $output
    network "kings-$seed" labelled.parquet $common $kings
    network "all-$seed" labelled.parquet $common $mirror $output $kings
    for kind in mirrored output kings all; do
        match "$kind-$seed" "$kind-$seed.nnue" "plain-$seed.nnue"
    done
done

compare plain plain mirrored mirrored output "8 output buckets" kings "5 king buckets" all "all together"
finish
