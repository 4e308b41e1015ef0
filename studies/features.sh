#!/bin/sh
# Feature sets (a thesis on networks' inputs, 2024), pawn pairs and threats: docs/studies/features.md.
#
# Sums of feature blocks, trained alike; then sizes of the hidden layers. Each plays the base at as many nodes, at nodes
# in proportion to the speeds of both, and by the clock.
#
#   DATA   games with scores [fixtures/engine.pgn.zst]   SEEDS   seeds        [1 2 3; quick: 1]
#   GAMES  games of each match at nodes [500; 2]         NODES   of each move [1000; 50]
#   TIMED  games of each match by the clock, or 0 [200; 2]  TIME    of each move [--movetime 20 with a margin; --nodes 50]
#   HIDDEN neurons [32; 8]                               EPOCHS  of training  [20; 1]
#   SETS   the sets, the base first                      SIZES   neurons of the grid beside HIDDEN [8 16 64; 8 8,4]
#   ROUNDS of `bench`, of which the fastest counts [5; 1]

. "$(dirname "$0")/common.sh"
study features
default GAMES 500 2
default NODES 1000 50
default TIMED 200 2
default QUICKLY "" "--max-moves 10 --hash 1"
# A busy machine must not decide games.
default TIME "--movetime 20 --time-margin 1000" "--nodes 50"
default ROUNDS 5 1
. "$root/studies/networks.sh"
default HIDDEN 32 8
default SIZES "8 16 64" "8 8,4"
default SETS "all h+v all+h+v all+d1+d2 all+h+v+d1+d2 all+ph all+pv all+mb all+mc all+pp all+threats all+pp+threats all+clock" \
    "all all+h+v all+pp+threats"
base=${SETS%% *}

# The file of a size has no comma.
names=$SETS
for size in $SIZES; do names="$names n$(echo "$size" | tr , x)"; done

# trained NAME: the network of a set or size for the seed.
trained() {
    case $1 in
        n*) network "$1-$seed" labelled.parquet --features "$base" --hidden "$(echo "${1#n}" | tr x ,)" --seed "$seed" ;;
        *) network "$1-$seed" labelled.parquet --features "$1" --hidden "$HIDDEN" --seed "$seed" ;;
    esac
}

# versus STEP NODES OF THE FIRST, GAMES, LIMITS...: a match of $name against the base.
versus() {
    of=$1 nodes=$2 games=$3
    shift 3
    step "match-$of-$seed" match --engine "cmd=$name-$seed.nnue${nodes:+ nodes=$nodes}" \
        --engine "cmd=$base-$seed.nnue${nodes:+ nodes=$NODES}" "$@" $QUICKLY --games "$games" --seed "$seed" --resume \
        -o "match-$of-$seed.pgn"
}

# speed NAME: nodes a second of the first seed's network, the best of all rounds.
speed() { for round in $(seq "$ROUNDS"); do value nps "speed-$1-$round"; done | sort -n | tail -n 1; }

positions
step blocks net features labelled.parquet --count 200000
for seed in $SEEDS; do
    for name in $names; do trained "$name"; done
done
first=${SEEDS%% *}
for round in $(seq "$ROUNDS"); do
    for name in $names; do step "speed-$name-$round" bench --eval "$name-$first.nnue" ${QUICK:+--depth 3}; done
done
for seed in $SEEDS; do
    for name in $names; do
        test "$name" = "$base" && continue
        versus "$name" "$NODES" "$GAMES"
        even=$(echo "$NODES $(speed "$name") $(speed "$base")" | awk '{ printf "%.0f", $1 * $2 / $3 }')
        versus "even-$name" "$even" "$GAMES"
        test "$TIMED" = 0 || versus "time-$name" "" "$TIMED" $TIME
    done
done

head_row network "validation loss" "puzzles solved" "speed" "Elo at $NODES nodes" "Elo at nodes by speed" "Elo by the clock"
for name in $names; do
    set -- "the base" "" ""
    if [ "$name" != "$base" ]; then
        set --
        for kind in "" even- $(test "$TIMED" = 0 || echo time-); do
            pooled "$kind$name"
            set -- "$@" "$(elo "$pooled")"
        done
        test "$TIMED" != 0 || set -- "$@" ""
    fi
    case $name in
        n*) title="\`$base\`, $(echo "${name#n}" | tr x ,) neurons" ;;
        *) title="\`$name\`" ;;
    esac
    row "$title" "$(losses "$name")" "$(solved "puzzles-$name-$first")" \
        "$(echo "$(speed "$name") $(speed "$base")" | awk '{ printf "%.2f", $1 / $2 }')" "$@"
done
finish
