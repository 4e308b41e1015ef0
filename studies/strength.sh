#!/bin/sh
# Strength: the levels of UCI_Elo against each other and full strength, on the scale of another engine's UCI_Elo:
# docs/studies/strength.md.
#
#   LEVELS  of UCI_Elo, rising [those of docs/studies/strength.md; 2 of them]
#   NODES   limit of a move for all [30000; 1000]    GAMES    of a level and each of the next two [200; 2]
#   ENGINE  [patzer-uci beside the program]          SCALE    the other engine ["stockfish nodes=10000"; ENGINE]
#   FIXED   its levels [1350 2000; 1000]             MEETINGS games of each with each level, and of full strength
#                                                     with the two highest [20; 2]
#   ANCHOR  the one that is as strong as it says [2000; 1000]

. "$(dirname "$0")/common.sh"
study strength
default LEVELS "220 380 750 1140 1430 1750 2130 2580 2900" "800 1200"
default NODES 30000 1000
default GAMES 200 2
default ENGINE "$(dirname "$PATZER")/patzer-uci" "$(dirname "$PATZER")/patzer-uci"
default SCALE "stockfish nodes=10000" "$ENGINE"
default FIXED "1350 2000" 1000
default MEETINGS 20 2
default ANCHOR 2000 1000

# spec PLAYER: a level, `full`, or a level of the other engine, x1350.
spec() {
    limited="option.UCI_LimitStrength=true option.UCI_Elo=${1#x}"
    case $1 in
        full) echo "cmd=$ENGINE name=full" ;;
        x*) echo "cmd=$SCALE name=$1 $limited" ;;
        *) echo "cmd=$ENGINE name=$1 $limited" ;;
    esac
}

# meet A B GAMES
meet() {
    step "match-$1-$2" match --engine "$(spec "$1")" --engine "$(spec "$2")" --nodes "$NODES" --games "$3" \
        --seed 1 --resume -o "match-$1-$2.pgn"
}

two="" one=""
for level in $LEVELS; do
    for lower in $two $one; do meet "$lower" "$level" "$GAMES"; done
    two=$one one=$level
done
for level in $two $one; do meet "$level" full "$MEETINGS"; done
for fixed in $FIXED; do
    for level in $LEVELS; do meet "$level" "x$fixed" "$MEETINGS"; done
done
# Few games may have no finite ratings.
step rate rate match-*.pgn --anchor "x$ANCHOR=$ANCHOR" ${QUICK:+--prior 2}
head_row player Elo "error, 95 %" games
awk -F '[:,]' '/"name"/ { gsub(/[" ]/, "", $2); name = $2 } /"elo"/ { elo = $2 } /"elo_error"/ { error = $2 }
    /"games"/ { games = $2 } /"score"/ { printf "| %s | %.0f | %.0f | %d |\n", name, elo, error, games }' rate.json >> table.md
finish
