#!/bin/sh
# What each technique of the search gives: docs/studies/search.md.
#
# The engine plays itself with one technique switched off.
#
#   ENGINE the engine          [patzer-uci beside the program]
#   GAMES  games of each match [500; quick: 2]    LIMIT  of each move [--nodes 4000; 50]
#   TECHNIQUES  [all of techniques.sh]

. "$(dirname "$0")/common.sh"
study search
default ENGINE "$(dirname "$PATZER")/patzer-uci" "$(dirname "$PATZER")/patzer-uci"
default GAMES 500 2
default LIMIT "--nodes 4000" "--nodes 50 --max-moves 10 --hash 1"
. "$root/studies/techniques.sh"

for technique in $TECHNIQUES; do
    without=${technique%%:*}
    options=$(echo "${technique#*:}" | sed 's/^/option./; s/,/ option./g')
    step "match-$without" match --engine "cmd=$ENGINE args=tunable name=whole" \
        --engine "cmd=$ENGINE args=tunable name=without-$without $options" \
        $LIMIT --games "$GAMES" --seed 1 --resume -o "match-$without.pgn"
done

head_row technique "switched off by" "Elo that it gives" "won, drawn, lost"
for technique in $TECHNIQUES; do
    match=match-${technique%%:*}
    row "$(echo "${technique%%:*}" | tr - ' ')" "\`${technique#*:}\`" "$(elo "$match")" \
        "$(value wins "$match"), $(value draws "$match"), $(value losses "$match")"
done
finish
