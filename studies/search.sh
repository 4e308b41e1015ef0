#!/bin/sh
# What each technique of the search gives: docs/studies/search.md.
#
# The engine plays itself with one technique switched off.
#
#   ENGINE the engine          [patzer-uci beside the program]
#   GAMES  games of each match [500; quick: 2]    LIMIT  of each move [--nodes 4000; 50]
#   TECHNIQUES  names, each with the numbers that switch it off: NAME:NUMBER=VALUE[,NUMBER=VALUE...]

. "$(dirname "$0")/common.sh"
study search
default ENGINE "$(dirname "$PATZER")/patzer-uci" "$(dirname "$PATZER")/patzer-uci"
default GAMES 500 2
default LIMIT "--nodes 4000" "--nodes 50 --max-moves 10 --hash 1"
default TECHNIQUES "late-move-reductions:lmr_depth=1000 null-move:null_depth=1000
    histories:bonus_slope=0 threats:threats=0 evaluation-gains:gain_slope=0
    continuation-history:follow=0 capture-history:captures=0 killers:killers=0
    counter-moves:counters=0 correction-history:correct_pawns=0,correct_pieces=0
    late-move-pruning:lmp_depth=0 futility:futility_depth=-1 reverse-futility:rfp_depth=0
    exchange-pruning:see_depth=0 history-pruning:history_depth=0 razoring:razor_depth=0 probcut:probcut_depth=1000
    quiescence-futility:quiescence_margin=10000 quiescence-checks:quiescence_checks=0 improving:improving=0
    singular-extensions:singular_depth=1000 internal-reductions:iir_depth=1000
    aspiration:aspiration_delta=32000" "null-move:null_depth=1000 killers:killers=0"

for technique in $TECHNIQUES; do
    without=${technique%%:*}
    options=$(echo "${technique#*:}" | sed 's/^/option./; s/,/ option./g')
    step "match-$without" match --engine "cmd=$ENGINE args=tunable name=whole" \
        --engine "cmd=$ENGINE args=tunable name=without-$without $options" \
        $LIMIT --games "$GAMES" --seed 1 --resume --pgn "match-$without.pgn"
done

head_row technique "switched off by" "Elo that it gives" "won, drawn, lost"
for technique in $TECHNIQUES; do
    match=match-${technique%%:*}
    row "$(echo "${technique%%:*}" | tr - ' ')" "\`${technique#*:}\`" "$(elo "$match")" \
        "$(value wins "$match"), $(value draws "$match"), $(value losses "$match")"
done
finish
