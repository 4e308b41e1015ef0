#!/bin/sh
# How the search grows: its branching factor, how often the first move cuts off, and the Elo of twice the nodes:
# docs/studies/search.md.
#
#   DEPTHS  of the searches of `bench`, two plies apart [8 10 12 14; quick: 3 5]
#   NODES   of a move, each against twice as many [50 ... 25600; 50 100]    GAMES  of each match [1000; 2]
#   EVAL    the evaluation [default]

. "$(dirname "$0")/common.sh"
study nodes
default DEPTHS "8 10 12 14" "3 5"
default NODES "50 100 200 400 800 1600 3200 6400 12800 25600" "50 100"
default GAMES 1000 2
: "${EVAL:=default}"

for depth in $DEPTHS; do
    step "bench-$depth" bench --eval "$EVAL" --depth "$depth"
done
for nodes in $NODES; do
    twice=$((2 * nodes))
    step "match-$twice-$nodes" match --engine "cmd=$EVAL nodes=$twice name=$twice" \
        --engine "cmd=$EVAL nodes=$nodes name=$nodes" --games "$GAMES" --seed 1 --resume -o "match-$twice-$nodes.pgn"
done

head_row measure value
before=""
for depth in $DEPTHS; do
    if [ -n "$before" ]; then
        factor=$(echo "$(value nodes "bench-$before") $(value nodes "bench-$depth") $before $depth" |
            awk '{ printf "%.2f", exp(log($2 / $1) / ($4 - $3)) }')
        row "nodes for a ply more, depth $before to $depth" "× $factor"
    fi
    share=$(echo "$(value first_move_cutoffs "bench-$depth") $(value cutoffs "bench-$depth")" |
        awk '{ printf "%.1f", 100 * $1 / $2 }')
    row "cut-offs by the first move, depth $depth" "$share %"
    before=$depth
done
for nodes in $NODES; do
    row "$((2 * nodes)) nodes against $nodes" "$(elo "match-$((2 * nodes))-$nodes")"
done
finish
